"""Environments with numbers in place of texts: actions are choices from a menu, and observations are vectors.

    env = gym.make("AgentWorld/TerminalMenu-v0")
    envs = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=16)

They need no extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.text_encoder import TextEncoder, Vector
from agentworld_gym.envs.vector import AgentWorldVectorEnv

EncoderOption = TextEncoder | Mapping[str, Any] | None
VectorObservation = Vector | dict[str, NDArray[Any]]
AnyWrapper = gym.Wrapper[Any, Any, Any, Any]


class MenuEnv(AnyWrapper, RecordConstructorArgs):
    """A single environment whose actions are choices from the task's menu and whose observations are vectors.

    `info["action_mask"]` says which choices there are (1) and which there are not (0), after `reset` and after every
    `step`, and `info["text"]` is the observation as text. `action_masks()` is what `MaskablePPO` asks for. At the end
    of an episode `info["is_success"]` is its success, by the name that Stable-Baselines3 reads.

    Args:
        env: The environment of texts.
        encoder: The encoder that makes vectors of texts: a `TextEncoder`, or its fields by name.
        dict_keys: Two names; observations are then dictionaries that hold the vector and the mask by these names.

    Raises:
        SpecError: The encoder or the names do not fit.

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
            gym.error.ResetNeeded: `reset()` was not called yet.
        """
        if self._menu is None:
            raise gym.error.ResetNeeded("call reset() before step() and action_masks()")
        return self._menu

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[VectorObservation, dict[str, Any]]:
        """Begin an episode; see `AgentWorldEnv.reset`."""
        text, info = self.env.reset(seed=seed, options=options)
        core: Any = self.env.unwrapped
        self._menu = Menu(self.encoder, core.domain, core.task, text, info.get("admissible"))
        return self._observation(text, info)

    def step(self, action: int) -> tuple[VectorObservation, float, bool, bool, dict[str, Any]]:
        """Do what stands at a place of the menu.

        Args:
            action: The place of a choice in the menu.

        Returns:
            The observation, the reward, whether the episode terminated, whether it was truncated, and `info`.

        Raises:
            SpecError: The action is no integer.
        """
        choice = np.asarray(action)
        if choice.size != 1 or not np.issubdtype(choice.dtype, np.integer):
            raise SpecError("step", "action", action, "an integer, the place of a choice in the menu")
        entry = self.menu.entry(int(choice.item()))
        text, reward, terminated, truncated, info = self.env.step(self.menu.action(entry))
        if "failure" not in info:
            self.menu.observe(entry, text, info.get("admissible"))
        vector, info = self._observation(text, info)
        if (terminated or truncated) and "success" in info:
            info["is_success"] = info["success"]
        return vector, float(reward), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which choices this episode's menu has on offer."""
        return self.menu.masks()

    def _observation(self, text: str, info: dict[str, Any]) -> tuple[VectorObservation, dict[str, Any]]:
        mask = self.menu.masks().astype(np.int8)
        return named(self.dict_keys, self.menu.vector(), mask), {**info, "text": text, "action_mask": mask}


