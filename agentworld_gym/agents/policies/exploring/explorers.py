"""Exploring a task, alone or beside another agent."""

from __future__ import annotations

import random
from collections.abc import Callable

from agentworld_gym.agents.policies.exploring.base import Explorer
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import all_domains, find_domain
from agentworld_gym.core.screens import NotOnScreen
from agentworld_gym.core.screens.sight import ActionStream


def explorer_names() -> tuple[str, ...]:
    """Return the domains that have an explorer; the terminal has policies of its own instead.

    >>> explorer_names()[:2]
    ('mcp', 'search')
    """
    return tuple(name for name, domain in all_domains().items() if domain.explorer is not None)


def explorer(task: Task, rng: random.Random) -> Explorer:
    """Return an explorer of a task.

    Raises:
        SpecError: the domain has no explorer.
    """
    domain = find_domain(task.domain)
    if domain is None or domain.explorer is None:
        raise SpecError(task.id, "domain", task.domain, f"one of {', '.join(explorer_names())}")
    made: Explorer = domain.part("explorer")(task, rng)
    return made


def explore(task: Task, rng: random.Random, n: int) -> ActionStream:
    """Try `n` actions in a task; equal random numbers and equal observations give equal actions.

    >>> from agentworld_gym.core.tasks import generate
    >>> task = generate("mcp", "handle_return", 1, 0)
    >>> actions = explore(task, random.Random(0), 3)
    >>> action = next(actions)
    >>> action == next(explore(task, random.Random(0), 3)), action.startswith('{"name": "shop-')
    (True, True)

    Raises:
        SpecError: the domain has no explorer.
    """
    exploring = explorer(task, rng)
    for _ in range(n):
        yield from _try(exploring)


def explore_beside(actions: ActionStream, task: Task, rng: random.Random, n: int) -> ActionStream:
    """Follow another agent, with at most `n` explored actions before, between and after its own (see `beside`).

    Raises:
        SpecError: the domain has no explorer.
    """
    exploring = explorer(task, rng)
    share = rng.choice((0.15, 0.3, 0.5))
    left = n

    def explored() -> ActionStream:
        nonlocal left
        while left and rng.random() < share:
            left -= 1
            yield from _try(exploring)

    def last() -> ActionStream:
        for _ in range(min(left, rng.randint(0, 4))):
            yield from _try(exploring)

    yield from beside(actions, exploring, explored, last)


def beside(
    actions: ActionStream, exploring: Explorer, before: Callable[[], ActionStream], last: Callable[[], ActionStream]
) -> ActionStream:
    """Follow another agent, with actions of an explorer before each of its own and after the last one.

    The other agent has to pass over what it cannot do on the screen that exploring led to. If it finishes, it does so
    after all explored actions.

    Args:
        actions: The other agent.
        exploring: The explorer, which sees what the other agent sees.
        before: Returns what the explorer does before an action of the other agent.
        last: Returns what the explorer does in the end.
    """
    finish = None
    action = next(actions, None)
    while action is not None:
        if finishes(action):
            finish = action
            break
        yield from before()
        try:
            try:
                observation = yield action
            except NotOnScreen as error:
                action = actions.throw(error)
            else:
                exploring.see(action, observation)
                action = actions.send(observation)
        except (StopIteration, NotOnScreen):
            break
    actions.close()
    yield from last()
    if finish is not None:
        yield finish


def _try(exploring: Explorer) -> ActionStream:
    """Take the first of an explorer's choices that is possible."""
    for action in exploring.choices():
        try:
            observation = yield action
        except NotOnScreen:
            continue
        exploring.see(action, observation)
        return
