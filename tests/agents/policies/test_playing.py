"""Policies that play tasks to their end, many at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from agentworld_gym.agents.policies.playing import play
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.stream import EpisodeStream
from agentworld_gym.envs.options import EnvOptions


class Counting:
    """A policy that finishes at once, and counts the episodes that it is asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def begin(self, episode: Episode) -> None:
        """Keep nothing."""

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        self.asked.append(len(episodes))
        return ["finish"] * len(episodes)


def test_a_policy_is_asked_only_where_an_episode_waits_for_it(monkeypatch):
    answers: deque[Any] = deque()
    recv = EpisodeStream.recv

    def one_at_a_time(stream: EpisodeStream, min_ready: int = 1) -> list[Any]:
        if not answers:
            answers.extend(recv(stream, len(stream.under_way)))
        return [answers.popleft()]

    monkeypatch.setattr(EpisodeStream, "recv", one_at_a_time)
    policy = Counting()
    runner = EnvOptions(spec="terminal", world="scripted").runner()
    played = list(play(runner, policy, range(4), wave=3))
    runner.close()
    assert sorted(one.seed for one in played) == [0, 1, 2, 3]
    assert policy.asked == [3, 1]
