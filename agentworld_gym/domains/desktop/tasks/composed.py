"""Desktop tasks of levels 4 and 5: jobs in folders of their own, whose orders are text files."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentworld_gym.core.domain.task import Check, Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    composed,
    composing,
    draft_of,
    instruction_of,
    job_of,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.tasks import FAMILIES
from agentworld_gym.domains.desktop.tasks.actions import CLOSE, click, double, icon
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, HOME
from agentworld_gym.domains.desktop.tasks.vocabulary import FOLDERS, PEOPLE, STEMS, TOWNS
from agentworld_gym.kit.vocabulary import common_pool

STRANGERS, OLD_FILES = 14, 200
"""How many folders hold a job that nobody asks for, and how many old files lie beside them."""

SETTINGS = ("change_settings", "settings_by_note")
"""The families that change settings; two of them might want different things of one panel."""

NOT_IN_A_FOLDER = ("change_settings", "restore_document", "shop_prices")
"""The families that are about more than the documents of a folder."""

PROGRAMS = {"files": "'nautilus'", "terminal": "'gnome-terminal'", "editor": "'gedit'"}
FAULTS = Faults(
    {"permission-denied": 0.1, "reordered-menu": 0.5, "slow-loading": 0.15}, (("time.sleep(2)",), ("time.sleep(5)",))
)


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    names = [lead]
    for name in rng.sample(list(FAMILIES), len(FAMILIES)):
        if name not in names and not (name in SETTINGS and set(SETTINGS) & set(names)):
            names.append(name)
    names = rng.sample(names[: 3 if level == 4 else 4], 3 if level == 4 else 4)
    numbers = rng.sample(range(10, 100), len(names) + STRANGERS + 1)
    folders = [f"{rng.choice(FOLDERS.of(split))}-{number}" for number in numbers]
    jobs = [_placed(rng, split, name, folder) for name, folder in zip(names, folders, strict=False)]
    strangers = [_placed(rng, split, rng.choice(list(FAMILIES)), folder) for folder in folders[len(names) : -1]]
    others = [name for name in FAMILIES if name not in NOT_IN_A_FOLDER]
    absent = Absent(_placed(rng, split, rng.choice(others), folders[-1]).text, (_popen("'nautilus'", DOCUMENTS), CLOSE))
    orders = Orders(
        "the file NAME.txt in the folder Orders of the home folder",
        lambda name: [_popen("'gedit'", f"{HOME}/Orders/{name}.txt"), CLOSE],
        common_pool("people").of(split),
        lambda name: [_popen("'nautilus'", f"{HOME}/Orders"), CLOSE],
    )
    files = {path: text for job in (*strangers, *jobs) for path, text in job.draft.state["files"].items()}
    undone = rng.randint(0, 1) if level == 4 else 1
    task = composed(rng, level, jobs, strangers, orders, undone, absent=absent, state=str(files))
    files |= {f"{HOME}/Orders/{name}.txt": f"{text}\n" for name, text in task.orders.items()}
    files |= _old(rng, split)
    state: dict[str, Any] = {
        "clock": jobs[0].draft.state["clock"],
        "files": dict(sorted(files.items())),
        "folders": sorted({folder for job in (*strangers, *jobs) for folder in job.draft.state["folders"]}),
        "settings": {key: value for job in jobs for key, value in job.draft.state["settings"].items()},
        "open": jobs[0].draft.state["open"],
    }
    if sites := {name: site for job in jobs for name, site in job.draft.state.get("sites", {}).items()}:
        state["sites"] = sites
    return draft_of(
        task,
        instruction_of(task, orders),
        state,
        jobs,
        first_observation=DesktopMachine.start(state, 0).observation,
    )


def _placed(rng: random.Random, split: Split, name: str, folder: str) -> Job:
    """Draft a job of a family and place its documents in a folder of their own."""
    draft = FAMILIES[name](rng, 3, split)
    place = f"{DOCUMENTS}/{folder}"

    def moved(text: str) -> str:
        return text.replace(DOCUMENTS, place)

    expert = [step for action in draft.expert for step in _led(moved(action), folder)]
    state = draft.state
    opened = [{**window, "arguments": [moved(text) for text in window["arguments"]]} for window in state["open"]]
    starts = [_popen(PROGRAMS[window["program"]], *window["arguments"]) for window in opened]
    text = draft.instruction.replace(" and answer with it", "")
    uses = any(path.startswith(DOCUMENTS) for path in state["files"])
    placed = replace(
        draft,
        instruction=f"The folder Documents/{folder} is the Documents of this job. {text}" if uses else text,
        state={
            **state,
            "files": {moved(path): text for path, text in state["files"].items()},
            "folders": [*map(moved, state["folders"]), *([place] if uses else [])],
            "open": opened,
        },
        success=tuple(_with_probe(check, moved) for check in draft.success if check.answer is None),
        expert=tuple([*starts, *expert]),
        answer=None,
        distractors=tuple(map(moved, draft.distractors)),
    )
    return job_of(placed)


def _led(action: str, folder: str) -> list[str]:
    """Return an action; the click that shows the documents leads on to the folder of the job."""
    return [action, double(icon(folder))] if action == click("list-item 'Documents'") else [action]


def _with_probe(check: Check, moved: Callable[[str], str]) -> Check:
    probe = check.probe
    return check.model_copy(
        update={"probe": moved(probe) if isinstance(probe, str) else tuple(map(moved, probe or ()))}
    )


def _popen(program: str, *arguments: str) -> str:
    """Return the code that starts a program."""
    words = ", ".join([program, *map(repr, arguments)])
    return f"subprocess.Popen([{words}])\ntime.sleep(3)"


def _old(rng: random.Random, split: Split) -> dict[str, str]:
    """Return old letters, which no job is about."""
    stems, people, towns = STEMS.of(split), PEOPLE.of(split), TOWNS.of(split)
    return {
        f"{HOME}/Archive/{rng.randint(2018, 2025)}/{rng.choice(stems)}-{number}.txt": f"{rng.choice(people)} was in "
        f"{rng.choice(towns)} and wrote to {rng.choice(people)} about the {rng.choice(stems)}.\n"
        for number in range(OLD_FILES)
    }


COMPOSITION = composing(compose, "desktop", FAULTS)
"""The composed tasks of a family, by its name."""
