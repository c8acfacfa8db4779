"""The words of drills: names and values that are drawn at random."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

_RARE = 0.15
"""The share of the words that are random letters."""


class Words:
    """Draws names and values from some words, from letters and from digits.

    >>> len(Words(["red", "green", "blue"], random.Random(0)).names(5))
    5
    """

    def __init__(self, words: Sequence[str], rng: random.Random) -> None:
        self._words, self._rng = words, rng

    def word(self) -> str:
        """Return a word."""
        if self._rng.random() < _RARE:
            return "".join(self._rng.choices(string.ascii_lowercase, k=self._rng.randint(2, 7)))
        return self._rng.choice(self._words)

    def value(self) -> str:
        """Return a word, some words, or a number."""
        chance = self._rng.random()
        if chance < 0.3:
            return str(self._rng.randrange(10 ** self._rng.randint(1, 5)))
        return " ".join(self.word() for _ in range(1 if chance < 0.6 else self._rng.randint(2, 5)))

    def names(self, count: int) -> list[str]:
        """Return so many different words."""
        names: dict[str, None] = {}
        while len(names) < count:
            names[self.word() + ("" if self._rng.random() < 0.7 else str(self._rng.randrange(100)))] = None
        return list(names)
