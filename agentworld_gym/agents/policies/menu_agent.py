"""An agent of Stable-Baselines3 as a policy that chooses from the menus of tasks."""

from __future__ import annotations

import inspect
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.menu import Menu


@dataclass(slots=True)
class _MenuEpisode:
    """What the agent keeps of an episode."""

    menu: Menu
    """The episode seen through its menu."""

    choice: int | None = None
    """The last choice, whose outcome the menu has not seen yet; None where the episode begins."""

    state: tuple[Any, ...] | None = None
    """The state of a recurrent model; None where the episode begins."""

    dice: random.Random = field(default_factory=random.Random)
    """The random numbers of the episode."""


class MenuAgent:
    """An agent of Stable-Baselines3 that chooses from the menu, such as a `MaskablePPO`.

    An algorithm that takes no masks may choose what is not on offer; it then gets the next entry that is. A recurrent
    algorithm keeps a state for each episode. An algorithm whose training environment is a `VecNormalize` sees
    observations that are normalized by its statistics, as in training.

    Args:
        name: The name of the agent in results.
        model: A model that has `predict(vectors, deterministic=…)`, with or without `action_masks`, `state` and
            `episode_start`.
        spec: The domain.
        encoder: The encoder that the model was trained with; None takes the default with the model's number of choices.
        deterministic: Whether to take the best choice instead of drawing one.
        draw: The number of the draw. Where the model tells its `chances`, choices follow this number and the seed of
            the episode, whatever else is played.

    Raises:
        SpecError: The model was trained on other observations than those of the encoder.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        spec: DomainSpec,
        encoder: Any = None,
        deterministic: bool = True,
        draw: int = 0,
    ) -> None:
        from agentworld_gym.envs.text_encoder import TextEncoder

        self.name, self._model, self._spec, self._deterministic = name, model, spec, deterministic
        choices = getattr(model, "action_space", None)
        self._draw = draw
        self._begun: WeakKeyDictionary[Episode, int] = WeakKeyDictionary()
        self._encoder = encoder or (TextEncoder() if choices is None else TextEncoder(max_menu=int(choices.n)))
        self._parameters = set(inspect.signature(model.predict).parameters)
        observed = getattr(model, "observation_space", None)
        spaces = getattr(observed, "spaces", {None: observed})
        shapes = {key: space.shape for key, space in spaces.items() if space is not None}
        wanted = {(self._encoder.size,): "vector", (self._encoder.max_menu,): "mask"}
        self._parts = {key: wanted.get(shape) for key, shape in shapes.items()} or {None: "vector"}
        if None in self._parts.values() or "vector" not in self._parts.values() or self._parts.get(None) == "mask":
            shape = shapes.get(None, shapes)
            raise SpecError(name, "observation_space", shape, f"the {self._encoder.size} numbers of a TextEncoder")

    def begin(self, episode: Episode) -> _MenuEpisode:
        """Begin an episode, whose past the menu sees where it has one.

        An episode that is begun again draws anew, as a planner wants that draws several actions.
        """
        menu = Menu(self._encoder, self._spec, episode.task, episode.shown[0], episode.offers)
        for action, shown in zip(episode.actions, episode.shown[1:], strict=True):
            menu.observe(menu.offers.index(action) if action in menu.offers else 0, shown)
        again = self._begun.get(episode, 0)
        self._begun[episode] = again + 1
        return _MenuEpisode(menu, dice=random.Random(f"{self._draw}/{episode.seed}/{again}"))

    def act(self, episodes: Sequence[Episode], kept: Sequence[_MenuEpisode]) -> list[str]:
        """Choose the next action of every episode, with one prediction for all of them."""
        for episode, one in zip(episodes, kept, strict=True):
            if one.choice is not None:
                one.menu.observe(one.choice, episode.observation, episode.offers)
        actions = []
        for one, choice in zip(kept, self._predict(kept) if kept else (), strict=True):
            one.choice = one.menu.entry(int(choice))
            actions.append(one.menu.action(one.choice))
        return actions

    def _predict(self, kept: Sequence[_MenuEpisode]) -> Any:
        masks = np.stack([one.menu.masks() for one in kept])
        parts = {"vector": np.stack([one.menu.vector() for one in kept]), "mask": masks.astype(np.int8)}
        seen: Any = {key: parts[part or "vector"] for key, part in self._parts.items()}
        observation = self._normalized(seen.get(None, seen))
        if not self._deterministic and hasattr(self._model, "chances"):
            dealt = self._model.chances(observation, masks)
            return [one.dice.choices(range(len(row)), row)[0] for one, row in zip(kept, dealt, strict=True)]
        options: dict[str, Any] = {"deterministic": self._deterministic}
        if "action_masks" in self._parameters:
            options["action_masks"] = masks
        if "state" in self._parameters:
            options["state"] = _batched([one.state for one in kept])
        if "episode_start" in self._parameters:
            options["episode_start"] = np.array([one.choice is None for one in kept])
        choices, states = self._model.predict(observation, **options)
        if states is not None and "state" in self._parameters:
            for index, one in enumerate(kept):
                one.state = tuple([part[:, index] for part in states])
        return choices

    def _normalized(self, observation: Any) -> Any:
        """Return what the model was trained to see of an observation."""
        training = getattr(self._model, "get_vec_normalize_env", lambda: None)()
        return observation if training is None else training.normalize_obs(observation)


def _batched(states: Sequence[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """Put the states of episodes side by side on the second axis, with zeros where an episode begins."""
    first = next((state for state in states if state is not None), None)
    if first is None:
        return None
    rows = [tuple([np.zeros_like(part) for part in first]) if state is None else state for state in states]
    return tuple([np.stack(parts, axis=1) for parts in zip(*rows, strict=True)])
