"""Work that is done in other processes, wherever these are: what each of them needs to be able to do."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T", contravariant=True)
R = TypeVar("R", covariant=True)


class Hand(Protocol[T, R]):
    """What works in one process."""

    def work(self, items: Iterator[T]) -> Iterator[tuple[int, R]]:
        """Yield what is made of some items, each with its place among them, as they are done.

        Args:
            items: The items; each is taken when the work on it begins.
        """
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


Elsewhere = Callable[
    [Callable[[str, int], Hand[Any, Any]], Sequence[Any], int | None], Generator[tuple[int, Any], None, None]
]
"""What works on items in other processes, as `integrations.ray.spread` does. It is given a function that can be pickled
and makes a `Hand` of a process's name and of how many items it has in hand at a time; the items; and how far behind the
first item that is not done others may begin, None for any number. It yields the place of each item and what was made of
it, in the order in which they end."""
