"""What the Parallel and the AEC environment of a team have in common: the team, its spaces and its episode."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Self

from agentworld_gym.agents.teams.shared_episode import SharedEpisode, begin_shared
from agentworld_gym.agents.teams.team import Team, load_team, of_equals
from agentworld_gym.base.errors import ClosedError, GeneratorError, SpecError, install
from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.source import RESET_OPTIONS
from agentworld_gym.envs.env import MAX_SEED, text_spaces
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.prompting.agent_prompt import role_of_agent

try:
    from gymnasium.utils import seeding
    from pettingzoo.utils.env import AECEnv, ParallelEnv
except ImportError as error:
    raise GeneratorError(f"several agents need PettingZoo: {install('multiagent')}") from error

__all__ = ["RENDER_MODES", "AECEnv", "ParallelEnv", "TeamEnv", "episode_transcript"]

RENDER_MODES = ("ansi", "human")


class TeamEnv:
    """The team, its world and its episode; the environments of PettingZoo are built on it."""

    possible_agents: list[str]
    agents: list[str]

    def _open(self, num_agents: int | None, team: str | None, render_mode: str | None, options: dict[str, Any]) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise SpecError("options", "render_mode", render_mode, f"{', '.join(RENDER_MODES)} or None")
        self.render_mode = render_mode
        self.team, options = _chosen(num_agents, team, options)
        self.runner = EnvOptions.of(type(self).__name__, options).runner()
        self.possible_agents = list(self.team.roles)
        self.agents = []
        self._random, _ = seeding.np_random()
        self._shared: SharedEpisode | None = None
        self._closed = False
        self._users = [1]
        self._make_spaces()

    def _make_spaces(self) -> None:
        self._actions: dict[str, UnicodeText] = {}
        self._texts: dict[str, UnicodeText] = {}
        for name in self.possible_agents:
            self._actions[name], self._texts[name] = text_spaces(self.runner.spec)
            self._actions[name].offer(partial(self._offers, name))

    def _offers(self, name: str) -> tuple[str, ...]:
        return () if self._shared is None else self._shared.offers(name)

    @property
    def domain(self) -> DomainSpec:
        """The domain's spec."""
        return self.runner.spec

    @property
    def reading(self) -> Reading:
        """How actions are read."""
        return self.runner.reading

    @property
    def shared(self) -> SharedEpisode:
        """The current episode with all that is known of each role.

        Raises:
            ClosedError: There is no episode.
        """
        if self._shared is None:
            raise ClosedError("there is no episode; call reset()")
        return self._shared

    @property
    def task(self) -> Task:
        """The current task.

        Raises:
            ClosedError: There is no episode.
        """
        return self.shared.episode.task

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The name, description and JSON Schema of each tool that some agent can call in this episode."""
        return self.runner.tools(self.task)

    def prompt(self, agent: str) -> str:
        """Return the system message of a language model that plays a role in this episode.

        It says what the domain is, how to write an action, which tools the role has, how to write to the others, and
        how to finish where the role may. What the role is asked to do stands in its first observation.

        Raises:
            ClosedError: There is no episode.
        """
        role, others = self.team.roles[agent], ", ".join(self.team.colleagues(agent))
        tools = self.shared.tools[agent]
        told = role_of_agent(self.runner.spec, tools, finishes=role.finishes, reading=self.runner.reading)
        how = (
            "To write to all of them, write: message: TEXT\nTo write to one of them, write: message NAME: TEXT\n"
            "To do nothing until one of them has written, write: wait"
        )
        return f"{told}\nYou work with {others}. {how}" if others else told

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> SharedEpisode:
        """Begin an episode; options that PettingZoo's tests pass, and that are not this package's, are left out."""
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        episode_seed = int(self._random.integers(MAX_SEED)) if seed is None else seed
        known = {key: value for key, value in (options or {}).items() if key in RESET_OPTIONS}
        shared = begin_shared(self.runner, self.team, episode_seed, known)
        if self._shared is not None:
            self._shared.episode.session.close()
        self._shared = shared
        self.agents = list(self.possible_agents)
        return shared

    def _fork(self) -> Self:
        """Return a copy of the environment whose episode goes its own way; both share the world."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._shared = self.shared.fork()
        twin.agents = list(self.agents)
        twin._random = type(self._random)(type(self._random.bit_generator)())
        twin._random.bit_generator.state = self._random.bit_generator.state
        twin._make_spaces()
        self._users[0] += 1
        return twin

    def render(self) -> str | None:
        """Return the episode so far as text (`ansi`), or write it to standard output (`human`)."""
        if self.render_mode is None or self._shared is None:
            return None
        text = episode_transcript(self._shared)
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(text + "\n")
        return None

    def close(self) -> None:
        """Free the episode, and the world once no fork uses it. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._shared is not None:
            self._shared.episode.session.close()
        self._users[0] -= 1
        if not self._users[0]:
            self.runner.close()


def episode_transcript(shared: SharedEpisode) -> str:
    """Return an episode as a person reads it: each action under the name of its agent."""
    episode = shared.episode
    lines = [episode.observations[0]]
    for action, observation in zip(episode.taken, episode.observations[1:], strict=True):
        lines.append(f"{action.agent}> {action.raw}")
        lines += [observation] if action.asks_world or action.kind is ActionKind.ASK else []
    return "\n".join(lines)


def _chosen(num_agents: int | None, name: str | None, options: dict[str, Any]) -> tuple[Team, dict[str, Any]]:
    """Return the team and the options of its environment."""
    if name is None:
        number = 2 if num_agents is None else num_agents
        if type(number) is not int or number < 1:
            raise SpecError("options", "num_agents", number, "an integer of at least 1")
        if "spec" not in options:
            raise SpecError("options", "spec", None, "the name of a domain, or a `team`")
        return of_equals(load_spec(str(options["spec"])).id, number), options
    if num_agents is not None:
        raise SpecError("options", "num_agents", num_agents, f"None: team {name} has its own roles")
    team = load_team(name)
    if "spec" in options and load_spec(str(options["spec"])).id != team.domain:
        raise SpecError("options", "spec", options["spec"], f"{team.domain}, the domain of team {team.id}")
    return team, {"spec": team.domain, **team.options, **options}
