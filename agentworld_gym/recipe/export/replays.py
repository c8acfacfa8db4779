"""Grounded worlds that play recorded sessions again."""

from __future__ import annotations

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.recipe.export.agent_session import AgentSession
from agentworld_gym.worlds.options import WorldOptions
from agentworld_gym.worlds.registry import open_world


class Replays:
    """The runners of grounded worlds, by domain, dialect and variant of the engine.

    Args:
        max_steps: The step limit of every episode; None takes that of the task.
    """

    def __init__(self, max_steps: int | None = None) -> None:
        self._max_steps = max_steps
        self._runners: dict[tuple[str, str], EpisodeRunner] = {}

    def begin(self, session: AgentSession, task: Task) -> tuple[EpisodeRunner, Episode]:
        """Begin the task of a session in the grounded world.

        Raises:
            WorldNotConfigured: The domain has no grounded world, or the variant of its engine cannot run here.
        """
        key = session.spec.source, session.variant
        runner = self._runners.get(key)
        if runner is None:
            world = open_world(":".join(filter(None, ("grounded", session.variant))), WorldOptions(session.spec))
            runner = EpisodeRunner(session.spec, world, TaskSource(session.spec), max_steps=self._max_steps)
            self._runners[key] = runner
        ((episode, _, _),) = runner.start([task.seed or 0], {"task": task})
        return runner, episode

    def close(self) -> None:
        """Close the worlds."""
        for runner in self._runners.values():
            runner.close()
