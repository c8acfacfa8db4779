"""The worlds in which a planner imagines: the one in which it acts, or another one that is kept up with it."""

from __future__ import annotations

from typing import Protocol

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Observation, Teachable
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.worlds.grounded import GroundedSession


class Imagination(Protocol):
    """Gives a planner episodes of which it may play forks."""

    @property
    def runner(self) -> EpisodeRunner:
        """The world in which forks are played. It writes no logs."""
        ...

    def begin(self, episode: Episode) -> Episode:
        """Return the imagined twin of an episode that begins."""
        ...

    def keep_up(self, twin: Episode, episode: Episode) -> None:
        """Bring the twin to where the episode is."""
        ...


class SameWorld:
    """Imagines in the world in which the agent acts: a fork is exact, so what is planned comes true.

    Args:
        runner: The world in which the agent acts.
    """

    def __init__(self, runner: EpisodeRunner) -> None:
        self.runner = _without_logs(runner)

    def begin(self, episode: Episode) -> Episode:
        """Return the episode itself, of which only forks are played."""
        return episode

    def keep_up(self, twin: Episode, episode: Episode) -> None:
        """Do nothing, because the twin is the episode."""


class OtherWorld:
    """Imagines in another world, such as a dream, which receives the actions and observations of the agent.

    Args:
        runner: The world that imagines. Its domain is that of the world in which the agent acts.

    Raises:
        SpecError: The world does not accept true answers.
    """

    def __init__(self, runner: EpisodeRunner) -> None:
        if not isinstance(runner.world, Teachable):
            expected = "a world that can be told what happened, as language worlds can"
            raise SpecError("planning", "world", type(runner.world).__name__, expected)
        self.runner = _without_logs(runner)

    def begin(self, episode: Episode) -> Episode:
        """Begin the same task with the same seed in the other world."""
        [(twin, _, _)] = self.runner.start([episode.seed], {"task": episode.task})
        return twin

    def keep_up(self, twin: Episode, episode: Episode) -> None:
        """Send the other world what happened since the last call.

        A world that predicts structured states gets the one that the agent's grounded world is in, and so has to be
        called after every action.
        """
        session, last = episode.session, len(episode.actions) - 1
        for place in range(len(twin.actions), len(episode.actions)):
            state = session.visible_state if place == last and isinstance(session, GroundedSession) else None
            observed = Observation(episode.observations[place + 1], state=state)
            self.runner.accept(twin, episode.actions[place], observed)


def _without_logs(runner: EpisodeRunner) -> EpisodeRunner:
    return EpisodeRunner(
        runner.spec,
        runner.world,
        runner.source,
        judge=runner.judge,
        user=runner.user,
        max_steps=runner.max_steps,
        reading=runner.reading,
    )
