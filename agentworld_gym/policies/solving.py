"""Solvers at work: one episode of an expert that reads what it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.episodes.episode import Episode
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.episodes.step import Transition
from agentworld_gym.screens.sight import Way, on_screen
from agentworld_gym.tasks.solvers import Solver


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
