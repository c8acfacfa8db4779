"""Experts that read what they see: they ask, look at the answer, and decide what to do next.

A task's `expert` is a fixed sequence of actions that succeeds in an undisturbed world. A solver reads the observations,
so that it can show what a control does: one that was written without the control loses, one that knows it succeeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from agentworld_gym.domain.task import Task
from agentworld_gym.screens.sight import Way

Solver = Callable[[Task], Way]
"""Yields actions, the last one a `finish`, and is sent the observation of each. It sees of a task what an agent sees:
instruction, tools and menu; the first `yield` comes before any observation but the first one, which the task's domain
shows at the start. In a graphical domain its actions may hold locators, which are resolved on the screen shown last;
where an element is not there, `screens.NotOnScreen` is raised at the `yield`."""


@dataclass(frozen=True, slots=True)
class ControlCase:
    """One control shown on one family of tasks: who loses under it, and who does not.

    `naive` succeeds on the family without the control and was written without it; `aware` knows the control.
    """

    control: str
    strength: float
    family: str
    level: int
    naive: Solver
    aware: Solver


def control_cases(domain: str) -> tuple[ControlCase, ...]:
    """At least one case for every control of a domain's spec that has a grounded world.

    Raises:
        ModuleNotFoundError: the domain has none.
    """
    found: tuple[ControlCase, ...] = import_module(f"agentworld_gym.tasks.{domain}.control_cases").CASES
    return found
