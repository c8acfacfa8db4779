"""Attempts: actions that a curious agent tries and that cannot be done, or that change nothing.

Who follows a task never types the name of a file that is not there. A world model that learned from such sessions alone
lets everything succeed. So a third of the actions of the policy `refusals` are attempts, between the steps of a task.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from agentworld_gym.agents.policies.exploring.base import Explorer
from agentworld_gym.agents.policies.exploring.explorers import beside
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.domain.task import Split, Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.kit.vocabulary import FOLDERS, STEMS, WORDS

SHARE = 1 / 3
"""The share of attempts among all actions of a session."""

PARTS_OF_SPLIT: Mapping[Split, tuple[int, ...]] = {"train": (0, 1), "validation": (2,), "test": (3,)}
"""The remainders of the digests of the made-up words of each split, of four."""

_SYLLABLES = re.findall("..", "bacadafegohijokalumiopaquresutivowuxyzetomapidexnogarubrsto")
_NAMES = re.compile(r"[\w.-]+")

Phrasing = Callable[[Any], str | None]
"""A function of the explorer that returns an action; None where no such action is possible now."""


@lru_cache(maxsize=4)
def listed(split: Split) -> tuple[str, ...]:
    """Return the words of lists that attempts of a split are made of; no training task draws those of another.

    >>> set(listed("train")) & set(listed("test"))
    set()
    """
    pools = (WORDS, STEMS, FOLDERS)
    trained = {word for pool in pools for word in pool} if split != "train" else set()
    return tuple(word for pool in pools for word in pool.of(split) if word not in trained)


class Attempt(str):
    """An action that is an attempt.

    >>> Attempt("cd /nope", "missing folder").kind
    'missing folder'
    """

    __slots__ = ("kind",)

    kind: str
    """The kind of the attempt."""

    def __new__(cls, action: str, kind: str) -> Attempt:
        """Make an attempt of an action."""
        made = super().__new__(cls, action)
        made.kind = kind
        return made


class StrangeNames:
    """A source of names that nothing in a task has, in words of the task's split.

    Args:
        task: The task.
        rng: The source of all random draws.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        self._rng, self._split = rng, task.split
        self._known = set(_NAMES.findall(json.dumps(task.state, default=str, ensure_ascii=False).lower()))

    @property
    def word(self) -> str:
        """A word in small letters: one of the lists that the tasks of the split draw from, or a made-up one."""
        for _ in range(64):
            word = self._rng.choice(listed(self._split)) if self._rng.random() < 0.5 else self._made_up()
            if word not in self._known:
                return word
        return f"no-{self._made_up()}"

    @property
    def number(self) -> int:
        """A large number, of the parity that the split has."""
        return self._rng.randrange(400, 990, 2) + (self._split != "train")

    @property
    def file(self) -> str:
        """The name of a file."""
        return f"{self.word}.{self._rng.choice(('txt', 'log', 'csv', 'md', 'py', 'json'))}"

    def near(self, name: str) -> str:
        """Return a name with an error of typing; a strange one where that is too short, or has no error left."""
        places = [place for place in range(len(name) - 1) if name[place].isalpha() and name[place + 1].isalpha()]
        if places:
            place = self._rng.choice(places)
            wrong = self._rng.choice(
                (
                    name[:place] + name[place + 1] + name[place] + name[place + 2 :],
                    name[:place] + name[place + 1 :],
                    name[: place + 1] + name[place:],
                )
            )
            if not set(_NAMES.findall(wrong.lower())) <= self._known:
                return wrong
        return self.word

    def _made_up(self) -> str:
        while True:
            word = "".join(self._rng.choices(_SYLLABLES, k=self._rng.randint(2, 4)))
            if int(digest_of(word)[-1], 16) % 4 in PARTS_OF_SPLIT[self._split]:
                return word


class Refusals(Explorer):
    """An explorer that makes attempts alone. It is the first base of a class that has the explorer of its domain beside
    it."""

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]]
    """The phrasings of each kind. Where a kind has several, the last one is played in no training task."""

    look: ClassVar[str | None] = None
    """An action that shows the screen and changes nothing; None where a screen is nothing."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self.names = StrangeNames(task, rng)

    def choices(self) -> tuple[str, ...]:
        """Return what to try next."""
        return tuple(Explorer.choices(self))

    def way_back(self) -> str | None:
        """Return the next step back from where an attempt led; None where there is none."""
        return self._planned.pop(0) if self._planned else None

    def draft(self) -> str:
        """Draft one attempt of a kind that is possible now.

        Raises:
            SpecError: No kind is.
        """
        kinds = list(self.kinds)
        self.rng.shuffle(kinds)
        for kind in kinds:
            for phrasing in self._played(self.kinds[kind]):
                action = phrasing(self)
                if action is not None:
                    return Attempt(action, kind)
        raise SpecError(self.task.id, "attempts", list(self.kinds), "one that is possible")

    def _played(self, phrasings: Sequence[Phrasing]) -> list[Phrasing]:
        """Return phrasings in the order in which they are tried: elsewhere than in training, the last one first in half
        of the cases."""
        usual = list(phrasings[:-1]) or list(phrasings)
        self.rng.shuffle(usual)
        if self.task.split == "train" or len(phrasings) == 1:
            return usual
        held_out = phrasings[-1]
        return [held_out, *usual] if self.chance(0.5) else [*usual, held_out]


def refusals(task: Task, rng: random.Random) -> Refusals:
    """Return who makes attempts in a task.

    Raises:
        SpecError: Nobody does in its domain.
    """
    domain = find_domain(task.domain)
    if domain is None or domain.refusals is None:
        raise SpecError(task.id, "policy", "refusals", "a domain that names its `refusals`")
    made: Refusals = domain.part("refusals")(task, rng)
    return made


def refused_beside(actions: ActionStream, trying: Refusals, rng: random.Random) -> ActionStream:
    """Follow another agent, with attempts before, between and after its actions: a third of all (see `beside`).

    Args:
        actions: The other agent.
        trying: Who makes the attempts.
        rng: The source of the random draws.
    """
    if trying.look is not None:
        trying.see(trying.look, (yield trying.look))
    yield from beside(actions, trying, lambda: _some(trying, rng), lambda: _some(trying, rng))


def _some(trying: Refusals, rng: random.Random) -> ActionStream:
    while rng.random() < SHARE:
        (action,) = trying.choices()
        trying.see(action, (yield action))
        while (step := trying.way_back()) is not None:
            trying.see(step, (yield step))
