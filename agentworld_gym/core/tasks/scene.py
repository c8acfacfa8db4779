"""Scenes, the small worlds of generated tasks: what all of them share, and families that draw scenes until one fits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.family import TaskDraft

ATTEMPTS = 1000
"""The most scenes that a family draws before it gives up. Some levels need nine scenes for one that fits, so that 50
would not be enough for every seed."""

T = TypeVar("T")


class Unfit(Exception):
    """The scene that was drawn makes no good task; another one may."""


class NothingFits(RuntimeError):
    """A family found no scene that fits, in all its attempts."""


class Scene:
    """A small world that is being filled for one task, with the random numbers that decide its contents.

    Args:
        rng: The random numbers of the task.
        level: The level of the task, from 1 to 3.
        split: The split of the task.

    >>> scene = Scene(random.Random(1), 1, "train")
    >>> scene.pick(["kettle", "lamp"]), scene.mixed([1, 2], [3])
    ('kettle', [2, 1, 3])
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        self.rng, self.level, self.split = rng, level, split

    def pick(self, entries: Sequence[T]) -> T:
        """Draw one entry.

        Raises:
            Unfit: there is none.
        """
        if not entries:
            raise Unfit("nothing to pick from")
        return self.rng.choice(entries)

    def some(self, entries: Iterable[T], count: int) -> list[T]:
        """Draw several different entries, in random order.

        Raises:
            Unfit: there are fewer than that.
        """
        pool = list(entries)
        if len(pool) < count:
            raise Unfit(f"{count} wanted, {len(pool)} there")
        return self.rng.sample(pool, count)

    def mixed(self, *groups: Iterable[T]) -> list[T]:
        """Put all entries of all groups into one random order."""
        entries = [entry for group in groups for entry in group]
        self.rng.shuffle(entries)
        return entries

    def say(self, *variants: str) -> str:
        """Choose one of several ways to say the same."""
        return self.rng.choice(variants)

    def need(self, condition: object) -> None:
        """Go on only if a condition holds.

        Raises:
            Unfit: it does not hold.
        """
        if not condition:
            raise Unfit("a condition does not hold")


def alternated(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Put two lists into one, in turns; the rest of the longer one comes last.

    >>> alternated([1, 2, 3], [10])
    [1, 10, 2, 3]
    """
    pairs = [entry for pair in zip(first, second, strict=False) for entry in pair]
    return [*pairs, *first[len(second) :], *second[len(first) :]]


S = TypeVar("S", bound=Scene)
Build = Callable[[S, int], TaskDraft]
"""A function that makes a draft from a scene and a level."""


@dataclass(frozen=True)
class SceneFamily(Generic[S]):
    """A family of tasks that draws scenes until one of them fits."""

    build: Build[S]
    """The function that makes a draft from a scene and a level."""

    scene: Callable[[random.Random, int, Split], S]
    """The function that makes a scene from random numbers, a level and a split."""

    nothing: str
    """The words for an error that no scene fits, such as `no phone`."""

    @property
    def __name__(self) -> str:
        """The name of the family."""
        return self.build.__name__

    def __call__(self, rng: random.Random, level: int, split: Split) -> TaskDraft:
        """Draft a task.

        Raises:
            NothingFits: No scene fits.
        """
        for _ in range(ATTEMPTS):
            try:
                return self.build(self.scene(rng, level, split), level)
            except Unfit:
                continue
        raise NothingFits(f"{self.nothing} fits {self.__name__} at level {level}")


def family_of(
    scene: Callable[[random.Random, int, Split], S], nothing: str = "nothing"
) -> Callable[[Build[S]], SceneFamily[S]]:
    """Return the decorator that turns a function of a scene and a level into a family of tasks; see `SceneFamily`."""
    return partial(SceneFamily, scene=scene, nothing=nothing)
