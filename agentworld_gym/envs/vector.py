"""The environment of many episodes at a time, which `gym.make_vec` makes: steps in waves, or each as it is ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, cast

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentworld_gym.base.errors import ClosedError, SpecError, UnderWayError
from agentworld_gym.core.contracts import World
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.envs.env import MAX_SEED, WorldSpec, text_spaces, warn_of_a_lost_episode
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.event_order import order_of
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.episodes.stream import EpisodeStream
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.envs.pictures import Pictures, transcript

Flags = NDArray[np.bool_]

OF_EPISODES: Mapping[str, str] = {"episode": "episodes", "task": "tasks", "menu": "menus", "tools": "tools"}
"""The attributes of a vector environment that hold those of its members' episodes."""

OF_MEMBERS: Mapping[str, str] = {"np_random": "np_random", "np_random_seed": "np_random_seed"}
"""The attributes of a vector environment that hold those of its members."""

OF_ALL: Mapping[str, str] = {
    "action_space": "single_action_space",
    "observation_space": "single_observation_space",
    **{name: name for name in ("domain", "metadata", "options", "render_mode", "runner", "spec", "world")},
}
"""The attributes of a vector environment that its members share."""


class AgentWorldVectorEnv(WorldSpec, VectorEnv[tuple[str, ...], Sequence[str], Any]):
    """`num_envs` episodes in one world; every step asks the world once, for all of them together.

    Every member has a stream of random numbers of its own, so that its episodes depend on its seed alone and are those
    of a single environment with that seed.

    Args:
        num_envs: The number of episodes.
        autoreset_mode: The way in which a member that has ended is reset: `NextStep` (Gymnasium's default: by the step
            after the end), `SameStep` (by the step that ends it; `final_obs` and `final_info` then hold the end) or
            `Disabled` (by `reset` with `options={"reset_mask": …}`).
        max_episode_steps: The option `max_steps`, by the name that `gym.make_vec` uses.
        render_mode: The mode of `render`: `ansi`, `rgb_array` or None.
        options: The options of `agentworld_gym.envs.options.EnvOptions`.

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> import gymnasium as gym
    >>> envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world="scripted")
    >>> observations, infos = envs.reset(seed=7)
    >>> observations, rewards, terminated, truncated, infos = envs.step(["ls", "pwd"])
    >>> observations
    ('[1] ls', '[1] pwd')
    >>> envs.unwrapped.send(["date"], env_id=[1])
    >>> observations, rewards, terminated, truncated, infos = envs.unwrapped.recv()
    >>> observations, infos["env_id"].tolist()
    (('[2] date',), [1])
    >>> envs.close()
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        count: Any = num_envs
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise SpecError("options", "num_envs", num_envs, "an integer of at least 1")
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError as error:
            expected = ", ".join(m.value for m in AutoresetMode)
            raise SpecError("options", "autoreset_mode", autoreset_mode, f"one of {expected}") from error
        if max_episode_steps is not None:
            options["max_steps"] = max_episode_steps
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {"autoreset_mode": mode, "render_modes": ["ansi", "rgb_array"], "render_fps": 4}
        self.autoreset_mode = mode
        self.options = EnvOptions.of(type(self).__name__, options)
        self.runner = self.options.runner()
        self.runner.order = order_of(self.runner.world)
        self.single_action_space, self.single_observation_space = text_spaces(self.runner.spec)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.episodes: list[Episode] = []
        self._pictures = Pictures()
        self._attributes: dict[str, tuple[Any, ...]] = {}
        members: Any = self.action_space
        for member, space in enumerate(members.spaces):
            space.offer(partial(self._offers, member))
        self._stream = EpisodeStream(self.runner)
        self._reset: dict[int, dict[str, Any]] = {}
        self._over: Flags = np.zeros(num_envs, dtype=bool)
        self._streams = [seeding.np_random() for _ in range(num_envs)]

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The stream of random numbers of every member."""
        return tuple(stream for stream, _ in self._streams)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of every member's stream of random numbers."""
        return tuple(seed for _, seed in self._streams)

    @property
    def world(self) -> World[Any]:
        """The world that answers."""
        return self.runner.world

    @property
    def domain(self) -> DomainSpec:
        """The domain's spec."""
        return self.runner.spec

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The current task of every member."""
        return tuple(episode.task for episode in self.episodes)

    @property
    def menus(self) -> tuple[tuple[str | None, ...], ...]:
        """The menu of every member's task as actions for its screen; None for an entry whose element is not there."""
        return tuple(episode.menu for episode in self.episodes)

    @property
    def tools(self) -> tuple[tuple[dict[str, Any], ...], ...]:
        """The name, description and JSON Schema of each tool that can be called, for every member's episode."""
        return tuple(self.runner.tools(episode.task) for episode in self.episodes)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute of every member, or what its method `render` returns.

        The attributes are those of a single environment: `task`, `menu`, `tools`, `episode`, `world`, `spec`, the two
        spaces and others, which the error names; and what `set_attr` has set. `reset` and `step` are of all members.

        Args:
            name: The name of the attribute.
            args: The arguments of the method; there are none.
            kwargs: The named arguments of the method; there are none.

        Raises:
            AttributeError: A member has no such attribute.
            gymnasium.error.ResetNeeded: It is one of an episode, and `reset()` was not called yet.
        """
        if name in self._attributes:
            return self._attributes[name]
        if name in OF_ALL:
            return (getattr(self, OF_ALL[name]),) * self.num_envs
        if name in OF_MEMBERS:
            return tuple(getattr(self, OF_MEMBERS[name]))
        if name not in OF_EPISODES and name != "render":
            raise AttributeError(f"a member has no {name!r}; it has {', '.join(self.names_of_members())}")
        if not self.episodes:
            raise gym.error.ResetNeeded(f"call reset() before {name}")
        if name == "render":
            return self.render() or (None,) * self.num_envs
        return tuple(getattr(self, OF_EPISODES[name]))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every member; see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Keep a value for every member, which `get_attr` returns.

        Args:
            name: The name, which none of the members' own attributes has.
            values: A list or a tuple of one value a member; anything else is the value of every member.

        Raises:
            AttributeError: The members have an attribute of that name.
            ValueError: There is not one value a member.
        """
        if name in (*self.names_of_members(), "reset", "step", "close") and name not in self._attributes:
            raise AttributeError(f"{name!r} of a member cannot be set")
        kept = tuple(values) if isinstance(values, list | tuple) else (values,) * self.num_envs
        if len(kept) != self.num_envs:
            raise ValueError(f"values: got {len(kept)}, expected one for each of the {self.num_envs} members")
        self._attributes[name] = kept

    def names_of_members(self) -> tuple[str, ...]:
        """Return the names that `call` takes."""
        return tuple(sorted({*OF_EPISODES, *OF_MEMBERS, *OF_ALL, *self._attributes, "render"}))

    def _offers(self, member: int) -> tuple[str, ...]:
        return self.runner.offers(self.episodes[member]) if self.episodes else ()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Begin an episode in every member, or in those of `options["reset_mask"]`; their steps under way are dropped.

        Args:
            seed: The seed: an integer gives member i the seed `seed + i`, a list gives each member its own, and None
                lets a member draw from its stream of random numbers, as its later episodes do.
            options: The options of `AgentWorldEnv.reset`, and `reset_mask`.

        Returns:
            The observations, and `infos`.

        Raises:
            ClosedError: The environment is closed.
            SpecError: A seed, an option or a mask does not fit.
        """
        if self.closed:
            raise ClosedError("this environment is closed; make another one")
        episode_options = dict(options or {})
        mask = episode_options.pop("reset_mask", None)
        members = list(range(self.num_envs)) if mask is None else self._masked(mask)
        self._drop(members)
        if len(self.episodes) < self.num_envs and len(members) < self.num_envs:
            raise gym.error.ResetNeeded("the first reset must be of all members")
        started = self._begin(members, self._seeds(seed, members), episode_options)
        infos: dict[str, Any] = {}
        for member, info in started.items():
            infos = self._add_info(infos, info, member)
        return self._observations(), infos

    def step(self, actions: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Do one action a member, in one wave; members that ended are reset as `autoreset_mode` says.

        Args:
            actions: The texts that the agents wrote, one a member.

        Returns:
            The observations, the rewards, which members terminated, which were truncated, and `infos`.

        Raises:
            ClosedError: The environment is closed.
            SpecError: There is not one text a member.
            UnderWayError: Steps that were sent are under way.
            gymnasium.error.ResetNeeded: No episode has begun, or members have ended and are not reset by themselves.
        """
        self._must_have_begun("step")
        if self._stream.under_way or self._reset:
            raise UnderWayError("steps are under way; recv() them before step()")
        self._check(actions, self.num_envs)
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            raise gym.error.ResetNeeded("members have ended; reset them with options={'reset_mask': …}")
        resets = self._over & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        resetting, playing = np.flatnonzero(resets).tolist(), np.flatnonzero(~resets).tolist()
        results = self.runner.advance([self.episodes[i] for i in playing], [actions[i] for i in playing])
        started = self._begin(resetting, self._seeds(None, resetting), {}) if resetting else {}
        return self._handed_out(dict(zip(playing, results, strict=True)), started)

    def send(self, actions: Sequence[str], env_id: Sequence[int] | NDArray[np.integer[Any]] | None = None) -> None:
        """Begin one action in some members, none of which waits for another; `recv` returns what they come to.

        A member that has ended is begun anew in the mode `NextStep`, and its action is discarded, as by `step`.

        Args:
            actions: The texts that the agents wrote, one for each member that is named.
            env_id: The numbers of the members; None names all of them.

        Raises:
            ClosedError: The environment is closed.
            SpecError: There is not one text a member, or there is no such member; nothing is begun.
            UnderWayError: A member has a step under way already, or is named twice; nothing is begun.
            gymnasium.error.ResetNeeded: No episode has begun, or a member has ended and is not reset by itself.
        """
        self._must_have_begun("send")
        members = list(range(self.num_envs)) if env_id is None else [int(member) for member in _elements(env_id)]
        if not all(0 <= member < self.num_envs for member in members):
            raise SpecError("send", "env_id", env_id, f"numbers of members from 0 to {self.num_envs - 1}")
        self._check(actions, len(members))
        if again := sorted(member for member in members if member in self._reset or members.count(member) > 1):
            raise UnderWayError(f"member {again[0]} has a step under way; recv() it before another is sent")
        resetting = [member for member in members if self._resets(member)]
        playing = {member: action for member, action in zip(members, actions, strict=True) if member not in resetting}
        if any(self._over[member] for member in playing):
            raise gym.error.ResetNeeded("members have ended; reset them with options={'reset_mask': …}")
        self._stream.send([self.episodes[member] for member in playing], list(playing.values()))
        if resetting:
            self._reset |= self._begin(resetting, self._seeds(None, resetting), {})

    def recv(self, min_ready: int = 1) -> tuple[tuple[str, ...], NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Return what the members came to whose steps have ended, as soon as there are `min_ready` of them.

        Each result has one row for each of these members: those that began anew, and then the others in the order in
        which their steps ended. `infos["env_id"]` holds their numbers. An interrupt loses nothing: what is under way
        stays so, and `recv` can be called again. A recording of the world (`record:PATH+WORLD`) holds the order in
        which members were handed out, and a replay (`recorded:PATH`) gives it again.

        Args:
            min_ready: The number of members to wait for; where fewer are under way, all of them.

        Returns:
            The observations, the rewards, which members terminated, which were truncated, and `infos`.

        Raises:
            ClosedError: The environment is closed.
            SpecError: `min_ready` is no integer of at least 1.
            UnderWayError: Nothing is under way.
        """
        self._must_have_begun("recv")
        wanted: Any = min_ready
        if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
            raise SpecError("recv", "min_ready", min_ready, "an integer of at least 1")
        if not self._stream.under_way and not self._reset:
            raise UnderWayError("nothing is under way; send() actions before recv()")
        ended = self._stream.recv(int(min_ready) - len(self._reset))
        places = {episode.id: member for member, episode in enumerate(self.episodes)}
        results = {places[episode.id]: transition for episode, transition in ended}
        started, self._reset = self._reset, {}
        observations, rewards, terminated, truncated, infos = self._handed_out(results, started)
        members = np.array([*started, *results], dtype=np.int32)
        rows = {**_rows_of(infos, members), "env_id": members}
        shown = tuple([observations[member] for member in members])
        return shown, rewards[members], terminated[members], truncated[members], rows

    def _handed_out(
        self, results: Mapping[int, Transition], started: dict[int, dict[str, Any]]
    ) -> tuple[tuple[str, ...], NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Return the outcome of some members' steps, with a row for every member, and reset who is to be reset."""
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = np.zeros(self.num_envs, dtype=bool), np.zeros(self.num_envs, dtype=bool)
        for member, result in results.items():
            rewards[member] = result.reward
            terminated[member], truncated[member] = result.terminated, result.truncated
        over: Flags = terminated | truncated
        if results:
            self._over[list(results)] = over[list(results)]
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            ended: list[int] = np.flatnonzero(over).tolist()
            started = {**started, **self._begin(ended, self._seeds(None, ended), {})}
        infos: dict[str, Any] = {}
        for member, result in results.items():
            info = dict(result.info)
            final = {"final_obs": result.observation, "final_info": info}
            infos = self._add_info(infos, final if member in started else info, member)
        for member, info in started.items():
            infos = self._add_info(infos, info, member)
        return self._observations(), rewards, terminated, truncated, infos

    def _resets(self, member: int) -> bool:
        return bool(self._over[member]) and self.autoreset_mode is AutoresetMode.NEXT_STEP

    def _must_have_begun(self, verb: str) -> None:
        if self.closed:
            raise ClosedError("this environment is closed; make another one")
        if not self.episodes:
            raise gym.error.ResetNeeded(f"call reset() before {verb}()")

    def _begin(
        self, members: Sequence[int], seeds: Sequence[int], options: dict[str, Any]
    ) -> dict[int, dict[str, Any]]:
        leaving = [self.episodes[member] for member in members] if self.episodes else []
        started = self.runner.start(seeds, options, leaving=leaving)
        if not self.episodes:
            self.episodes = [episode for episode, _, _ in started]
        infos: dict[int, dict[str, Any]] = {}
        for member, (episode, _, info) in zip(members, started, strict=True):
            if self.episodes[member] is not episode:
                self.episodes[member].session.close()
                self.episodes[member] = episode
            self._over[member] = False
            infos[member] = dict(info)
        return infos

    def _drop(self, members: Sequence[int]) -> None:
        """Abandon the steps of members that are about to begin anew."""
        if len(members) == self.num_envs:
            self._stream.close()
            self._stream = EpisodeStream(self.runner)
        self._stream.drop([self.episodes[member] for member in members if self.episodes])
        self._reset = {member: info for member, info in self._reset.items() if member not in members}

    def _masked(self, mask: Any) -> list[int]:
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            expected = f"a bool array of shape ({self.num_envs},) with at least one True"
            raise SpecError("reset", "reset_mask", mask, expected)
        members: list[int] = np.flatnonzero(mask).tolist()
        return members

    def _seeds(self, seed: int | Sequence[int | None] | None, members: Sequence[int]) -> list[int]:
        """Return the seed of each member's next episode: a given one begins a stream, and the others are drawn."""
        seeds: list[Any] = [None] * self.num_envs
        if _is_seed(seed):
            seeds = [int(cast(int, seed)) + member for member in range(self.num_envs)]
        elif seed is not None:
            seeds = _elements(seed)
            if len(seeds) != self.num_envs or not all(one is None or _is_seed(one) for one in seeds):
                raise SpecError("reset", "seed", seed, f"an integer of at least 0, or {self.num_envs} of them")
        for member in members:
            if (one := seeds[member]) is not None:
                self._streams[member] = seeding.np_random(int(one))
        drawn = [(seeds[member], self._streams[member][0]) for member in members]
        return [int(stream.integers(MAX_SEED)) if one is None else int(one) for one, stream in drawn]

    def _check(self, actions: Sequence[str], count: int) -> None:
        if len(_elements(actions)) != count:
            raise SpecError("step", "actions", actions, f"{count} strings")
        for member, action in enumerate(actions):
            if not isinstance(action, str):
                raise SpecError("step", f"actions.{member}", action, "a string")

    def _observations(self) -> tuple[str, ...]:
        return tuple([episode.observation for episode in self.episodes])

    def render(self) -> tuple[Any, ...] | None:
        """Return the episodes so far as texts (`ansi`), or their last screens as pictures (`rgb_array`).

        Raises:
            RenderingUnavailable: The mode is `rgb_array`, and Pillow is not installed.
        """
        if self.render_mode == "ansi":
            return tuple(transcript(episode) for episode in self.episodes)
        return tuple(map(self._pictures.of, self.episodes)) if self.render_mode == "rgb_array" else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes the environment again from its options; a warning tells of episodes under way."""
        if not self.closed and any(not episode.over for episode in self.episodes):
            warn_of_a_lost_episode()
        options = {"autoreset_mode": self.autoreset_mode, "render_mode": self.render_mode, **self.options.keywords()}
        return _remade, (type(self), self.num_envs, options), {"_spec": self.spec}

    def close_extras(self, **kwargs: Any) -> None:
        """Free all episodes and the world; steps under way are abandoned, and their requests are cancelled."""
        self._stream.close()
        for episode in self.episodes:
            episode.session.close()
        self.runner.close()


def _elements(value: Any) -> list[Any]:
    """Return the elements of a list, a tuple or an array of one dimension; anything else has none."""
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim == 1 else []
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def _rows_of(infos: Mapping[str, Any], members: NDArray[np.int32]) -> dict[str, Any]:
    """Return the rows of some members."""
    return {
        key: _rows_of(value, members) if isinstance(value, dict) else value[members] for key, value in infos.items()
    }


def _is_seed(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 0


def _remade(kind: type[AgentWorldVectorEnv], num_envs: int, options: dict[str, Any]) -> AgentWorldVectorEnv:
    return kind(num_envs, **options)
