"""Policies that need no learning: the expert, doing nothing, random choices from the menu, and mixtures of them.

They serve data collection, baselines and tests. Each is a generator that yields actions and is sent observations. It
yields no more actions than the step limit of the task allows, and writes them as the task does. In a graphical domain
`screens.sight.on_screen` resolves their locators, and tells the policy which element is not on the screen.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import NotOnScreen
from agentworld_gym.core.screens.sight import ActionStream

if TYPE_CHECKING:
    pass


def expert_policy(task: Task) -> ActionStream:
    """Take the expert's actions up to `finish`; stop if one is not possible on the screen."""
    # `yield from` would send what the action showed to the tuple.
    for action in task.expert:  # noqa: UP028
        yield action


def nothing_policy() -> ActionStream:
    """Finish at once."""
    yield "finish"


def menu_policy(task: Task, rng: random.Random) -> ActionStream:
    """Take random entries of the menu that are on the screen, up to one that finishes or the step limit."""
    for _ in range(_limit(task)):
        action = yield from _possible(task.menu, rng)
        if action is None or finishes(action):
            return


def mixed_policy(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Take the expert's actions, but before each step err with a probability and then go on as planned.

    An error is a random entry of the menu that does not finish. A step of the expert that is not possible on the screen
    to which the errors led is left out.

    Args:
        task: The task.
        rng: The random numbers of the policy.
        slip: The probability of an error.

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
    """Take one of the actions that are on the screen, each as likely as the others; return it, or None if there is
    none."""
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
