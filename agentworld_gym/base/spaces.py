"""Text spaces for agents that read and write any Unicode text."""

from __future__ import annotations

import multiprocessing
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Text
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory
from numpy.typing import NDArray


class UnicodeText(Text):
    """The space of all texts of at most `max_chars` characters, the empty one included.

    Membership costs the same for every text. Libraries that know Gymnasium's `Text` take the space for one. Its
    `character_set`, which they write down, is the printable characters of ASCII, and does not bound the texts.

    `sample` draws from the texts on offer, or else from the examples. A copy of the space offers what was on offer when
    the copy was made.

    Args:
        max_chars: The number of characters that a text may have.
        examples: The texts to draw from where none is on offer.
        seed: The seed of the draws.
        menu_id: The id of the environment that has numbers in place of these texts, for those who need numbers.

    >>> space = UnicodeText(100, ("ls", "finish"), seed=1)
    >>> "any text, ☃" in space, "x" * 101 in space, space.sample() in ("ls", "finish")
    (True, False, True)
    """

    def __init__(
        self,
        max_chars: int,
        examples: Sequence[str] = ("",),
        seed: int | np.random.Generator | None = None,
        menu_id: str | None = None,
    ) -> None:
        if max_chars < 0:
            raise ValueError(f"max_chars: got {max_chars}, expected a number of at least 0")
        self.max_chars = max_chars
        self.examples = tuple(text for text in examples if len(text) <= max_chars) or ("",)
        self.menu_id = menu_id
        self._menu: Callable[[], Sequence[str]] | tuple[str, ...] = ()
        super().__init__(max_chars, min_length=0, charset=string.printable, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """False, because a text has no fixed size."""
        return False

    @property
    def spaces(self) -> None:
        """There are no spaces in this one; Stable-Baselines3 asks for them, and the error says what it can use.

        Raises:
            TypeError: The domain has an environment of numbers; the message names its id.
            AttributeError: The domain has none; this is the error of any attribute that is not there.
        """
        if self.menu_id is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'spaces'")
        raise TypeError(
            f"Stable-Baselines3 needs numbers and this environment has texts: take {self.menu_id!r}, as in "
            f"PPO('MlpPolicy', {self.menu_id!r}), or many at once with agentworld_gym.integrations.sb3.make_sb3_env"
        )

    def offer(self, menu: Sequence[str] | Callable[[], Sequence[str]]) -> None:
        """Let `sample` draw from these texts; where there are none, it draws from the examples.

        Args:
            menu: The texts, or a function that returns those of the moment.
        """
        self._menu = menu if callable(menu) else tuple(menu)

    @property
    def offered(self) -> tuple[str, ...]:
        """The texts on offer that are not too long."""
        menu = self._menu() if callable(self._menu) else self._menu
        return tuple(text for text in menu if len(text) <= self.max_chars)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_menu": self.offered}

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return one text of those on offer, or else of the examples.

        Raises:
            ValueError: A mask or probabilities were passed.
        """
        if mask is not None or probability is not None:
            raise ValueError("mask, probability: a text space has no finite set of elements to mask")
        choices = self.offered or self.examples
        return choices[int(self.np_random.integers(len(choices)))]

    def contains(self, x: Any) -> bool:
        """Return whether a value is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_chars

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Return a batch of texts as data for JSON."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """Return the batch that `to_jsonable` wrote."""
        return [str(text) for text in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_chars == other.max_chars

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_chars))

    def __repr__(self) -> str:
        menu = "" if self.menu_id is None else f", menu_id={self.menu_id!r}"
        return f"UnicodeText({self.max_chars}{menu})"


class SharedTexts(Sequence[str]):
    """The texts that several processes write to one shared memory, read at the moment of access.

    A row of the memory holds the length of its text and then one number a character. A deep copy is a tuple.
    """

    def __init__(self, rows: NDArray[np.int32]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        row = self._rows[index]
        code: bytes = row[1 : 1 + row[0]].tobytes()
        return code.decode("utf-32-le", "surrogatepass")

    def __len__(self) -> int:
        return len(self._rows)

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


@create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array("i", n * (1 + space.max_chars))


@read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(_rows(space, shared_memory))


@write_to_shared_memory.register(UnicodeText)
def _write(space: UnicodeText, index: int, value: str, shared_memory: Any) -> None:
    if len(value) > space.max_chars:
        raise ValueError(f"a text of {len(value)} characters does not fit {space}")
    row = _rows(space, shared_memory)[index]
    row[1 : 1 + len(value)] = np.frombuffer(value.encode("utf-32-le", "surrogatepass"), "<i4")
    row[0] = len(value)


def _rows(space: UnicodeText, shared_memory: Any) -> NDArray[np.int32]:
    return np.frombuffer(shared_memory.get_obj(), "<i4").reshape(-1, 1 + space.max_chars)