class MenuVectorEnv(VectorWrapper[Any, Any, Any, Any, Any]):
    """Many environments whose actions are choices from menus and whose observations are vectors.

    Every step asks the world once. `infos["action_mask"]` has a row of choices for every member, and `infos["text"]`
    its observation as text. Where members are reset in the step that ends them, `infos["final_obs"]` holds the last
    observation of the episode that ended.

    Args:
        env: The vector environment of texts, as `gym.make_vec` makes it.
        encoder: The encoder that makes vectors of texts: a `TextEncoder`, or its fields by name.
        dict_keys: Two names; observations are then dictionaries that hold the vectors and the masks by these names.

    Raises:
        SpecError: The encoder or the names do not fit.

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
    ) -> tuple[VectorObservation, dict[str, Any]]:
        """Begin an episode in every member, or in those of `options["reset_mask"]`; see `AgentWorldVectorEnv.reset`."""
        before = list(self._core.episodes)
        texts, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        if not self._menus:
            self._menus = [self._begin(index) for index in range(self.num_envs)]
        for index, episode in enumerate(before):
            if self._core.episodes[index] is not episode:
                self._menus[index] = self._begin(index)
        return self._observation(texts, infos)

    def step(
        self, actions: Sequence[int] | NDArray[np.integer[Any]]
    ) -> tuple[VectorObservation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Do what stands at some places of the menus, all in one wave.

        Args:
            actions: The place of a choice in each member's menu.

        Returns:
            The observations, the rewards, which members terminated, which were truncated, and `infos`.

        Raises:
            SpecError: There is not one integer a member.
            gymnasium.error.ResetNeeded: `reset()` was not called yet.
        """
        if not self._menus:
            raise gym.error.ResetNeeded("call reset() before step() and action_masks()")
        choices = np.asarray(actions)
        if choices.shape != (self.num_envs,) or not np.issubdtype(choices.dtype, np.integer):
            raise SpecError("step", "actions", actions, f"{self.num_envs} integers")
        entries = [menu.entry(int(choice)) for menu, choice in zip(self._menus, choices, strict=True)]
        before = list(self._core.episodes)
        texts, rewards, terminated, truncated, infos = self.env.step(
            [menu.action(entry) for menu, entry in zip(self._menus, entries, strict=True)]
        )
        for index, menu in enumerate(self._menus):
            if self._core.episodes[index] is before[index]:
                if not _has(infos, "failure", index):
                    menu.observe(entries[index], texts[index], _of(infos, index))
                continue
            if _has(infos, "final_obs", index):
                if not _has(infos["final_info"], "failure", index):
                    offered = _of(infos["final_info"], index)
                    menu.observe(entries[index], infos["final_obs"][index], offered)
                infos["final_obs"][index] = named(self.dict_keys, menu.vector(), menu.masks().astype(np.int8))
            self._menus[index] = self._begin(index)
        vectors, infos = self._observation(texts, infos)
        return vectors, rewards, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which choices are on offer, a row a member."""
        return np.stack([menu.masks() for menu in self._menus])

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """The way in which a member that has ended is reset."""
        return self._core.autoreset_mode

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute of every member, or what its method `render` or `action_masks` returns.

        Beside `action_masks`, the `menu` and the spaces, which are those of a `MenuEnv`, it is what
        `AgentWorldVectorEnv.call` returns.

        Raises:
            AttributeError: A member has no such attribute.
            gymnasium.error.ResetNeeded: It is one of an episode, and `reset()` was not called yet.
        """
        if name in ("action_space", "observation_space"):
            return (getattr(self, f"single_{name}"),) * self.num_envs
        if name not in ("action_masks", "menu"):
            try:
                return self._core.call(name, *args, **kwargs)
            except AttributeError as error:
                names = ", ".join(sorted({*self._core.names_of_members(), "action_masks"}))
                raise AttributeError(f"a member has no {name!r}; it has {names}") from error
        if not self._menus:
            raise gym.error.ResetNeeded(f"call reset() before {name}")
        return tuple([menu.masks() if name == "action_masks" else menu for menu in self._menus])

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every member; see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Keep a value for every member, which `get_attr` returns; see `AgentWorldVectorEnv.set_attr`."""
        if name == "action_masks":
            raise AttributeError(f"{name!r} of a member cannot be set")
        self._core.set_attr(name, values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes the environment again from its parts; episodes under way do not travel."""
        return type(self), (self.env, self.encoder, self.dict_keys)

    def _begin(self, index: int) -> Menu:
        episode = self._core.episodes[index]
        return Menu(self.encoder, self._core.runner.spec, episode.task, episode.observation, episode.offers)

    def _observation(self, texts: Sequence[str], infos: dict[str, Any]) -> tuple[VectorObservation, dict[str, Any]]:
        masks, everyone = self.action_masks().astype(np.int8), np.ones(self.num_envs, bool)
        vectors = named(self.dict_keys, np.stack([menu.vector() for menu in self._menus]), masks)
        added = {"text": np.array(texts, object), "action_mask": masks}
        return vectors, {**infos, **added, **{f"_{key}": everyone.copy() for key in added}}


