"""Tool tasks of levels 4 and 5: jobs on several servers, one a server, whose orders lie in the mailbox of one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.composition import (
    Absent,
    Job,
    Orders,
    composed,
    composing,
    draft_of,
    instruction_of,
    job_of,
    names_like,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.mcp.tasks import FAMILIES
from agentworld_gym.domains.mcp.tasks.office import receive
from agentworld_gym.domains.mcp.tasks.scene import ToolFamily, ToolScene
from agentworld_gym.kit.vocabulary import common_pool

STRANGERS = 16
"""How many jobs nobody asks for."""

OTHER_ORDERS = 60
"""How many further orders of theirs lie in the mailbox."""

FULL = ("answer_mail", "cancel_duplicate", "decide_leave", "handle_return", "order_goods", "pay_bill")
"""The families whose tasks fit into databases of hundreds of rows; the others need one that holds little else."""

SEEKS = {
    "answer_mail": ("search_messages", "query"),
    "cancel_duplicate": ("find_customer", "query"),
    "duplicate_charge": ("search_transactions", "query"),
    "fill_position": ("find_employees", "query"),
    "handle_return": ("find_customer", "query"),
}
"""The families whose tasks begin with the name of somebody whom nobody can add, with the tool and the argument that
seek a name."""

SUBJECT = re.compile(r"On the server \w+: (?:Customer )?([A-Z]\w+(?: [A-Z]\w+)+)\b")
MAILBOX = "office"
"""The scenario whose mailbox holds the orders."""

SENDER = "orders@brightwell.example"
HARMLESS = {
    "bank": "list_accounts",
    "hr": "list_departments",
    "office": "list_folders",
    "shop": "list_categories",
    "tracker": "list_projects",
}
"""A tool of each server that only reads."""


def _asked_of(action: str) -> str:
    """Return a call that asks the server of an action for something, so that its next call is another one."""
    server = str(json.loads(action)["name"]).partition("-")[0]
    return json.dumps({"name": f"{server}-{HARMLESS[server]}", "arguments": {}})


FAULTS = Faults(
    {
        "incomplete-results": 0.5,
        "intermittent-errors": 0.15,
        "pagination": 1.0,
        "stale-data": 0.5,
    },
    (),
    lambda action, seen: [_asked_of(action)] if '"status": "error"' in seen else [],
)


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    scenarios: dict[str, list[str]] = {}
    for name, one in FAMILIES.items():
        assert isinstance(one, ToolFamily)
        scenarios.setdefault(one.scenario, []).append(name)
    own = next(scenario for scenario, names in scenarios.items() if lead in names)
    others = [scenario for scenario in scenarios if scenario not in (own, MAILBOX)]
    wanted = {own, MAILBOX, *rng.sample(others, 1 if level == 4 and own != MAILBOX else 2 if level == 4 else 3)}
    left = [scenario for scenario in scenarios if scenario not in wanted] or sorted(wanted - {own, MAILBOX})
    idle = rng.choice(left)
    wanted |= {idle}
    names = [lead if scenario == own else rng.choice(scenarios[scenario]) for scenario in sorted(wanted)]
    rng.shuffle(names)
    scenes = {name: _scene(rng, split, name) for name in names}
    jobs = [job for scene, job in scenes.values() if scene.scenario != idle]
    barred = [job for scene, job in scenes.values() if scene.scenario == idle]
    strangers = [_told(FAMILIES[name](rng, 3, split), name) for name in rng.choices(list(FAMILIES), k=STRANGERS)]
    undone = rng.randint(0, 1) if level == 4 else 1
    there = str([scene.state() for scene, _ in scenes.values()])
    absent = _absent(rng, split, scenes, there)
    mail = next(scene for scene, _ in scenes.values() if scene.scenario == MAILBOX)
    letters: dict[str, int] = {}
    orders = Orders(
        "the message with the subject 'Order NAME' in your mailbox on the server office",
        lambda name: [_search(mail, name), f"@{name}"],
        common_pool("people").of(split),
        lambda name: [_search(mail, name)],
    )
    more = names_like(rng, [job.answer for job in jobs], OTHER_ORDERS)
    more += rng.sample(list(orders.people), min(len(orders.people), OTHER_ORDERS - len(more)))
    task = composed(rng, level, jobs, strangers, orders, undone, more, barred=barred, absent=absent, state=there)
    for name, text in scene_mixed(rng, task.orders):
        minute = rng.randrange(60)
        letters[name] = receive(mail, SENDER, f"2026-05-{rng.randint(11, 17)}T{rng.randint(8, 17):02}:{minute:02}:00",
                                f"Order {name}", text)  # fmt: skip
    task.expert = [
        mail.call("get_message", message_id=letters[step[1:]]) if step.startswith("@") else step for step in task.expert
    ]
    servers = [scene.state() for scene, _ in scenes.values()]
    return draft_of(
        task,
        instruction_of(task, orders),
        {"servers": servers},
        jobs,
        first_observation="\n".join(str(job.draft.first_observation) for _, job in scenes.values()),
        tools=tuple(tool for _, job in scenes.values() for tool in job.draft.tools),
    )


def scene_mixed(rng: random.Random, orders: dict[str, str]) -> list[tuple[str, str]]:
    """Return orders in random order."""
    entries = list(orders.items())
    rng.shuffle(entries)
    return entries


def _absent(rng: random.Random, split: Split, scenes: Mapping[str, tuple[ToolScene, Job]], there: str) -> Absent | None:
    """Return a job about somebody whom no server knows; None where none was drawn."""
    servers = {scene.scenario: scene for scene, _ in scenes.values()}
    for name in rng.sample(sorted(SEEKS), len(SEEKS)):
        family = FAMILIES[name]
        assert isinstance(family, ToolFamily)
        if (scene := servers.get(family.scenario)) is None:
            continue
        job = _told(family(rng, 3, split), name)
        if (who := SUBJECT.match(job.text)) and who[1] not in there:
            tool, key = SEEKS[name]
            return Absent(job.text, (scene.call(tool, **{key: who[1]}),))
    return None


def _search(mail: ToolScene, name: str) -> str:
    return mail.call("search_messages", query=f"Order {name}", sender=SENDER)


def _scene(rng: random.Random, split: Split, name: str) -> tuple[ToolScene, Job]:
    """Draw the database of a family's scenario, with the job."""
    family = FAMILIES[name]
    assert isinstance(family, ToolFamily)
    for _ in range(1000):
        try:
            scene = ToolScene(family.scenario, rng, 3, split, "full" if name in FULL else "small")
        except SpecError:
            continue  # Rarely the rows of many people break a rule of their own tables.
        try:
            return scene, _told(family.build(scene, 3), name)
        except Unfit:
            continue
    raise Unfit(f"no database fits {name}")


def _told(draft: TaskDraft, name: str) -> Job:
    """Return a task as a job that says on which server it is."""
    family = FAMILIES[name]
    assert isinstance(family, ToolFamily)
    job = job_of(draft)
    return job._replace(text=f"On the server {family.scenario}: {job.text}")


COMPOSITION = composing(compose, "mcp", FAULTS)
"""The composed tasks of a family, by its name."""
