"""The environment of several agents in one world, as PettingZoo defines it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from agentworld_gym.domain.spec import DomainSpec
from agentworld_gym.domain.task import Task
from agentworld_gym.env import MAX_SEED, text_spaces, transcript
from agentworld_gym.episodes.episode import Episode
from agentworld_gym.episodes.step import Transition
from agentworld_gym.errors import ClosedError, GeneratorError, SpecError, install
from agentworld_gym.options import EnvOptions
from agentworld_gym.spaces import UnicodeText
from agentworld_gym.tasks.source import RESET_OPTIONS

try:
    from gymnasium.utils import seeding
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise GeneratorError(f"several agents need PettingZoo: {install('multiagent')}") from error


class AgentWorldParallelEnv(ParallelEnv[str, str, str]):  # type: ignore[misc,unused-ignore]
    """Agents that share one session, one task and one reward.

    In every round each agent acts once, in the order of `possible_agents`, and sees what its own action showed; it sees
    what the others did only in the state that they share. An agent whose action the world did not answer (a `finish`,
    a failure, or a round that was over before its turn) sees again what it saw last. A round is one step: step limits
    count rounds, and a whole round costs what a step of a single agent costs. The first `finish` ends the episode for
    all agents, and a failure of the world truncates it for all.

    Args:
        num_agents: The number of agents.
        render_mode: The mode of `render`: `ansi` or None.
        options: The options of `gym.make`, with `spec` (a domain's name, the id of its environment, or a path).

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldParallelEnv(2, spec="terminal", world="scripted")
    >>> observations, infos = env.reset(seed=7)
    >>> observations, rewards, terminations, truncations, infos = env.step({"agent_0": "ls", "agent_1": "pwd"})
    >>> observations
    {'agent_0': '[1] ls', 'agent_1': '[2] pwd'}
    >>> env.close()
    """

    metadata = {"name": "agentworld_v0", "render_modes": ["ansi"], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, num_agents: int = 2, render_mode: str | None = None, **options: Any) -> None:
        if type(num_agents) is not int or num_agents < 1:
            raise SpecError("options", "num_agents", num_agents, "an integer of at least 1")
        self.render_mode = render_mode
        self.runner = EnvOptions.of(type(self).__name__, options).runner()
        self.possible_agents = [f"agent_{number}" for number in range(num_agents)]
        self.agents: list[str] = []
        spaces = {agent: text_spaces(self.runner.spec) for agent in self.possible_agents}
        self.action_spaces = {agent: pair[0] for agent, pair in spaces.items()}
        for space in self.action_spaces.values():
            space.offer(lambda: () if self._episode is None else self.runner.offers(self._episode))
        self.observation_spaces = {agent: pair[1] for agent, pair in spaces.items()}
        self._random, _ = seeding.np_random()
        self._episode: Episode | None = None
        self._seen: dict[str, str] = {}
        self._confirming: set[str] = set()
        self._closed = False

    @property
    def domain(self) -> DomainSpec:
        """The domain's spec."""
        return self.runner.spec

    @property
    def task(self) -> Task:
        """The current task.

        Raises:
            ClosedError: There is no episode.
        """
        if self._episode is None:
            raise ClosedError("there is no episode; call reset()")
        return self._episode.task

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The name, description and JSON Schema of each tool that every agent can call in this episode."""
        return self.runner.tools(self.task)

    def observation_space(self, agent: str) -> UnicodeText:
        """Return the observation space of an agent, which is the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> UnicodeText:
        """Return the action space of an agent, which is the same object each time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin an episode; every agent sees the same first observation.

        Args:
            seed: The seed of the task, the initial state and the world's requests.
            options: The options of `AgentWorldEnv.reset`. Others, which PettingZoo's tests pass, are left out.

        Returns:
            The first observation and the `info` of each agent.

        Raises:
            ClosedError: The environment is closed.
            SpecError: An option does not fit.
        """
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        episode_seed = int(self._random.integers(MAX_SEED)) if seed is None else seed
        reset_options = {key: value for key, value in (options or {}).items() if key in RESET_OPTIONS}
        [(episode, observation, info)] = self.runner.start([episode_seed], reset_options, len(self.possible_agents))
        if self._episode is not None:
            self._episode.session.close()
        self._episode = episode
        self.agents = list(self.possible_agents)
        self._seen = {agent: observation for agent in self.agents}
        self._confirming = set()
        return {**self._seen}, {agent: deepcopy({**info}) for agent in self.agents}

    def step(
        self, actions: dict[str, str]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one round: the actions are applied in the order of the agents, and all share the sum of the rewards.

        Args:
            actions: The text of each agent, by its name.

        Returns:
            The observations, the rewards, who terminated, who was truncated, and the `info`s, each by agent.

        Raises:
            ClosedError: There is no episode.
            SpecError: An agent has no action or one that is no string, or there is no such agent; nothing has been
                done then.
        """
        if self._episode is None or not self.agents:
            raise ClosedError("there is no episode; call reset()")
        self._must_be_actions(actions)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        reward, terminated, truncated = 0.0, False, False
        for agent in self.agents:
            result = self._act(self._episode, agent, actions[agent])
            reward += result.reward
            terminated, truncated = result.terminated, result.truncated
            infos[agent] = {**result.info}
            if terminated or truncated:
                break
        acted = list(self.agents)
        if terminated or truncated:
            self.agents = []
        return (
            {**self._seen},
            {agent: reward for agent in acted},
            {agent: terminated for agent in acted},
            {agent: truncated for agent in acted},
            infos,
        )

    def _act(self, episode: Episode, agent: str, action: str) -> Transition:
        """Play one agent's turn, with what this agent was shown and whether it was asked to confirm."""
        episode.confirming = agent in self._confirming
        [result] = self.runner.advance([episode], [action])
        if result.answered:
            self._seen[agent] = result.observation
        if episode.confirming:
            self._confirming.add(agent)
        else:
            self._confirming.discard(agent)
        return result

    def _must_be_actions(self, actions: Any) -> None:
        names = ", ".join(self.agents)
        if not isinstance(actions, Mapping):
            raise SpecError("step", "actions", actions, f"a string for each of {names}")
        for agent, action in actions.items():
            if agent not in self.agents:
                raise SpecError("step", f"actions.{agent}", action, f"one of {names}")
        for agent in self.agents:
            if not isinstance(actions.get(agent), str):
                raise SpecError("step", f"actions.{agent}", actions.get(agent), "a string")

    def render(self) -> str | None:
        """Return the episode so far as text, if the render mode is `ansi`."""
        return transcript(self._episode) if self.render_mode == "ansi" and self._episode else None

    def close(self) -> None:
        """Free the episode and the world. A second call does nothing."""
        if not self._closed:
            self._closed = True
            if self._episode is not None:
                self._episode.session.close()
            self.runner.close()
