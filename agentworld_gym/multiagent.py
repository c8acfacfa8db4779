"""Several agents in one world, as PettingZoo knows it."""

from __future__ import annotations

from typing import Any

from agentworld_gym.env import MAX_SEED, env_options, text_spaces, transcript
from agentworld_gym.episode import Episode
from agentworld_gym.errors import ClosedError, GeneratorError, SpecError, install
from agentworld_gym.spaces import UnicodeText
from agentworld_gym.tasksource import RESET_OPTIONS

try:
    from gymnasium.utils import seeding
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise GeneratorError(f"several agents need PettingZoo: {install('multiagent')}") from error


class AgentWorldParallelEnv(ParallelEnv[str, str, str]):  # type: ignore[misc,unused-ignore]
    """Agents that share one session, one task and one reward.

    In every round each agent acts once, in the order of `possible_agents`, and sees what its own action showed; what
    the others did is visible in the state they share. The first `finish` ends the episode for all. A failure of the
    world truncates it for all.

    Args:
        num_agents: how many.
        options: as for `gym.make`, with `spec` (a domain's name or a path).

    >>> env = AgentWorldParallelEnv(2, spec="terminal", world="scripted")
    >>> observations, infos = env.reset(seed=7)
    >>> observations, rewards, terminations, truncations, infos = env.step({"agent_0": "ls", "agent_1": "pwd"})
    >>> observations
    {'agent_0': '[1] ls', 'agent_1': '[2] pwd'}
    >>> env.close()
    """

    metadata = {"name": "agentworld_v0", "render_modes": ["ansi"], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, num_agents: int = 2, render_mode: str | None = None, **options: Any) -> None:
        if num_agents < 1:
            raise SpecError("options", "num_agents", num_agents, "an integer of at least 1")
        self.render_mode = render_mode
        self.runner = env_options(options).runner()
        self.possible_agents = [f"agent_{number}" for number in range(num_agents)]
        self.agents: list[str] = []
        spaces = {agent: text_spaces(self.runner.spec) for agent in self.possible_agents}
        self.action_spaces = {agent: pair[0] for agent, pair in spaces.items()}
        self.observation_spaces = {agent: pair[1] for agent, pair in spaces.items()}
        self._random, _ = seeding.np_random()
        self._episode: Episode | None = None
        self._closed = False

    def observation_space(self, agent: str) -> UnicodeText:
        """The same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> UnicodeText:
        """The same object each time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin an episode; every agent sees the same first observation.

        Of `options` those of `AgentWorldEnv.reset` count; PettingZoo's tests pass others, which are left out.
        """
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        chosen = int(self._random.integers(MAX_SEED)) if seed is None else seed
        known = {key: value for key, value in (options or {}).items() if key in RESET_OPTIONS}
        [(episode, observation, info)] = self.runner.start([chosen], known)
        if self._episode is not None:
            self._episode.session.close()
        self._episode = episode
        self.agents = list(self.possible_agents)
        return {agent: observation for agent in self.agents}, {agent: {**info} for agent in self.agents}

    def step(
        self, actions: dict[str, str]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One round: the actions are applied in the order of the agents; all share the sum of the rewards."""
        if self._episode is None or not self.agents:
            raise ClosedError("there is no episode; call reset()")
        observations: dict[str, str] = {}
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        reward, terminated, truncated = 0.0, False, False
        for agent in self.agents:
            if not (terminated or truncated):
                [result] = self.runner.advance([self._episode], [actions[agent]])
                reward += result.reward
                terminated, truncated = result.terminated, result.truncated
                infos[agent] = {**result.info}
            observations[agent] = self._episode.observation
        acted = list(self.agents)
        if terminated or truncated:
            self.agents = []
        return (
            observations,
            {agent: reward for agent in acted},
            {agent: terminated for agent in acted},
            {agent: truncated for agent in acted},
            infos,
        )

    def render(self) -> str | None:
        """The episode so far, as text."""
        return transcript(self._episode) if self.render_mode == "ansi" and self._episode else None

    def close(self) -> None:
        """Free the episode and the world; more than once is fine."""
        if not self._closed:
            self._closed = True
            if self._episode is not None:
                self._episode.session.close()
            self.runner.close()
