"""Environments of menus: choices for texts and vectors for screens, one or many at a time, without any extra.

env = gym.make("AgentWorld/TerminalMenu-v0")
envs = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=16)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentworld_gym.env import AgentWorldEnv
from agentworld_gym.errors import SpecError
from agentworld_gym.policies.menu import Menu
from agentworld_gym.policies.text_encoder import TextEncoder, Vector
from agentworld_gym.vector import AgentWorldVectorEnv

EncoderOption = TextEncoder | Mapping[str, Any] | None
Seen = Vector | dict[str, NDArray[Any]]
AnyWrapper = gym.Wrapper[Any, Any, Any, Any]


class MenuEnv(AnyWrapper, RecordConstructorArgs):
    """A single environment whose actions are choices from the task's menu and whose observations are vectors.

    `info["action_mask"]` says which choices there are (1) and which there are not (0), after `reset` and after every
    `step`, and `info["text"]` is the observation as text. `action_masks()` is what `MaskablePPO` asks for.

    Args:
        env: an environment of texts.
        encoder: how texts become vectors: a `TextEncoder`, or its fields by name.
        dict_keys: two names; observations are then dictionaries of the vector and the mask under these.

    Raises:
        SpecError: an encoder or names that are none.

    >>> env = gym.make("AgentWorld/TerminalMenu-v0", world="scripted")
    >>> vector, info = env.reset(seed=7)
    >>> vector.shape == env.observation_space.shape, int(info["action_mask"].sum()) == len(env.unwrapped.task.menu)
    (True, True)
    >>> env.close()
    """

    def __init__(
        self, env: gym.Env[str, str], encoder: EncoderOption = None, dict_keys: Sequence[str] | None = None
    ) -> None:
        self.encoder, self.dict_keys = encoder_of(encoder), checked_keys(dict_keys)
        RecordConstructorArgs.__init__(self, encoder=asdict(self.encoder), dict_keys=dict_keys and list(dict_keys))
        super().__init__(env)
        self.observation_space, self.action_space = menu_spaces(self.encoder, self.dict_keys)
        self._menu: Menu | None = None

    @property
    def menu(self) -> Menu:
        """The current episode's menu.

        Raises:
            gym.error.ResetNeeded: before the first `reset()`.
        """
        if self._menu is None:
            raise gym.error.ResetNeeded("call reset() before step() and action_masks()")
        return self._menu

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Start an episode."""
        text, info = self.env.reset(seed=seed, options=options)
        core: Any = self.env.unwrapped
        self._menu = Menu(self.encoder, core.domain, core.task, text)
        return self._seen(text, info)

    def step(self, action: int) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Do what stands at this place of the menu.

        Raises:
            SpecError: the action is no integer.
        """
        given = np.asarray(action)
        if given.size != 1 or not np.issubdtype(given.dtype, np.integer):
            raise SpecError("step", "action", action, "an integer, the place of a choice in the menu")
        entry = self.menu.entry(int(given.item()))
        text, reward, terminated, truncated, info = self.env.step(self.menu.action(entry))
        if "failure" not in info:
            self.menu.observe(entry, text)
        seen, info = self._seen(text, info)
        return seen, float(reward), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which choices this episode's menu has on offer."""
        return self.menu.masks()

    def _seen(self, text: str, info: dict[str, Any]) -> tuple[Seen, dict[str, Any]]:
        mask = self.menu.masks().astype(np.int8)
        seen = self.menu.vector()
        return named(self.dict_keys, seen, mask), {**info, "text": text, "action_mask": mask}


