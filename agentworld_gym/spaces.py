"""Text spaces for agents that read and write any Unicode text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np


class UnicodeText(gym.Space[str]):
    """All texts of at most `max_chars` characters, the empty one too.

    Membership costs the same for every text. `sample` draws from the menu on offer, else from the examples.

    >>> space = UnicodeText(100, ("ls", "finish"), seed=1)
    >>> "any text, ☃" in space, "x" * 101 in space, space.sample() in ("ls", "finish")
    (True, False, True)
    """

    def __init__(
        self,
        max_chars: int,
        examples: Sequence[str] = ("",),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if max_chars < 0:
            raise ValueError(f"max_chars: got {max_chars}, expected a number of at least 0")
        self.max_chars = max_chars
        self.examples = tuple(text for text in examples if len(text) <= max_chars) or ("",)
        self._menu: tuple[str, ...] = ()
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """False: a text has no fixed size."""
        return False

    def offer(self, menu: Sequence[str]) -> None:
        """Sample from these texts from here on; from the examples again if there are none."""
        self._menu = tuple(text for text in menu if len(text) <= self.max_chars)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """One text of the menu or of the examples; masks are not supported."""
        if mask is not None or probability is not None:
            raise ValueError("mask, probability: a text space has no finite set of elements to mask")
        choices = self._menu or self.examples
        return choices[int(self.np_random.integers(len(choices)))]

    def contains(self, x: Any) -> bool:
        """Whether it is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_chars

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """A batch of texts as JSON-able data."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """The batch that `to_jsonable` wrote."""
        return [str(text) for text in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_chars == other.max_chars

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_chars))

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_chars})"
