"""Terminal tasks of levels 4 and 5: jobs in folders of their own, among folders and orders that nobody asks for."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    composed,
    composing,
    draft_of,
    families_of,
    instruction_of,
    job_of,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.domains.terminal.tasks import FAMILIES
from agentworld_gym.domains.terminal.tasks.control_cases import WAIT, unlock
from agentworld_gym.domains.terminal.tasks.scene import HOME, WORKING_FOLDERS
from agentworld_gym.kit.vocabulary import FOLDERS, common_pool

STRANGERS = 50
"""How many folders hold a job that nobody asks for."""

OPEN = "|".join(
    (
        r"(?<=[Mm]ake a folder )(\w+)\b",
        r"(?<=in a folder )(\w+)(?= that you make)",
        r"(?<=append the line )(\w+)\b",
        r"(?<=the single line )(\w+)\b",
        r"(?<=append a setting )(\w+)\b",
        r"(?<=into one archive )([\w.]+)\b",
    )
)
"""What a job can leave open: the names and words that the agent brings into the world."""

FAULTS = Faults(
    {
        "intermittent-errors": 0.15,
        "partial-failure": 0.3,
        "permission-denied": 0.4,
        "slow-service": 0.2,
        "stale-data": 0.5,
        "truncated-output": 0.6,
    },
    ((WAIT,), ("pwd",), ("sync",), ("pwd", "pwd")),
    lambda action, seen: (unlock(action, seen) or [])[:-1],
)


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    base = rng.choice(WORKING_FOLDERS)
    orders = Orders(
        "the file orders/NAME.txt in the folder where you start",
        lambda name: [f"cat '{base}/orders/{name}.txt'"],
        common_pool("people").of(split),
        open=OPEN,
    )
    names = families_of(rng, lead, list(FAMILIES), level)
    folders = _folders(rng, split)
    jobs = [_placed(rng, split, name, base, next(folders)) for name in names]
    strangers = [_placed(rng, split, rng.choice(list(FAMILIES)), base, next(folders)) for _ in range(STRANGERS)]
    nowhere = next(folders)
    absent = Absent(_placed(rng, split, rng.choice(list(FAMILIES)), base, nowhere).text, (f"ls -d {base}/{nowhere}",))
    files = {path: text for job in (*jobs, *strangers) for path, text in job.draft.state["files"].items()}
    undone = rng.randint(0, 1) if level == 4 else rng.randint(1, 2)
    task = composed(rng, level, jobs, strangers, orders, undone, absent=absent, state=str(files))
    files |= {f"{base}/orders/{name}.txt": f"{text}\n" for name, text in task.orders.items()}
    state = {"user": "dev", "host": "box", "home": HOME, "cwd": base, "files": dict(sorted(files.items())), "dirs": []}
    instruction = instruction_of(task, orders)
    return draft_of(task, instruction, state, jobs)


COMPOSITION = composing(compose, "terminal", FAULTS)
"""The composed tasks of a family, by its name."""


def _folders(rng: random.Random, split: Split) -> Iterator[str]:
    """Yield names of folders in random order, each once."""
    names = [f"{folder}-{number}" for folder in FOLDERS.of(split) for number in range(10, 100)]
    rng.shuffle(names)
    yield from names


def _placed(rng: random.Random, split: Split, name: str, base: str, folder: str) -> Job:
    """Draft a job of a family and place it in a folder of its own."""
    draft = FAMILIES[name](rng, 3, split)
    place, target = f"{draft.state['cwd']}/", f"{base}/{folder}/"
    moved = replace(
        draft,
        instruction=f"In the folder {folder}: {draft.instruction}",
        state={"files": {path.replace(place, target, 1): text for path, text in draft.state["files"].items()}},
        success=tuple(check.model_copy(update={"probe": (f"cd {folder}", *check.probes)}) for check in draft.success),
        expert=(f"cd {base}/{folder}", *draft.expert),
        distractors=tuple(re.sub(r"^ls$", f"ls {base}/{folder}", action) for action in draft.distractors),
        free_values=tuple(path.replace(place, target, 1) for path in draft.free_values),
    )
    return job_of(moved)
