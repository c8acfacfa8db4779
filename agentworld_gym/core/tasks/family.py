"""Families of tasks, and the drafts that they return."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from agentworld_gym.core.domain.task import Check, Split
from agentworld_gym.core.domain.user import Reply

LEVELS = (1, 2, 3)
"""The levels of a family's own tasks."""
COMPOSED = {4: 150, 5: 250}
"""The levels of tasks that are composed of several tasks, with their step limits."""
MENU_MIN = 8
MENU_MAX = {1: 10, 2: 12, 3: 14}
"""How many actions a menu offers at each level, `finish` among them."""


class Finding(NamedTuple):
    """Something that an agent finds out in a task."""

    what: str
    """The words for it, such as `which txt file holds amber`."""

    value: str
    """What is found out."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task that has no id and no split yet, and whose menu is not shuffled."""

    instruction: str
    state: Mapping[str, Any]
    success: tuple[Check, ...]
    expert: tuple[str, ...]
    """The actions of the expert without the closing `finish`."""
    distractors: tuple[str, ...]
    """Wrong or useless actions for the menu, among them wrong answers as `finish: …`. The most tempting ones come
    first, because a full menu drops the rest."""
    answer: str | None = None
    """The answer that the expert finishes with, if the task asks for one."""
    hidden: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[dict[str, Any], ...] = ()
    first_observation: str | None = None
    free: tuple[str, ...] = ()
    """Patterns of fields that are not compared with the state that the expert leaves; see `Task.free`."""
    free_values: tuple[str, ...] = ()
    """Patterns of fields that may hold something else than the expert leaves; see `Task.free_values`."""
    menu_max: int | None = None
    """The size of the menu; the usual size of the level if it is None."""
    found: Finding | None = None
    """What an agent finds out on the way, where the task asks for no answer: a composed task asks for it."""
    controls: Mapping[str, float] = field(default_factory=dict)
    """The strengths of the faults in force, by name."""
    user: tuple[Reply, ...] | None = None
    """What the user answers who gave the task; see `Task.user`."""
    control_seed: int | None = None
    """The seed of what the faults draw; None takes that of the episode."""

    @property
    def finish(self) -> str:
        """The expert's last action."""
        return "finish" if self.answer is None else f"finish: {self.answer}"

    def menu(self, rng: random.Random, level: int) -> tuple[str, ...]:
        """Return the actions on offer, each once, in random order."""
        size = self.menu_max or MENU_MAX[level]
        entries = list(dict.fromkeys((*self.expert, self.finish, *self.distractors)))[:size]
        rng.shuffle(entries)
        return tuple(entries)


Family = Callable[[random.Random, int, Split], TaskDraft]
"""A pure function that drafts a task from random numbers, a level from 1 to 3 and the split that the task is for."""


def by_name(*families: Family) -> Mapping[str, Family]:
    """Return families by the names of their functions."""
    return MappingProxyType({family.__name__: family for family in families})
