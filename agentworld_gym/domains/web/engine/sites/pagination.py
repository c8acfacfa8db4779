"""Lists that are shown a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list: its rows, the number of all rows, and the URLs of the other pages.

    >>> listing = Listing([1, 2], total=5, page=1, size=2, path="/new", query=(("q", "x"),))
    >>> listing.pages, listing.link(2), list(listing)
    (3, '/new?q=x&page=2', [1, 2])
    """

    rows: Sequence[Any]
    total: int
    page: int
    size: int
    path: str
    query: tuple[tuple[str, str], ...]

    @property
    def pages(self) -> int:
        """The number of pages, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def start(self) -> int:
        """The number of the first row on the page, counted from 1."""
        return (self.page - 1) * self.size + 1

    @property
    def numbers(self) -> list[int]:
        """The numbers of the pages that get a link: the first, the last, and those near this one."""
        return [n for n in range(1, self.pages + 1) if n in (1, self.pages) or abs(n - self.page) <= 2]

    def link(self, page: int) -> str:
        """Return the URL of a page."""
        pairs = [(name, value) for name, value in self.query if name != "page" and value]
        return f"{self.path}?{urlencode([*pairs, ('page', str(page))])}"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
