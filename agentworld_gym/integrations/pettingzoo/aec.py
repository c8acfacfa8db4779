"""The environment of several agents in one world who act one after the other, as PettingZoo's AEC API defines it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.integrations.pettingzoo.team_env import RENDER_MODES, AECEnv, TeamEnv


class AgentWorldAECEnv(TeamEnv, AECEnv[str, dict[str, str], str]):  # type: ignore[misc,unused-ignore]
    """Agents that share one session and one task, and take turns.

    It is `AgentWorldParallelEnv` but for the turns: an agent reads a message before its very next action, also in the
    round in which it was written. An observation is `{"text": …}`, because PettingZoo's tests of this API take no bare
    texts.

    Args:
        num_agents: The number of agents with equal rights; None is two, or as many as the team has roles.
        team: The name of a team that comes with the package, or the path of a YAML file.
        render_mode: The mode of `render`: `ansi` (the episode so far as text), `human` (the same, written to standard
            output) or None.
        options: The options of `gym.make`, with `spec` where no team names it.

    Raises:
        SpecError: A team, a spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldAECEnv(team="author-and-reviewer", world="scripted")
    >>> env.reset(seed=7)
    >>> env.step("message: I am done.")
    >>> env.agent_selection, env.observe("reviewer")["text"].splitlines()[0]
    ('reviewer', '[author] I am done.')
    >>> env.close()
    """

    metadata = {  # noqa: RUF012
        "name": "agentworld_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 4,
    }

    def __init__(
        self, num_agents: int | None = None, team: str | None = None, render_mode: str | None = None, **options: Any
    ) -> None:
        super().__init__()
        self._open(num_agents, team, render_mode, options)

    def _make_spaces(self) -> None:
        super()._make_spaces()
        self._dicts = {agent: gym.spaces.Dict({"text": space}) for agent, space in self._texts.items()}

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """Return the observation space of an agent, which is the same object each time."""
        return self._dicts[agent]

    def action_space(self, agent: str) -> UnicodeText:
        """Return the action space of an agent, which is the same object each time."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; every agent sees its own instruction and the start of the same world.

        Args:
            seed: The seed of the task, the initial state and the world's requests.
            options: The options of `AgentWorldEnv.reset`. Others, which PettingZoo's tests pass, are left out.

        Raises:
            ClosedError: The environment is closed.
            SpecError: An option does not fit.
        """
        shared = self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: shared.first_info(agent) for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> dict[str, str]:
        """Return what an agent sees: the messages to it since its last action, and what it was shown last."""
        return {"text": self.shared.observation(agent)}

    def step(self, action: str | None) -> None:
        """Do one action of the agent whose turn it is.

        Args:
            action: The text that the agent wrote; None of an agent whose episode is over, which takes it out.

        Raises:
            ClosedError: There is no episode.
            SpecError: The action is no text; nothing has been done then.
        """
        if not self.agents:
            raise ClosedError("there is no episode; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not isinstance(action, str):
            raise SpecError("step", f"the action of {agent}", action, "a string")
        shared = self.shared
        shared.mark_read(agent)
        turn = shared.act(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(turn.rewards)
        self.terminations = dict.fromkeys(self.agents, turn.terminated)
        self.truncations = dict.fromkeys(self.agents, turn.truncated)
        self.infos = {**self.infos, agent: turn.info}
        self.infos = {
            other: {**{key: value for key, value in info.items() if key != "messages"}, **shared.told_messages(other)}
            for other, info in self.infos.items()
        }
        self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        self._accumulate_rewards()

    def fork(self) -> AgentWorldAECEnv:
        """Return an exact copy of this environment in the middle of its episode; both share the world.

        Raises:
            ClosedError: There is no episode.
        """
        twin = self._fork()
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            setattr(twin, name, dict(getattr(self, name)))
        return twin
