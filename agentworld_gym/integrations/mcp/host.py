"""Plays the episodes of any number of clients in one world."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.core.contracts import Action
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.integrations.mcp.tool_episode import Answer, ToolEpisode


@dataclass(frozen=True, eq=False)
class _Call:
    """A call that waits for its turn; without a name, the agent has left."""

    episode: ToolEpisode
    name: str | None
    arguments: Mapping[str, Any]
    answer: Future[Answer] = field(default_factory=Future)

    def action(self) -> str | Action | None:
        return self.episode.leaving() if self.name is None else self.episode.action(self.name, self.arguments)


class EpisodeHost:
    """Plays the episodes of any number of clients in one world, on one thread.

    Calls that wait at the same time are one wave, so that a language world is asked for all of them at once. The calls
    of one episode keep their order.

    Args:
        runner: The runner of the episodes; the host does not close it.
        first_seed: The seed of the first episode; the others count up. A client that leaves without a call of a tool
            leaves its seed to the next one, because programs also connect to list tools.

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> runner = EnvOptions(spec="terminal", world="scripted").runner()
    >>> with EpisodeHost(runner) as host:
    ...     one, other = host.begin().result(), host.begin().result()
    ...     calls = [host.call(one, "act", {"action": "ls"}), host.call(other, "act", {"action": "pwd"})]
    ...     [call.result().texts for call in calls], other.episode.seed
    ([('[1] ls',), ('[1] pwd',)], 1)
    >>> runner.close()
    """

    def __init__(self, runner: EpisodeRunner, first_seed: int = 0) -> None:
        self.runner = runner
        self._seeds = itertools.count(first_seed)
        self._left: list[int] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agentworld-episodes")
        self._waiting: deque[_Call] = deque()

    def __enter__(self) -> EpisodeHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> Future[ToolEpisode]:
        """Begin the next episode. Its `Future` raises AgentWorldError where a task does not fit or the world fails."""
        return self._thread.submit(self._begun)

    def _begun(self) -> ToolEpisode:
        return ToolEpisode(self.runner, heapq.heappop(self._left) if self._left else next(self._seeds))

    def call(self, episode: ToolEpisode, name: str, arguments: Mapping[str, Any]) -> Future[Answer]:
        """Call a tool in an episode. Where its `Future` is cancelled before its turn, nothing is done."""
        return self._queued(_Call(episode, name, arguments))

    def leave(self, episode: ToolEpisode) -> Future[Answer]:
        """Score an episode whose agent has left, and free it."""
        return self._queued(_Call(episode, None, {}))

    def _queued(self, call: _Call) -> Future[Answer]:
        self._waiting.append(call)
        self._thread.submit(self._wave)
        return call.answer

    def _wave(self) -> None:
        """Answer the first call that waits of each episode; each further one has a wave of its own to come."""
        wave: dict[ToolEpisode, _Call] = {}
        later: list[_Call] = []
        while self._waiting:
            call = self._waiting.popleft()
            if call.episode in wave:
                later.append(call)
            elif call.answer.set_running_or_notify_cancel():
                wave[call.episode] = call
        self._waiting.extendleft(reversed(later))
        calls = list(wave.values())
        try:
            answers = self._answers(calls)
        except Exception as error:
            for call in calls:
                call.answer.set_exception(error)
            return
        for call, answer in zip(calls, answers, strict=True):
            call.answer.set_result(answer)

    def _answers(self, calls: Sequence[_Call]) -> list[Answer]:
        answers: dict[_Call, Answer] = {}
        asked: list[tuple[_Call, str | Action]] = []
        for call in calls:
            if call.name is not None and call.episode.over:
                answers[call] = call.episode.too_late()
            elif (action := call.action()) is None:
                answers[call] = call.episode.shown()
            else:
                asked.append((call, action))
        steps = self.runner.advance([call.episode.episode for call, _ in asked], [action for _, action in asked])
        for (call, _), step in zip(asked, steps, strict=True):
            answers[call] = call.episode.answer(step)
        for call in calls:
            if call.name is None:
                call.episode.episode.session.close()
                if not call.episode.called:
                    heapq.heappush(self._left, call.episode.episode.seed)
        return [answers[call] for call in calls]

    def close(self) -> None:
        """Wait until every call has its answer. A second call does nothing."""
        self._thread.shutdown()
