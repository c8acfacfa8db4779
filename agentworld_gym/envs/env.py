"""The environment of one episode at a time, which `gym.make` makes."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.base.spaces import UnicodeText
from agentworld_gym.core.actions.tolerant import Reading
from agentworld_gym.core.contracts import World
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.envs.pictures import Pictures, transcript

MAX_SEED = 2**31
MAX_INSTRUCTION_CHARS = 16384


class WorldSpec:
    """A mixin whose `spec` says that an environment is nondeterministic where its world is."""

    runner: EpisodeRunner
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The registration that makes this environment again."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        sampled = not self.runner.world.deterministic
        if spec is not None and spec.nondeterministic != sampled:
            spec = replace(spec, nondeterministic=sampled)
        self._spec = spec


class AgentWorldEnv(WorldSpec, gym.Env[str, str]):
    """An agent in one of the domains, whose actions and observations are texts.

    The first observation is the task's instruction, a blank line, and what the world shows. The action `finish` (or
    `finish: ANSWER`) ends the episode and has its success tested. `info` holds the keys of
    `agentworld_gym.envs.episodes.episode.Info`.

    Args:
        render_mode: The mode of `render`: `ansi` (the episode so far as text), `human` (the same, written to standard
            output), or `rgb_array` (a picture of the last screen, and in a text domain of the end of the episode; it
            needs the extra `render`).
        options: The options of `agentworld_gym.envs.options.EnvOptions`.

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world; the message says what to pass.

    >>> import gymnasium as gym
    >>> env = gym.make("AgentWorld/Terminal-v0", world="scripted")
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step("ls -la")
    >>> observation, truncated
    ('[1] ls -la', False)
    >>> env.close()
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise SpecError("options", "render_mode", render_mode, "ansi, human, rgb_array or None")
        self.render_mode = render_mode
        self.options = EnvOptions.of("AgentWorldEnv", options)
        self._open(self.options.runner())

    def _open(self, runner: EpisodeRunner) -> None:
        self.runner = runner
        self._episode: Episode | None = None
        self._pictures = Pictures()
        self._make_spaces()
        self._closed = False
        self._shared = [1]

    def _make_spaces(self) -> None:
        actions, self.observation_space = text_spaces(self.runner.spec)
        actions.offer(lambda: () if self._episode is None else self.runner.offers(self._episode))
        self.action_space = actions

    @property
    def world(self) -> World[Any]:
        """The world that answers."""
        return self.runner.world

    @property
    def domain(self) -> DomainSpec:
        """The domain's spec."""
        return self.runner.spec

    @property
    def reading(self) -> Reading:
        """How actions are read."""
        return self.runner.reading

    @property
    def episode(self) -> Episode:
        """The current episode.

        Raises:
            ClosedError: The environment is closed.
            gymnasium.error.ResetNeeded: `reset()` was not called yet.
        """
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        if self._episode is None:
            raise gym.error.ResetNeeded("call reset() before step(), render() or fork()")
        return self._episode

    @property
    def task(self) -> Task:
        """The current task."""
        return self.episode.task

    @property
    def max_steps(self) -> int:
        """The step limit of the current episode; that of every episode where the option `max_steps` is given."""
        return self.runner.max_steps or self.runner.limit(self.task)

    @property
    def menu(self) -> tuple[str | None, ...]:
        """The task's menu as actions for what is on the screen; None for an entry whose element is not there."""
        return self.episode.menu

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The name, description and JSON Schema of each tool that can be called in this episode."""
        return self.runner.tools(self.task)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: The seed of the task, the initial state and the world's requests.
            options: The options of this episode: `task` (an id, a path or a mapping), `family`, `level`, `controls`
                (name → strength), and `control_seed` (the seed of what the controls strike; without it that follows
                `seed`, or the task's own).

        Returns:
            The first observation, and `info`.

        Raises:
            ClosedError: The environment is closed.
            SpecError: An option does not fit.
        """
        super().reset(seed=seed)
        if self._closed:
            raise ClosedError("this environment is closed; make another one")
        episode_seed = int(self.np_random.integers(MAX_SEED)) if seed is None else seed
        [(episode, observation, info)] = self.runner.start(
            [episode_seed], options or {}, leaving=[] if self._episode is None else [self._episode]
        )
        if self._episode is not None:
            self._episode.session.close()
        self._episode = episode
        self._render_human()
        return observation, dict(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do one action; `finish` or `finish: ANSWER` ends the episode.

        Args:
            action: The text that the agent wrote; the option `reading` says how it is read.

        Returns:
            The observation, the reward, whether the episode terminated, whether it was truncated, and `info`.

        Raises:
            SpecError: The action is no text.
            gymnasium.error.ResetNeeded: The episode has ended, or none has begun.
        """
        if not isinstance(action, str):
            raise SpecError("step", "action", action, "a string")
        if self.episode.over:
            raise gym.error.ResetNeeded("the episode has ended; call reset()")
        [result] = self.runner.advance([self.episode], [action])
        self._render_human()
        return result.observation, result.reward, result.terminated, result.truncated, dict(result.info)

    def fork(self) -> AgentWorldEnv:
        """Return an exact copy of this environment in the middle of its episode; both share the world.

        Equal actions on both give equal results (deterministic worlds) or equal requests (language worlds).
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._episode = self.runner.fork(self.episode)
        twin._make_spaces()
        if self._np_random is not None:
            twin._np_random = type(self._np_random)(type(self._np_random.bit_generator)())
            twin._np_random.bit_generator.state = self._np_random.bit_generator.state
        self._shared[0] += 1
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes the environment again from its options; a warning tells of an episode under way."""
        if self._episode is not None and not self._episode.over and not self._closed:
            warn_of_a_lost_episode()
        return remade, (self.render_mode, self.options.keywords()), {"_spec": self.spec}

    def __deepcopy__(self, memo: dict[int, Any]) -> AgentWorldEnv:
        """Return a fork in the middle of an episode, and elsewhere another environment with the same options."""
        running = self._episode is not None and not self._closed
        return self.fork() if running else remade(self.render_mode, self.options.keywords())

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the episode so far as text (`ansi`) or the last screen (`rgb_array`); `human` writes as it happens.

        Raises:
            RenderingUnavailable: The mode is `rgb_array`, and Pillow is not installed.
        """
        if self.render_mode == "ansi":
            return transcript(self.episode)
        return self._pictures.of(self.episode) if self.render_mode == "rgb_array" else None

    def _render_human(self) -> None:
        if self.render_mode == "human":
            episode = self.episode
            action = f"> {episode.actions[-1]}\n" if episode.actions else ""
            sys.stdout.write(f"{action}{episode.observation}\n")
            sys.stdout.flush()

    def close(self) -> None:
        """Free the episode, and the world once no fork uses it. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._episode is not None:
            self._episode.session.close()
        self._shared[0] -= 1
        if not self._shared[0]:
            self.runner.close()


def text_spaces(spec: DomainSpec) -> tuple[UnicodeText, UnicodeText]:
    """Return the action space and the observation space of a domain."""
    domain = find_domain(spec.id)
    menu_id = None if domain is None else domain.menu_id
    limits, examples = spec.limits, spec.observation.examples or ("",)
    actions = UnicodeText(limits.max_action_chars, (*spec.action.examples, "finish"), menu_id=menu_id)
    observations = UnicodeText(limits.max_observation_chars + MAX_INSTRUCTION_CHARS, examples, menu_id=menu_id)
    return actions, observations


def warn_of_a_lost_episode() -> None:
    """Warn whoever pickles an environment that its episode stays behind."""
    warnings.warn(
        "an episode under way is not pickled: the environment is made again from its options, so reset() it there",
        UserWarning,
        stacklevel=3,
    )


def remade(render_mode: str | None, options: dict[str, Any]) -> AgentWorldEnv:
    """Return an environment that is made again from its options."""
    return AgentWorldEnv(render_mode, **options)
