"""Phone tasks of levels 4 and 5: jobs in several apps of one phone, whose orders are notes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.composition import (
    FULL_NAME,
    Absent,
    Job,
    Orders,
    about_strangers,
    composed,
    composing,
    draft_of,
    draft_on,
    families_of,
    instruction_of,
    job_of,
    names_like,
)
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.rehearsal import Faults
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.tasks import FAMILIES
from agentworld_gym.domains.android.tasks.actions import WAIT, app, enter_text, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, words
from agentworld_gym.kit.vocabulary import common_pool

STRANGERS = 16
"""How many jobs nobody asks for."""

DAYS = ("answer_question", "book_slot", "change_settings", "move_event", "order_goods", "pass_on", "set_alarms")
"""The families that read the calendar of the next days; two of them on one phone would contradict each other."""

MISSED = {"pass_on", "return_calls"}
"""The families that write missed calls into the log; one of them wants to know whose call was missed."""

OTHERS = tuple(name for name in FAMILIES if name not in DAYS)
OLD_EVENTS, OLD_THREADS, OTHER_ORDERS = 60, 25, 40
"""How much of the phone's past it holds."""

FAULTS = Faults(
    {"permission-denied": 0.4, "session-expired": 0.3, "slow-loading": 0.15},
    ((WAIT,), (WAIT, WAIT)),
)


def compose(rng: random.Random, level: int, split: Split, lead: str) -> TaskDraft:
    """Compose a task to which a family contributes a job."""
    scene = AndroidScene(rng, 3, split)
    day = lead if lead in DAYS else rng.choice(DAYS)
    # More than four jobs seldom fit on one phone. One of them may be for an order that must not be carried out.
    names = families_of(rng, lead if lead in OTHERS else rng.choice(OTHERS), OTHERS, 3)
    count = 2 if level == 4 else rng.choice((2, 3))
    if {day, *names} >= MISSED:
        raise Unfit("two jobs about missed calls")
    # A family that empties the list of messages comes first.
    drafts = {name: draft_on(FAMILIES[name], scene) for name in (day, *names)}
    barred = [job_of(drafts.pop(name)) for name in names[count:]]
    order = scene.mixed(drafts)
    jobs = [job_of(drafts[name]) for name in order]
    strangers = [job_of(rng.choice(list(FAMILIES.values()))(rng, 3, split)) for _ in range(STRANGERS)]
    orders = Orders(
        "the note with the title 'Order NAME'",
        lambda name: [*_search(name), tap(f"Order {name}")],
        common_pool("people").of(split),
        _search,
    )
    more = names_like(rng, [job.answer for job in jobs], OTHER_ORDERS)
    undone = rng.randint(0, 1) if level == 4 else 1
    task = composed(
        rng, level, jobs, strangers, orders, undone, more,
        barred=barred, absent=_absent(scene, strangers), state=str(scene.state),
    )  # fmt: skip
    for name, text in scene.mixed(task.orders.items()):
        scene.note(f"Order {name}", text)
    _add_past(scene)
    state = scene.state
    return draft_of(
        task,
        instruction_of(task, orders),
        state,
        jobs,
        first_observation=AndroidMachine.start(state, 0).observation,
    )


def _absent(scene: AndroidScene, jobs: Sequence[Job]) -> Absent | None:
    """Return a job about messages of people whom the phone does not know; None where none of those given is one."""
    found = filter(FULL_NAME.match, about_strangers(jobs, str(scene.state)))
    return next((Absent(text, (app("Messages"), app("Contacts"))) for text in found), None)


def _search(name: str) -> list[str]:
    return [app("Notes"), enter_text("Search your notes", f"Order {name}")]


def _add_past(scene: AndroidScene) -> None:
    """Add appointments and conversations of the last months."""
    titles = [*words().appointments, *words().planned]
    for _ in range(OLD_EVENTS):
        past = scene.today - timedelta(days=scene.rng.randint(3, 90))
        scene.event(scene.pick(titles), past, scene.rng.randint(8, 20))
    for number in scene.some(range(1000), OLD_THREADS):
        past = scene.today - timedelta(days=scene.rng.randint(20, 200))
        scene.thread(f"07700 901{number:03}", *scene.pick(words().small_talk), day=past)


COMPOSITION = composing(compose, "android", FAULTS)
"""The composed tasks of a family, by its name."""
