"""Proposers: where the actions that a search tries come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentworld_gym.agents.policies.playing import Policy
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner


class Proposer(Protocol):
    """Proposes actions for many imagined episodes at once."""

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the actions to try in each episode, best first where the proposer ranks them."""
        ...


class MenuProposer:
    """Proposes what an episode offers: the entries of its menu that are on the screen, or a call of each tool.

    Args:
        runner: The world and its tasks.
    """

    def __init__(self, runner: EpisodeRunner) -> None:
        self._runner = runner

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the offers of each episode."""
        return [tuple(dict.fromkeys(self._runner.offers(episode))) for episode in episodes]


class PolicyProposer:
    """Proposes what a policy draws: an episode is asked for `draws` times, and equal draws count once.

    A policy that keeps something of an episode begins anew in each imagined one, so it should read the episode's
    history, as a language model does, or be a function of it.

    Args:
        policy: The policy, which should draw its actions and not always take the best one.
        draws: How many actions are drawn for each episode.
    """

    def __init__(self, policy: Policy, draws: int = 4) -> None:
        self._policy, self._draws = policy, draws

    def propose(self, episodes: Sequence[Episode]) -> list[tuple[str, ...]]:
        """Return the different draws for each episode, those that were drawn most often first."""
        drawn: list[dict[str, int]] = [{} for _ in episodes]
        for _ in range(self._draws):
            kept = [self._policy.begin(episode) for episode in episodes]
            for counts, action in zip(drawn, self._policy.act(episodes, kept), strict=True):
                counts[action] = counts.get(action, 0) + 1
        return [tuple(sorted(counts, key=lambda action: -counts[action])) for counts in drawn]
