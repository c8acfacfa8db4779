"""How well an agent does on given task seeds, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agentworld_gym.domain.task import Split
from agentworld_gym.policies.menu_agent import MenuAgent
from agentworld_gym.policies.playing import Played, play
from agentworld_gym.policies.text_encoder import TextEncoder
from agentworld_gym.statistics.proportions import proportion


class Agent(Protocol):
    """What a model must have: every algorithm of Stable-Baselines3 and sb3-contrib with discrete actions has it."""

    @property
    def predict(self) -> Callable[..., tuple[NDArray[Any], Any]]:
        """A function of a batch of vectors that gives the choices and the next state.

        It takes `deterministic`, and where they are among its parameters `action_masks`, `state` and `episode_start`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """How an agent did on some seeds. Episodes whose world failed tell nothing of it: only `failures` counts them."""

    episodes: tuple[Played, ...]

    @property
    def judged(self) -> list[Played]:
        """The episodes whose success is known."""
        return [episode for episode in self.episodes if episode.success is not None]

    @property
    def successes(self) -> list[float]:
        """1 or 0 for each judged episode."""
        return [float(bool(episode.success)) for episode in self.judged]

    @property
    def success(self) -> float:
        """Share of the judged episodes that succeeded."""
        return _mean(self.successes)

    @property
    def failures(self) -> int:
        """Episodes whose world failed."""
        return sum(episode.failure is not None for episode in self.episodes)

    @property
    def reward(self) -> float:
        """Mean return of the judged episodes."""
        return _mean([episode.reward for episode in self.judged])

    @property
    def steps(self) -> float:
        """Mean length of the judged episodes."""
        return _mean([len(episode.actions) for episode in self.judged])

    def interval(self) -> tuple[float, float]:
        """The 95% interval of `success` (Wilson 1927), which has a width even where all episodes went alike.

        It takes the episodes as independent, so the seeds must give different tasks.
        """
        if not self.judged:
            return float("nan"), float("nan")
        found = proportion([bool(episode.success) for episode in self.judged])
        return found.low, found.high

    def by_family(self) -> dict[str, float]:
        """Success of every family."""
        groups: dict[str, list[float]] = {}
        for episode, success in zip(self.judged, self.successes, strict=True):
            groups.setdefault(episode.task.family, []).append(success)
        return {family: _mean(values) for family, values in sorted(groups.items())}


def evaluate_policy(
    model: Agent,
    env_id: str,
    seeds: Sequence[int],
    *,
    world: str = "auto",
    split: Split = "test",
    encoder: TextEncoder | None = None,
    deterministic: bool = True,
    wave: int = 64,
    on_progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Result:
    """Let an agent play one episode on each seed.

    Args:
        model: any algorithm of Stable-Baselines3 or sb3-contrib that was trained on a menu. One that takes masks
            gets them, a recurrent one keeps a state for each episode, and any other that chooses what is not on offer
            does the next entry that is.
        env_id: as for `gym.make`; with or without `Menu` in it.
        seeds: reset seeds; with equal options they give equal tasks in every world.
        world: who answers.
        split: which tasks; the default are those no training sees.
        encoder: the one the agent was trained with; None takes the usual one, with as many choices as the agent has.
        deterministic: take the best choice instead of drawing one.
        wave: how many episodes run at a time.
        on_progress: called with the number of episodes that have ended.
        options: as for `gym.make`.
    """
    envs: Any = gym.make_vec(env_id, num_envs=1, world=world, split=split, **options)
    runner = envs.unwrapped.runner
    agent = MenuAgent("agent", model, runner.spec, encoder, deterministic)
    try:
        played = sorted(play(runner, agent, seeds, wave=wave, on_progress=on_progress), key=lambda one: one.place)
    finally:
        envs.close()
    return Result(tuple(played))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
