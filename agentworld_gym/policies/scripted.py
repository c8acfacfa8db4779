"""Ways through a task that need no learning: for data collection, baselines and tests.

No policy yields more actions than the step limit of the task allows. Actions are yielded as the task writes them; in a
graphical domain `screens.sight.on_screen` resolves their locators and tells a policy what is not on the screen.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from agentworld_gym.actions.finish import finishes
from agentworld_gym.domain.task import Task
from agentworld_gym.screens import NotOnScreen
from agentworld_gym.screens.sight import Way

if TYPE_CHECKING:
    pass


def expert_policy(task: Task) -> Way:
    """The expert's actions, up to `finish`; where one is not possible on the screen, it stops."""
    # Not `yield from`: it would send the tuple what the action showed.
    for action in task.expert:  # noqa: UP028
        yield action


def nothing_policy() -> Way:
    """Finish at once."""
    yield "finish"


def menu_policy(task: Task, rng: random.Random) -> Way:
    """Random entries of the menu that are on the screen, up to one that finishes or the step limit."""
    for _ in range(_limit(task)):
        action = yield from _possible(task.menu, rng)
        if action is None or finishes(action):
            return


def mixed_policy(task: Task, rng: random.Random, slip: float) -> Way:
    """The expert, who before each step errs with probability `slip`, and then goes on as planned.

    An error is a random entry of the menu that does not finish. Where a step is not possible on the screen that the
    errors led to, it is left out.

    >>> task = Task(id="t", domain="d", instruction="i", success=[{"answer": {"equals": "x"}}],
    ...             menu=("a", "b", "finish"), expert=("a", "finish"))
    >>> list(mixed_policy(task, random.Random(0), 0.0))
    ['a', 'finish']
    """
    mistakes = [action for action in task.menu if not finishes(action)]
    left = _limit(task)
    for action in task.expert:
        while left and mistakes and rng.random() < slip:
            left -= (yield from _possible(mistakes, rng)) is not None
        if not left:
            return
        try:
            yield action
            left -= 1
        except NotOnScreen:
            continue


def _possible(actions: Sequence[str], rng: random.Random) -> Generator[str, str, str | None]:
    """Do one of some actions, each that is on the screen as likely as the others; None if none is."""
    choices = list(actions)
    while choices:
        action = rng.choice(choices)
        try:
            yield action
        except NotOnScreen:
            choices = [other for other in choices if other != action]
        else:
            return action
    return None


def _limit(task: Task) -> int:
    return task.max_steps or 2 * len(task.expert) + 2
