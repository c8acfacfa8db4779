"""The success of an agent on some task seeds, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agentworld_gym.agents.policies.menu_agent import MenuAgent
from agentworld_gym.agents.policies.playing import Played, play
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.core.domain.task import Split
from agentworld_gym.envs.text_encoder import TextEncoder


class PredictingModel(Protocol):
    """A model with a `predict`, as every algorithm of Stable-Baselines3 and sb3-contrib with discrete actions is."""

    @property
    def predict(self) -> Callable[..., tuple[NDArray[Any], Any]]:
        """The function that returns the choices and the next state for a batch of vectors.

        It is passed `deterministic`, and `action_masks`, `state` and `episode_start` if these are parameters of it.
        """
        ...


@dataclass(frozen=True, slots=True)
class PolicyEvaluation:
    """The episodes of an agent on some seeds. Those whose world failed count only as `failures`."""

    episodes: tuple[Played, ...]
    """All episodes, in the order of the seeds."""

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
        """The share of the judged episodes that succeeded."""
        return _mean(self.successes)

    @property
    def failures(self) -> int:
        """The number of episodes whose world failed."""
        return sum(episode.failure is not None for episode in self.episodes)

    @property
    def reward(self) -> float:
        """The mean return of the judged episodes."""
        return _mean([episode.reward for episode in self.judged])

    @property
    def steps(self) -> float:
        """The mean number of steps of the judged episodes."""
        return _mean([len(episode.actions) for episode in self.judged])

    def interval(self) -> tuple[float, float]:
        """Return the 95% interval of `success` (Wilson 1927), which has a width even where all episodes ended alike.

        The interval is valid for independent episodes, so that the seeds must give different tasks.
        """
        if not self.judged:
            return float("nan"), float("nan")
        share = proportion([bool(episode.success) for episode in self.judged])
        return share.low, share.high

    def by_family(self) -> dict[str, float]:
        """Return the success of every family."""
        groups: dict[str, list[float]] = {}
        for episode, success in zip(self.judged, self.successes, strict=True):
            groups.setdefault(episode.task.family, []).append(success)
        return {family: _mean(values) for family, values in sorted(groups.items())}


def evaluate_policy(
    model: PredictingModel,
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
) -> PolicyEvaluation:
    """Let an agent play one episode on each seed.

    Args:
        model: The agent: any algorithm of Stable-Baselines3 or sb3-contrib that was trained on a menu. One that takes
            masks gets them, a recurrent one keeps a state for each episode, and where any other chooses what is not on
            offer, the next entry on offer is done. One whose environment is a `VecNormalize` sees normalized
            observations; a saved one gets its statistics by `load(path, env=VecNormalize.load(statistics, env))`.
        env_id: The id of the environment, with or without `Menu` in it.
        seeds: The seeds of the episodes; with equal options they give equal tasks in every world.
        world: The world that answers.
        split: The split of the tasks; no training sees those of the default.
        encoder: The encoder that the agent was trained with; None takes the default one, with as many choices as the
            agent has.
        deterministic: Whether the best choice is taken in place of a drawn one.
        wave: The number of episodes that run at a time.
        on_progress: The function that is called with the number of episodes that have ended.
        options: The options of `gym.make`.
    """
    envs: Any = gym.make_vec(env_id, num_envs=1, world=world, split=split, **options)
    runner = envs.unwrapped.runner
    agent = MenuAgent("agent", model, runner.spec, encoder, deterministic)
    try:
        played = sorted(play(runner, agent, seeds, wave=wave, on_progress=on_progress), key=lambda one: one.place)
    finally:
        envs.close()
    return PolicyEvaluation(tuple(played))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