def menu_env(
    render_mode: str | None = None,
    *,
    encoder: EncoderOption = None,
    dict_keys: Sequence[str] | None = None,
    **options: Any,
) -> MenuEnv:
    """Make an environment for an id with a menu, as `gym.make` does.

    Args:
        render_mode: The mode of `render`; see `AgentWorldEnv`.
        encoder: The encoder that makes vectors of texts: a `TextEncoder`, or its fields by name.
        dict_keys: Two names; observations are then dictionaries that hold the vector and the mask by these names.
        options: The options of `agentworld_gym.envs.options.EnvOptions`.

    >>> menu_env(spec="terminal", world="scripted", dict_keys=["obs", "mask"]).observation_space["mask"].shape
    (16,)

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.
    """
    encoder, dict_keys = encoder_of(encoder), checked_keys(dict_keys)  # Errors are raised before a world is opened.
    return MenuEnv(AgentWorldEnv(render_mode, **options), encoder, dict_keys)


def menu_vector_env(
    num_envs: int = 1,
    *,
    encoder: EncoderOption = None,
    dict_keys: Sequence[str] | None = None,
    **options: Any,
) -> MenuVectorEnv:
    """Make a vector environment for an id with a menu, as `gym.make_vec` does.

    Args:
        num_envs: The number of episodes.
        encoder: The encoder that makes vectors of texts: a `TextEncoder`, or its fields by name.
        dict_keys: Two names; observations are then dictionaries that hold the vectors and the masks by these names.
        options: The options of `AgentWorldVectorEnv`.

    >>> menu_vector_env(3, spec="terminal", world="scripted").action_space
    MultiDiscrete([16 16 16])

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.
    """
    encoder, dict_keys = encoder_of(encoder), checked_keys(dict_keys)
    return MenuVectorEnv(AgentWorldVectorEnv(num_envs, **options), encoder, dict_keys)


def menu_spaces(
    encoder: TextEncoder, dict_keys: Sequence[str] | None = None
) -> tuple[gym.Space[Any], gym.Space[np.int64]]:
    """Return the spaces of observations and of actions.

    >>> menu_spaces(TextEncoder(max_menu=3, word_buckets=2, role_buckets=2), ("obs", "mask"))[0]["mask"]
    Box(0, 1, (3,), int8)
    """
    vectors = gym.spaces.Box(-np.inf, np.inf, (encoder.size,), np.float32)
    masks = gym.spaces.Box(0, 1, (encoder.max_menu,), np.int8)
    return named(dict_keys, vectors, masks, gym.spaces.Dict), gym.spaces.Discrete(encoder.max_menu)


def named(dict_keys: Sequence[str] | None, vector: Any, mask: Any, form: Any = dict) -> Any:
    """Return the vector alone, or the vector and the mask by their names."""
    return vector if dict_keys is None else form({dict_keys[0]: vector, dict_keys[1]: mask})


def encoder_of(option: EncoderOption) -> TextEncoder:
    """Return the encoder that an option names: itself, one with these fields, or for None the default one.

    >>> encoder_of({"max_menu": 8}).max_menu
    8

    Raises:
        SpecError: A field does not exist, or its value does not fit.
    """
    if option is None or isinstance(option, TextEncoder):
        return option or TextEncoder()
    defaults: dict[str, Any] = {one.name: one.default for one in fields(TextEncoder)}
    if not isinstance(option, Mapping) or not set(option) <= set(defaults):
        raise SpecError("options", "encoder", option, f"some of {', '.join(defaults)} by name")
    for name, value in option.items():
        wanted = type(defaults[name])
        if type(value) is not wanted or (wanted is int and value < 1):
            raise SpecError(
                "options", f"encoder.{name}", value, "true or false" if wanted is bool else "a number above 0"
            )
    return TextEncoder(**option)


def checked_keys(keys: Sequence[str] | None) -> tuple[str, str] | None:
    """Return the names of the vector and the mask, or None.

    Raises:
        SpecError: The option is neither two different names nor None.
    """
    if keys is None:
        return None
    listed = isinstance(keys, Sequence) and not isinstance(keys, str)
    if not listed or len(keys) != 2 or keys[0] == keys[1] or not all(isinstance(key, str) for key in keys):
        raise SpecError("options", "dict_keys", keys, "two names, as in ('observation', 'action_mask')")
    return keys[0], keys[1]


def _has(infos: dict[str, Any], key: str, index: int) -> bool:
    mask = infos.get(f"_{key}")
    return mask is not None and bool(mask[index])


def _of(infos: dict[str, Any], index: int) -> Sequence[str] | None:
    """Return the actions that a member can do, where its world tells them."""
    return infos["admissible"][index] if _has(infos, "admissible", index) else None
