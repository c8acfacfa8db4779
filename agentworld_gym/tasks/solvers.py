"""Experts that read what they see: they ask, look at the answer, and decide what to do next.

A task's `expert` is a fixed sequence of actions that succeeds in an undisturbed world. A solver reads the observations,
so that it can show what a control does: one that was written without the control loses, one that knows it succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentworld_gym.screens.sight import Way, on_screen
from agentworld_gym.task import Task

if TYPE_CHECKING:
    from agentworld_gym.episode import Episode, EpisodeRunner, Transition

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
    found: tuple[ControlCase, ...] = import_module(f"agentworld_gym.tasks.{domain}.controlled").CASES
    return found


def play(runner: EpisodeRunner, solver: Solver, seed: int, options: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """One episode of a solver: whether it succeeded, and all that it was shown. `options` are those of a reset."""
    ((episode, _, _),) = runner.start([seed], options)
    try:
        end = walk(runner, episode, solver(episode.task))
        return end is not None and bool(end.info.get("success", False)), episode.observations[1:]
    finally:
        episode.session.close()


def walk(runner: EpisodeRunner, episode: Episode, way: Way) -> Transition | None:
    """Go a way until the episode ends, and give its last step; None if the way ends first.

    The actions' locators are resolved on what the episode showed last.
    """
    going = on_screen(way, episode.task.domain, episode.observation)
    action = next(going, None)
    while action is not None:
        (step,) = runner.advance([episode], [action])
        if step.terminated or step.truncated:
            return step
        try:
            action = going.send(step.observation)
        except StopIteration:
            return None
    return None
