"""Cases that show what a control does: one expert that fails under it, and one that knows it and succeeds.

A task's `expert` is a fixed sequence of actions that succeeds in an undisturbed world. The experts here are solvers:
they read each observation and decide what to do next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens.sight import ActionStream

Solver = Callable[[Task], ActionStream]
"""An expert that reads what it sees. It yields actions, the last of which is a `finish`, and is sent the observation
after each of them. Of the task it uses what an agent sees: the instruction, the tools, the menu and the first
observation. In a graphical domain its actions may hold locators, which are resolved on the screen that was shown last;
`screens.NotOnScreen` is raised at the `yield` if an element is not there."""


@dataclass(frozen=True, slots=True)
class ControlCase:
    """One control shown on one family of tasks, with an expert that fails under it and one that does not."""

    control: str
    strength: float
    family: str
    level: int
    naive: Solver
    """The expert that succeeds on the family without the control and was written without it."""
    aware: Solver
    """The expert that knows the control."""


def control_cases(domain: str) -> tuple[ControlCase, ...]:
    """Return the cases of a domain with a grounded world: at least one for every control of its spec.

    There are none for a domain without solvers.
    """
    found = find_domain(domain)
    cases: tuple[ControlCase, ...] | None = None if found is None else found.part("control_cases")
    return cases or ()
