"""The environment of a director who chooses the controls, and of the solvers who play under them (AEC)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.utils import seeding

from agentworld_gym.agents.teams.director import DIRECTOR, load_director
from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.source import RESET_OPTIONS
from agentworld_gym.envs.env import MAX_SEED, text_spaces
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.envs.pictures import transcript
from agentworld_gym.integrations.pettingzoo.team_env import RENDER_MODES, AECEnv
from agentworld_gym.llm.prompting.agent_prompt import ONE_ACTION, role_of_agent


class AgentWorldDirectorEnv(AECEnv[str, dict[str, str], str]):  # type: ignore[misc,unused-ignore]
    """A director chooses the controls of an episode under a budget; then the solvers play it, one after the other.

    The first action is the director's: a JSON object of strengths by the names of controls. A choice that cannot be
    read, that is not on offer or that exceeds the budget puts no control in force, and `info["action_error"]` says why.
    Each solver then plays the same task from the same seed under these controls, and is paid like a single agent. The
    director is paid each solver's reward times the weight in its file. A failure of the world truncates the episode for
    all, and that step pays nobody. An observation is `{"text": …}`.

    Args:
        director: The name of a director that comes with the package, or the path of a YAML file.
        render_mode: The mode of `render`: `ansi` (the episode of the present solver as text), `human` or None.
        options: The options of `gym.make`; the file of the director has some of its own.

    Raises:
        SpecError: The director or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldDirectorEnv("faulty-shop")
    >>> env.reset(seed=0)
    >>> env.agent_selection
    'director'
    >>> env.step('{"pagination": 0.5}')
    >>> env.agent_selection, env.task.controls
    ('solver', {'pagination': 0.5})
    >>> env.close()
    """

    metadata = {  # noqa: RUF012
        "name": "agentworld_director_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(self, director: str, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise SpecError("options", "render_mode", render_mode, f"{', '.join(RENDER_MODES)} or None")
        self.render_mode = render_mode
        self.director = load_director(director)
        if "spec" in options and load_spec(str(options["spec"])).id != self.director.domain:
            raise SpecError("options", "spec", options["spec"], f"{self.director.domain}, the domain of the director")
        made = {"spec": self.director.domain, **self.director.options, **options}
        if made.get("controls"):
            raise SpecError("options", "controls", made["controls"], "None: the director chooses the controls")
        self.runner = EnvOptions.of(type(self).__name__, made).runner()
        self.possible_agents = [DIRECTOR, *self.director.solvers]
        self.agents: list[str] = []
        self._random, _ = seeding.np_random()
        self._episode: Episode | None = None
        self._closed = False
        self._users = [1]
        self._make_spaces()

    def _make_spaces(self) -> None:
        texts: dict[str, UnicodeText] = {}
        self._actions: dict[str, UnicodeText] = {}
        for agent in self.possible_agents:
            self._actions[agent], texts[agent] = text_spaces(self.runner.spec)
            offers: Callable[[], tuple[str, ...]] = self.director.offers if agent == DIRECTOR else self._offers
            self._actions[agent].offer(offers)
        self._texts = {agent: gym.spaces.Dict({"text": space}) for agent, space in texts.items()}

    def _offers(self) -> tuple[str, ...]:
        return () if self._episode is None else self.runner.offers(self._episode)

    @property
    def domain(self) -> DomainSpec:
        """The domain's spec."""
        return self.runner.spec

    @property
    def reading(self) -> Reading:
        """How actions are read."""
        return self.runner.reading

    @property
    def task(self) -> Task:
        """The current task, with the controls that the director chose.

        Raises:
            ClosedError: There is no episode.
        """
        if not self.agents and self._episode is None:
            raise ClosedError("there is no episode; call reset()")
        return self._task

    @property
    def episode(self) -> Episode:
        """The episode of the solver whose turn it is, for any agent of `agents.policies.registry`.

        Raises:
            ClosedError: No solver plays yet.
        """
        if self._episode is None:
            raise ClosedError("no solver plays yet; the director is to choose")
        return self._episode

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The name, description and JSON Schema of each tool that a solver can call in this episode."""
        return self.runner.tools(self.task)

    def prompt(self, agent: str) -> str:
        """Return the system message of a language model that plays an agent in this episode.

        A solver reads what a single agent reads. What a director may choose stands in its observation.

        Raises:
            ClosedError: There is no episode.
        """
        return ONE_ACTION if agent == DIRECTOR else role_of_agent(self.runner.spec, self.tools, reading=self.reading)

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """Return the observation space of an agent, which is the same object each time."""
        return self._texts[agent]

    def action_space(self, agent: str) -> UnicodeText:
        """Return the action space of an agent, which is the same object each time."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Pick a task; the director is to choose its controls.

        Args:
            seed: The seed of the task, the initial state and the world's requests.
            options: The options of `AgentWorldEnv.reset` but `controls`. Others, which PettingZoo's tests pass, are
                left out.

        Raises:
            ClosedError: The environment is closed.
            SpecError: An option does not fit.
        """
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        if options and options.get("controls"):
            raise SpecError("options", "controls", options["controls"], "None: the director chooses the controls")
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self._seed = int(self._random.integers(MAX_SEED)) if seed is None else seed
        self._reset_options = {key: value for key, value in (options or {}).items() if key in RESET_OPTIONS}
        self._task = self.runner.source.pick(self._seed, self._reset_options)
        self._drop_episode()
        self.agents = list(self.possible_agents)
        self._seen = dict.fromkeys(self.agents, "")
        self._seen[DIRECTOR] = self.director.describe_task(self.runner.spec, self._task.instruction)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.infos[DIRECTOR] = {"task_id": self._task.id, "budget": self.director.budget}
        self.agent_selection = DIRECTOR
        self._skip_agent_selection = None

    def observe(self, agent: str) -> dict[str, str]:
        """Return what an agent saw last; a solver whose turn has not come sees an empty text."""
        return {"text": self._seen[agent]}

    def step(self, action: str | None) -> None:
        """Let the director choose, or do one action of the solver whose turn it is.

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
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if agent == DIRECTOR:
            self._choose(action)
        else:
            self._solve(agent, action)
        self._accumulate_rewards()
        self._deads_step_first()

    def _choose(self, action: str) -> None:
        """Put the director's choice in force, and begin the episode of the first solver."""
        chosen: dict[str, float] = {}
        info: dict[str, Any] = {"task_id": self._task.id, "budget": self.director.budget}
        try:
            chosen = self.director.read(action, self.runner.spec)
        except UnreadableAction as problem:
            info["action_error"] = str(problem)
        info["controls"] = chosen
        self.infos = {**self.infos, DIRECTOR: info}
        self.rewards[DIRECTOR] = 0.0 - self.director.spending * self.director.cost(chosen)
        self._reset_options = {**self._reset_options, "controls": chosen}
        self._begin(next(iter(self.director.solvers)))

    def _begin(self, solver: str) -> None:
        self._drop_episode()
        [(self._episode, observation, info)] = self.runner.start([self._seed], self._reset_options)
        self._task = self._episode.task
        self._seen = {**self._seen, solver: observation}
        self.infos = {**self.infos, solver: dict(info)}
        self.agent_selection = solver

    def _solve(self, solver: str, action: str) -> None:
        """Do one action of a solver; where its episode ends, the next solver begins, or all is over."""
        assert self._episode is not None
        [result] = self.runner.advance([self._episode], [action])
        self._seen = {**self._seen, solver: result.observation}
        self.infos = {**self.infos, solver: dict(result.info)}
        self.rewards[solver] = result.reward
        self.rewards[DIRECTOR] = self.director.solvers[solver] * result.reward
        if "failure" in result.info:
            self.truncations = dict.fromkeys(self.agents, True)
        elif result.terminated or result.truncated:
            self.terminations = {**self.terminations, solver: result.terminated}
            self.truncations = {**self.truncations, solver: result.truncated}
            self._go_on(solver)

    def _go_on(self, solver: str) -> None:
        names = list(self.director.solvers)
        following = names[names.index(solver) + 1 :]
        if following:
            self._begin(following[0])
        else:
            self.terminations = {**self.terminations, DIRECTOR: True}

    def fork(self) -> AgentWorldDirectorEnv:
        """Return an exact copy of this environment in the middle of its episode; both share the world.

        Raises:
            ClosedError: There is no episode.
        """
        if not self.agents:
            raise ClosedError("there is no episode; call reset()")
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.agents = list(self.agents)
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            setattr(twin, name, dict(getattr(self, name)))
        twin._episode = None if self._episode is None else self.runner.fork(self._episode)
        twin._random = type(self._random)(type(self._random.bit_generator)())
        twin._random.bit_generator.state = self._random.bit_generator.state
        twin._make_spaces()
        self._users[0] += 1
        return twin

    def render(self) -> str | None:
        """Return the choice and the present episode as text (`ansi`), or write it to standard output (`human`)."""
        if self.render_mode is None:
            return None
        text = "no controls yet" if self._episode is None else f"{self._task.controls}\n{transcript(self._episode)}"
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(text + "\n")
        return None

    def close(self) -> None:
        """Free the episode, and the world once no fork uses it. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._drop_episode()
        self._users[0] -= 1
        if not self._users[0]:
            self.runner.close()

    def _drop_episode(self) -> None:
        if self._episode is not None:
            self._episode.session.close()
            self._episode = None
