"""What a family of tasks returns, before it has an id and a shuffled menu."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agentworld_gym.domain.task import Check, Split

MENU_MIN = 8
MENU_MAX = {1: 10, 2: 12, 3: 14}
"""How many actions a menu offers at a level, `finish` among them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A task without id, split and menu order.

    `expert` leaves out the closing `finish`, which carries the `answer` where there is one. `distractors` are wrong or
    useless actions for the menu (wrong answers as `finish: …` among them), the most tempting ones first, because a full
    menu drops the rest. `menu_max` replaces the size of the menu at this level.
    """

    instruction: str
    state: Mapping[str, Any]
    success: tuple[Check, ...]
    expert: tuple[str, ...]
    distractors: tuple[str, ...]
    answer: str | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[dict[str, Any], ...] = ()
    first_observation: str | None = None
    menu_max: int | None = None

    @property
    def finish(self) -> str:
        """How the expert ends."""
        return "finish" if self.answer is None else f"finish: {self.answer}"

    def menu(self, rng: random.Random, level: int) -> tuple[str, ...]:
        """All actions on offer, each once, in random order."""
        size = self.menu_max or MENU_MAX[level]
        entries = list(dict.fromkeys((*self.expert, self.finish, *self.distractors)))[:size]
        rng.shuffle(entries)
        return tuple(entries)


Family = Callable[[random.Random, int, Split], Draft]
"""A pure function of its random numbers, a level from 1 to 3, and the split that the task is for."""


def by_name(*families: Family) -> Mapping[str, Family]:
    """Return families by the names of their functions."""
    return MappingProxyType({family.__name__: family for family in families})
