"""The environment of several agents in one world who act in rounds, as PettingZoo's Parallel API defines it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.integrations.pettingzoo.team_env import RENDER_MODES, ParallelEnv, TeamEnv


class AgentWorldParallelEnv(TeamEnv, ParallelEnv[str, str, str]):  # type: ignore[misc,unused-ignore]
    """Agents that share one session and one task, and act in rounds.

    In every round each agent acts once, in the order of `possible_agents`, and sees what its own action showed; it sees
    what the others did in the state that they share, and in the messages of a team with a channel. An agent whose
    action the world did not answer (a message, a `finish`, a failure, or a round that was over before its turn) sees
    again what it saw last. A round is one step: step limits count rounds, and a whole round costs what a step of a
    single agent costs. The first `finish` ends the episode for all agents, and a failure of the world truncates it for
    all. Without a team all agents have the same rights, and all are paid the sum of the rewards.

    Args:
        num_agents: The number of agents with equal rights; None is two, or as many as the team has roles.
        team: The name of a team that comes with the package, or the path of a YAML file.
        render_mode: The mode of `render`: `ansi` (the episode so far as text), `human` (the same, written to standard
            output) or None.
        options: The options of `gym.make`, with `spec` (a domain's name, the id of its environment, or a path) where no
            team names it.

    Raises:
        SpecError: A team, a spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldParallelEnv(2, spec="terminal", world="scripted")
    >>> observations, infos = env.reset(seed=7)
    >>> observations, rewards, terminations, truncations, infos = env.step({"agent_0": "ls", "agent_1": "pwd"})
    >>> observations
    {'agent_0': '[1] ls', 'agent_1': '[2] pwd'}
    >>> env.close()
    """

    metadata = {  # noqa: RUF012
        "name": "agentworld_parallel_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 4,
    }

    def __init__(
        self, num_agents: int | None = None, team: str | None = None, render_mode: str | None = None, **options: Any
    ) -> None:
        self._open(num_agents, team, render_mode, options)

    def observation_space(self, agent: str) -> UnicodeText:
        """Return the observation space of an agent, which is the same object each time."""
        return self._texts[agent]

    def action_space(self, agent: str) -> UnicodeText:
        """Return the action space of an agent, which is the same object each time."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin an episode; every agent sees its own instruction and the start of the same world.

        Args:
            seed: The seed of the task, the initial state and the world's requests.
            options: The options of `AgentWorldEnv.reset`. Others, which PettingZoo's tests pass, are left out.

        Returns:
            The first observation and the `info` of each agent.

        Raises:
            ClosedError: The environment is closed.
            SpecError: An option does not fit.
        """
        shared = self._begin(seed, options)
        observations = {agent: shared.observation(agent) for agent in self.agents}
        return observations, {agent: shared.first_info(agent) for agent in self.agents}

    def step(
        self, actions: dict[str, str]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one round: the actions are applied in the order of the agents, and each is paid for all of them.

        A message that is written in a round is in the observation after it. `info["messages"]` holds the same messages
        as data.

        Args:
            actions: The text of each agent, by its name.

        Returns:
            The observations, the rewards, who terminated, who was truncated, and the `info`s, each by agent.

        Raises:
            ClosedError: There is no episode.
            SpecError: An agent has no action or one that is no string, or there is no such agent; nothing has been
                done then.
        """
        if self._shared is None or not self.agents:
            raise ClosedError("there is no episode; call reset()")
        self._must_be_actions(actions)
        shared, acted = self._shared, list(self.agents)
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in acted}
        rewards = dict.fromkeys(acted, 0.0)
        terminated, truncated = False, False
        for agent in acted:
            shared.mark_read(agent)
        for agent in acted:
            turn = shared.act(agent, actions[agent])
            infos[agent] = turn.info
            rewards = {other: rewards[other] + turn.rewards[other] for other in acted}
            terminated, truncated = turn.terminated, turn.truncated
            if terminated or truncated:
                self.agents = []
                break
        return (
            {agent: shared.observation(agent) for agent in acted},
            rewards,
            dict.fromkeys(acted, terminated),
            dict.fromkeys(acted, truncated),
            {agent: {**infos[agent], **shared.told_messages(agent)} for agent in acted},
        )

    def fork(self) -> AgentWorldParallelEnv:
        """Return an exact copy of this environment in the middle of its episode; both share the world.

        Raises:
            ClosedError: There is no episode.
        """
        return self._fork()

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
