"""A `VecEnv` of menus for Stable-Baselines3.

    from sb3_contrib import MaskablePPO
    from agentworld_gym.integrations.sb3.vec_env import make_sb3_env

    env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=16, seed=0)
    model = MaskablePPO("MlpPolicy", env).learn(10_000)

This needs the extra `sb3`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError, UnderWayError, install
from agentworld_gym.envs.env import MAX_SEED
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.event_order import order_of
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.envs.episodes.stream import EpisodeStream
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.menu_env import MenuEnv, menu_spaces
from agentworld_gym.envs.text_encoder import TextEncoder, Vector

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(f"this needs Stable-Baselines3: {install('sb3')}") from error

__all__ = ["AgentWorldVecEnv", "MenuEnv", "make_sb3_env"]

Indices = int | Iterable[int] | None
AnyWrapper = gym.Wrapper[Any, Any, Any, Any]


class AgentWorldVecEnv(VecEnv):
    """Many episodes as Stable-Baselines3 expects them; a step is one wave of the world.

    With `send` and `recv` every member goes on as its own answer comes, and none waits for another
    (`agentworld_gym.integrations.sb3.asynchronous_rollouts` trains so). A recording of the world holds the order in
    which members were handed out, and its replay gives it again.

    An episode that ends is followed by the next one in the same step. `infos[i]["episode"]` holds return, length and
    time of an episode that ended, and `infos[i]["is_success"]` whether it succeeded, if that was tested. An episode
    whose world failed ends like one that ran into a time limit, with no reward.

    At a time limit Stable-Baselines3 adds the value of the last observation to the reward. That is right where a limit
    only cuts what would go on. Where the task has to be done within the limit, `bootstrap_at_limit=False` makes the
    limit an end like any other (Pardo et al. 2018, Time Limits in Reinforcement Learning, section 2).

    With the probability `backplay` an episode begins somewhere on its expert's way, so that an agent meets the end of
    long tasks before it can find the way there (learning from a demonstration by starting from its states, Salimans
    and Chen 2018). `infos[i]["backplay"]` says how many steps were played ahead.

    Args:
        runner: The runner of the episodes.
        num_envs: The number of episodes that run at a time.
        seed: The seed from which member i draws its tasks is `seed + i`; None draws them anew each time.
        encoder: The encoder that makes vectors of texts; None takes the default one.
        backplay: The share of episodes that begin somewhere on their expert's way.
        bootstrap_at_limit: Whether the step limit is reported as a time limit. A failure of the world always is.

    Raises:
        SpecError: `backplay` is no share.
    """

    def __init__(
        self,
        runner: EpisodeRunner,
        num_envs: int,
        seed: int | None = None,
        encoder: TextEncoder | None = None,
        backplay: float = 0.0,
        bootstrap_at_limit: bool = True,
    ) -> None:
        if not 0 <= backplay <= 1:
            raise SpecError("options", "backplay", backplay, "a share from 0 to 1")
        self.runner, self.encoder, self.backplay = runner, encoder or TextEncoder(), backplay
        self.bootstrap_at_limit = bootstrap_at_limit
        if runner.order is None:
            runner.order = order_of(runner.world)
        self._attributes: dict[str, Any] = {"render_mode": None, "spec": None}
        super().__init__(num_envs, *menu_spaces(self.encoder))
        self._rngs = [np.random.default_rng(None if seed is None else seed + index) for index in range(num_envs)]
        self._episodes: dict[int, Episode] = {}
        self._menus: dict[int, Menu] = {}
        self._choices: dict[int, int] = {}
        self._stream = EpisodeStream(runner)
        self._vectors = np.zeros((num_envs, self.encoder.size), np.float32)
        self._returns, self._lengths, self._ahead = [0.0] * num_envs, [0] * num_envs, [0] * num_envs
        self._begun = time.monotonic()
        self._closed = False

    @property
    def under_way(self) -> int:
        """The number of members whose step was sent and has not been received."""
        return len(self._stream.under_way)

    def reset(self) -> Vector:
        """Begin an episode in every member, with the seeds that were set before; steps under way are dropped."""
        self._stream.close()
        self._stream = EpisodeStream(self.runner)
        for index, seed in enumerate(self._seeds):
            if seed is not None:
                self._rngs[index] = np.random.default_rng(seed)
        self._start(range(self.num_envs), self._options)
        self._reset_seeds()
        self._reset_options()
        return self._vectors.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the choices for `step_wait`.

        Raises:
            UnderWayError: Steps that were sent are under way.
        """
        if self.under_way:
            raise UnderWayError("steps are under way; recv() them before step()")
        self._choose(actions, range(self.num_envs))

    def step_wait(self) -> tuple[Vector, Vector, NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all members in one wave, and begin the next episode of every member that ended."""
        members = range(self.num_envs)
        episodes, texts = [self._episodes[index] for index in members], [self._text(index) for index in members]
        rewards, dones, infos = self._taken(members, self.runner.advance(episodes, texts))
        return self._vectors.copy(), rewards, dones, infos

    def send(self, actions: NDArray[Any], members: NDArray[np.integer[Any]]) -> None:
        """Begin a step in some members, none of which waits for another.

        Args:
            actions: The choices from the menus, one for each of these members.
            members: The numbers of the members.

        Raises:
            UnderWayError: A member has a step under way already, or is named twice; nothing is begun.
        """
        indices = [int(member) for member in members]
        self._choose(actions, indices)
        self._stream.send([self._episodes[index] for index in indices], [self._text(index) for index in indices])

    def recv(
        self, min_ready: int = 1
    ) -> tuple[NDArray[np.int64], Vector, Vector, NDArray[np.bool_], list[dict[str, Any]]]:
        """Return the steps that have ended, and begin the next episode of every member whose episode ended.

        Args:
            min_ready: The number of steps to wait for; where fewer are under way, all of them.

        Returns:
            The numbers of the members, shape `(n,)`, in the order in which their steps ended; their vectors, shape
            `(n, size)`; their rewards and whether their episode ended, shape `(n,)`; and their infos.

        Raises:
            UnderWayError: Nothing is under way.
        """
        if not self.under_way:
            raise UnderWayError("nothing is under way; send() actions before recv()")
        places = {episode.id: index for index, episode in self._episodes.items()}
        ended = self._stream.recv(min_ready)
        members = [places[episode.id] for episode, _ in ended]
        rewards, dones, infos = self._taken(members, [transition for _, transition in ended])
        return np.array(members), self._vectors[members], rewards, dones, infos

    def _choose(self, actions: NDArray[Any], members: Sequence[int]) -> None:
        for index, action in zip(members, np.asarray(actions).reshape(-1), strict=True):
            self._choices[index] = self._menus[index].entry(int(action))

    def _text(self, index: int) -> str:
        return self._menus[index].action(self._choices[index])

    def _taken(
        self, members: Sequence[int], transitions: Sequence[Transition]
    ) -> tuple[Vector, NDArray[np.bool_], list[dict[str, Any]]]:
        """Enter what some members' steps came to, and begin the next episode of every member whose episode ended."""
        rewards = np.array([transition.reward for transition in transitions], np.float32)
        dones = np.array([transition.terminated or transition.truncated for transition in transitions])
        infos: list[dict[str, Any]] = []
        for index, transition, done in zip(members, transitions, dones, strict=True):
            menu = self._menus[index]
            if "failure" not in transition.info:
                menu.observe(self._choices[index], transition.observation, transition.info.get("admissible"))
            menu.vector(self._vectors[index])
            self._returns[index] += transition.reward
            self._lengths[index] += 1
            info: dict[str, Any] = {**transition.info}
            cut = transition.truncated and not transition.terminated
            info["TimeLimit.truncated"] = cut and (self.bootstrap_at_limit or "failure" in info)
            if done:
                info["terminal_observation"] = self._vectors[index].copy()
                elapsed = round(time.monotonic() - self._begun, 6)
                info["episode"] = {"r": self._returns[index], "l": self._lengths[index], "t": elapsed}
                info["backplay"] = self._ahead[index]
                if "success" in info:
                    info["is_success"] = info["success"]
            infos.append(info)
        ended = [index for index, done in zip(members, dones, strict=True) if done]
        if ended:
            self._start(ended, [{} for _ in range(self.num_envs)])
        return rewards, dones, infos

    def _start(self, members: Sequence[int], options: Sequence[dict[str, Any]], ahead: bool = True) -> None:
        """Begin episodes; members with equal options begin in one wave."""
        groups: dict[str, list[int]] = {}
        for index in members:
            groups.setdefault(repr(options[index]), []).append(index)
        begun: dict[int, tuple[Episode, str, Any]] = {}
        for group in groups.values():
            seeds = [int(self._rngs[index].integers(MAX_SEED)) for index in group]
            leaving = [self._episodes[index] for index in group if index in self._episodes]
            begun.update(zip(group, self.runner.start(seeds, options[group[0]], leaving=leaving), strict=True))
        for index, (episode, text, info) in begun.items():
            if index in self._episodes:
                self._episodes[index].session.close()
            self._episodes[index], self.reset_infos[index] = episode, {**info}
            self._menus[index] = Menu(self.encoder, self.runner.spec, episode.task, text, episode.offers)
            self._returns[index], self._lengths[index], self._ahead[index] = 0.0, 0, 0
        ended = self._play_ahead(list(begun)) if ahead and self.backplay else []
        for index in begun:
            self._menus[index].vector(self._vectors[index])
        if ended:
            self._start(ended, [{} for _ in range(self.num_envs)], ahead=False)

    def _play_ahead(self, members: Sequence[int]) -> list[int]:
        """Lead some members a part of their expert's way; return those whose episode ended by that."""
        ways, ended = {}, []
        for index in members:
            expert = self._episodes[index].task.expert
            if len(expert) > 1 and self._rngs[index].random() < self.backplay:
                ways[index] = list(expert[: int(self._rngs[index].integers(len(expert)))])
        while ways := {index: way for index, way in ways.items() if way and self._offered(index, way[0]) is not None}:
            choices = {index: self._menus[index].actions.index(way.pop(0)) for index, way in ways.items()}
            texts = [self._menus[index].action(choice) for index, choice in choices.items()]
            transitions = self.runner.advance([self._episodes[index] for index in choices], texts)
            for (index, choice), transition in zip(choices.items(), transitions, strict=True):
                if "failure" in transition.info:
                    ways[index].clear()
                    continue
                self._menus[index].observe(choice, transition.observation, transition.info.get("admissible"))
                self._ahead[index] += 1
                if transition.terminated or transition.truncated:
                    ways[index].clear()
                    ended.append(index)
        return ended

    def _offered(self, index: int, entry: str) -> str | None:
        menu = self._menus[index]
        return menu.offers[menu.actions.index(entry)] if entry in menu.actions else None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which choices are on offer, for all members."""
        return np.stack(self.env_method("action_masks"))

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call `action_masks` of some members; there is no other method."""
        if method_name != "action_masks" or args or kwargs:
            raise AttributeError(f"members have no method {method_name!r}; they have action_masks()")
        return [self._menus[index].masks() for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of some members: `task`, `action_masks`, or what `set_attr` has set."""
        members = list(self._get_indices(indices))
        if attr_name == "task":
            return [self._menus[index].task for index in members]
        if attr_name == "action_masks":
            return [partial(self.env_method, "action_masks", indices=index) for index in members]
        if attr_name not in self._attributes:
            raise AttributeError(f"members have no attribute {attr_name!r}")
        return [self._attributes[attr_name] for _ in members]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Keep a value, which `get_attr` returns."""
        self._attributes[attr_name] = value

    def env_is_wrapped(self, wrapper_class: type[AnyWrapper], indices: Indices = None) -> list[bool]:
        """Return whether members are wrapped by `Monitor`, whose work is done here; there are no other wrappers."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Free the episodes and the world. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._stream.close()
            for episode in self._episodes.values():
                episode.session.close()
            self.runner.close()


def make_sb3_env(
    env_id: str,
    num_envs: int = 1,
    seed: int | None = None,
    *,
    encoder: TextEncoder | None = None,
    backplay: float = 0.0,
    bootstrap_at_limit: bool = True,
    **options: Any,
) -> AgentWorldVecEnv:
    """Make a `VecEnv` for Stable-Baselines3.

    Args:
        env_id: The id of the environment, as for `gym.make`.
        num_envs: The number of episodes that run at a time.
        seed: The seed from which member i draws its tasks is `seed + i`; None draws them anew each time.
        encoder: The encoder that makes vectors of texts; None takes the default one.
        backplay: The share of episodes that begin somewhere on their expert's way.
        bootstrap_at_limit: Whether the value of what would come after the step limit counts; see `AgentWorldVecEnv`.
        options: The options of `gym.make`, such as `world`, `families`, `levels`, `split` and `max_steps`.

    >>> env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=2, seed=0, world="scripted")
    >>> env.reset().shape == (2, env.encoder.size)
    True
    >>> env.close()
    """
    envs: Any = gym.make_vec(env_id, num_envs=num_envs, **options)
    return AgentWorldVecEnv(envs.unwrapped.runner, num_envs, seed, encoder, backplay, bootstrap_at_limit)