class MenuVectorEnv(VectorWrapper[Any, Any, Any, Any, Any]):
    """Many environments of menus, one wave of the world a step.

    `infos["action_mask"]` has a row of choices for every member and `infos["text"]` its observation as text. What an
    episode showed at its end stands in `infos["final_obs"]` where members are reset in the same step.

    Args:
        env: a vector environment of texts, as `gym.make_vec` gives it.
        encoder: how texts become vectors: a `TextEncoder`, or its fields by name.
        dict_keys: two names; observations are then dictionaries of the vectors and the masks under these.

    Raises:
        SpecError: an encoder or names that are none.

    >>> envs = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=2, world="scripted")
    >>> vectors, infos = envs.reset(seed=7)
    >>> vectors.shape == (2, envs.encoder.size), infos["action_mask"].shape
    (True, (2, 16))
    >>> envs.close()
    """

    def __init__(
        self,
        env: VectorEnv[tuple[str, ...], Sequence[str], Any],
        encoder: EncoderOption = None,
        dict_keys: Sequence[str] | None = None,
    ) -> None:
        self.encoder, self.dict_keys = encoder_of(encoder), checked_keys(dict_keys)
        super().__init__(env)
        self.single_observation_space, self.single_action_space = menu_spaces(self.encoder, self.dict_keys)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._menus: list[Menu] = []

    @property
    def _core(self) -> AgentWorldVectorEnv:
        core: Any = self.env.unwrapped
        return core  # type: ignore[no-any-return]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode in every member, or in those of `options["reset_mask"]`."""
        before = list(self._core.episodes)
        texts, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        if not self._menus:
            self._menus = [self._begin(index) for index in range(self.num_envs)]
        for index, episode in enumerate(before):
            if self._core.episodes[index] is not episode:
                self._menus[index] = self._begin(index)
        return self._seen(texts, infos)

    def step(
        self, actions: Sequence[int] | NDArray[np.integer[Any]]
    ) -> tuple[Seen, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Do what stands at these places of the menus, all in one wave."""
        if not self._menus:
            raise gym.error.ResetNeeded("call reset() before step() and action_masks()")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise SpecError("step", "actions", actions, f"{self.num_envs} integers")
        entries = [menu.entry(int(choice)) for menu, choice in zip(self._menus, given, strict=True)]
        before = list(self._core.episodes)
        texts, rewards, terminated, truncated, infos = self.env.step(
            [menu.action(entry) for menu, entry in zip(self._menus, entries, strict=True)]
        )
        for index, menu in enumerate(self._menus):
            if self._core.episodes[index] is before[index]:
                if not _has(infos, "failure", index):
                    menu.observe(entries[index], texts[index])
                continue
            if _has(infos, "final_obs", index):
                if not _has(infos["final_info"], "failure", index):
                    menu.observe(entries[index], infos["final_obs"][index])
                infos["final_obs"][index] = named(self.dict_keys, menu.vector(), menu.masks().astype(np.int8))
            self._menus[index] = self._begin(index)
        seen, infos = self._seen(texts, infos)
        return seen, rewards, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which choices are on offer, a row a member."""
        return np.stack([menu.masks() for menu in self._menus])

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes it again from its parts; episodes under way do not travel."""
        return type(self), (self.env, self.encoder, self.dict_keys)

    def _begin(self, index: int) -> Menu:
        episode = self._core.episodes[index]
        return Menu(self.encoder, self._core.runner.spec, episode.task, episode.observation)

    def _seen(self, texts: Sequence[str], infos: dict[str, Any]) -> tuple[Seen, dict[str, Any]]:
        masks, told = self.action_masks().astype(np.int8), np.ones(self.num_envs, bool)
        seen = named(self.dict_keys, np.stack([menu.vector() for menu in self._menus]), masks)
        shown = {"text": np.array(texts, object), "action_mask": masks}
        return seen, {**infos, **shown, **{f"_{key}": told.copy() for key in shown}}


def menu_env(
    render_mode: str | None = None,
    *,
    encoder: EncoderOption = None,
    dict_keys: Sequence[str] | None = None,
    **options: Any,
) -> MenuEnv:
    """What `gym.make` calls for an id with a menu; the options are those of `AgentWorldEnv` and of `MenuEnv`.

    >>> menu_env(spec="terminal", world="scripted", dict_keys=["obs", "mask"]).observation_space["mask"].shape
    (16,)

    Raises:
        SpecError: a spec or an option is wrong.
        WorldNotConfigured: the domain has no such world.
    """
    encoder, dict_keys = encoder_of(encoder), checked_keys(dict_keys)  # told before a world is opened
    return MenuEnv(AgentWorldEnv(render_mode, **options), encoder, dict_keys)


def menu_vector_env(
    num_envs: int = 1,
    *,
    encoder: EncoderOption = None,
    dict_keys: Sequence[str] | None = None,
    **options: Any,
) -> MenuVectorEnv:
    """What `gym.make_vec` calls for an id with a menu; options are those of `AgentWorldVectorEnv` and `MenuVectorEnv`.

    >>> menu_vector_env(3, spec="terminal", world="scripted").action_space
    MultiDiscrete([16 16 16])

    Raises:
        SpecError: a spec or an option is wrong.
        WorldNotConfigured: the domain has no such world.
    """
    encoder, dict_keys = encoder_of(encoder), checked_keys(dict_keys)
    return MenuVectorEnv(AgentWorldVectorEnv(num_envs, **options), encoder, dict_keys)


def menu_spaces(
    encoder: TextEncoder, dict_keys: Sequence[str] | None = None
) -> tuple[gym.Space[Any], gym.Space[np.int64]]:
    """What an agent sees and what it chooses from.

    >>> menu_spaces(TextEncoder(max_menu=3, word_buckets=2, role_buckets=2), ("obs", "mask"))[0]["mask"]
    Box(0, 1, (3,), int8)
    """
    vectors = gym.spaces.Box(-np.inf, np.inf, (encoder.size,), np.float32)
    masks = gym.spaces.Box(0, 1, (encoder.max_menu,), np.int8)
    return named(dict_keys, vectors, masks, gym.spaces.Dict), gym.spaces.Discrete(encoder.max_menu)


def named(dict_keys: Sequence[str] | None, vector: Any, mask: Any, form: Any = dict) -> Any:
    """The vector alone, or vector and mask by their names."""
    return vector if dict_keys is None else form({dict_keys[0]: vector, dict_keys[1]: mask})


def encoder_of(given: EncoderOption) -> TextEncoder:
    """An encoder as it is, from its fields, or the usual one.

    >>> encoder_of({"max_menu": 8}).max_menu
    8

    Raises:
        SpecError: a field that does not exist or does not fit.
    """
    if given is None or isinstance(given, TextEncoder):
        return given or TextEncoder()
    known: dict[str, Any] = {one.name: one.default for one in fields(TextEncoder)}
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise SpecError("options", "encoder", given, f"some of {', '.join(known)} by name")
    for name, value in given.items():
        wanted = type(known[name])
        if type(value) is not wanted or (wanted is int and value < 1):
            raise SpecError(
                "options", f"encoder.{name}", value, "true or false" if wanted is bool else "a number above 0"
            )
    return TextEncoder(**given)


def checked_keys(given: Sequence[str] | None) -> tuple[str, str] | None:
    """Two names for vector and mask, or None.

    Raises:
        SpecError: anything else.
    """
    if given is None:
        return None
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed or len(given) != 2 or given[0] == given[1] or not all(isinstance(key, str) for key in given):
        raise SpecError("options", "dict_keys", given, "two names, as in ('observation', 'action_mask')")
    return given[0], given[1]


def _has(infos: dict[str, Any], key: str, index: int) -> bool:
    mask = infos.get(f"_{key}")
    return mask is not None and bool(mask[index])
