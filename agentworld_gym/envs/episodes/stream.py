"""Steps under way in many episodes, each of which ends as the answers to it come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentworld_gym.base.errors import UnderWayError
from agentworld_gym.core.contracts import Action, Failure
from agentworld_gym.core.flow import Flow, Work
from agentworld_gym.envs.episodes.episode import Episode, Info, no_tokens
from agentworld_gym.envs.episodes.log_rows import turn_of
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import EpisodeStep, Transition

Acting = Work[str | Action | Failure]
"""An agent that is waited for: it ends with an action, or with a failure of whoever runs the agent."""


class EpisodeStream:
    """Takes one step at a time in each of many episodes, none of which waits for another.

    Parsing, the world's answer, probes, judges and the reward of one episode never hold up the others. Steps are logged
    in the order in which they are handed out.

    Args:
        runner: The runner of the episodes.
    """

    def __init__(self, runner: EpisodeRunner) -> None:
        self._runner = runner
        self._flow: Flow[tuple[EpisodeStep | None, Transition]] = Flow()
        self._under_way: dict[str, Episode] = {}

    @property
    def under_way(self) -> tuple[Episode, ...]:
        """The episodes whose step was sent and has not been handed out."""
        return tuple(self._under_way.values())

    def send(self, episodes: Sequence[Episode], actions: Sequence[str | Action | Acting]) -> None:
        """Begin a step in each of some episodes.

        Where an action is a piece of work, the step begins when it ends. If it ends with a failure, there is no step:
        the episode is truncated, and its info holds the `agent_failure`.

        Raises:
            UnderWayError: A step of an episode is under way already, or an episode is given twice; nothing is begun.
        """
        names = [episode.id for episode in episodes]
        for place, name in enumerate(names):
            if name in self._under_way or name in names[:place]:
                raise UnderWayError(f"episode {name} has a step under way; recv() it before another is sent")
        for episode in episodes:
            self._under_way[episode.id] = episode
            episode.under_way = True
        works = [self._stepping(*one) for one in zip(episodes, actions, strict=True)]
        self._flow.send(zip(names, works, strict=True))

    def recv(self, min_ready: int = 1) -> list[tuple[Episode, Transition]]:
        """Return the steps that have ended, in the order of their ends.

        An interrupt leaves every step under way; the next call waits for them again. In a replay the recorded
        order decides which steps are waited for, and in which order they are returned.

        Args:
            min_ready: The number of steps to wait for; where fewer are under way, all of them.

        Raises:
            TraceError: A log, or the order in a recording, cannot be written.
        """
        order = self._runner.order
        due = None if order is None else order.due(self._under_way, min_ready)
        ended = self._flow.recv(min_ready) if due is None else self._flow.recv_of(due)
        if order is not None:
            steps = [(name, turn_of(step)) for name, (step, _) in ended if step is not None]
            order.handed_out(steps, len(self._under_way))
        self._runner.log([(step, transition) for _, (step, transition) in ended if step is not None])
        return [(self._over(name), transition) for name, (_, transition) in ended]

    def drop(self, episodes: Iterable[Episode]) -> None:
        """Abandon the steps of some episodes; whoever drops a step closes its episode."""
        names = [episode.id for episode in episodes if episode.id in self._under_way]
        self._flow.drop(names)
        for name in names:
            self._over(name)

    def close(self) -> None:
        """Abandon all steps under way, and cancel their requests. A second call does nothing."""
        self._flow.close()
        for name in list(self._under_way):
            self._over(name)

    def _stepping(self, episode: Episode, action: str | Action | Acting) -> Work[tuple[EpisodeStep | None, Transition]]:
        if not isinstance(action, str | Action):
            acted = yield from action
            if isinstance(acted, Failure):
                info = Info(steps=episode.steps, tokens=no_tokens(), agent_failure=acted.as_dict())
                return None, Transition(episode.observation, 0.0, False, True, info, answered=False)
            action = acted
        return (yield from self._runner.stepping(episode, action))

    def _over(self, name: str) -> Episode:
        episode = self._under_way.pop(name)
        episode.under_way = False
        return episode
