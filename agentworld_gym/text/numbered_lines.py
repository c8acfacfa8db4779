"""Lines with their numbers, as `read_file` shows them and as references name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LONGEST_LINE = 2_000
"""How many characters of a line `read_file` shows."""


def numbered(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    r"""Number lines as `cat -n` does, and cut those that are too long.

    >>> list(numbered(["a", "b"], 9))
    ['     9\ta', '    10\tb']
    """
    return (f"{number:6}\t{line[:LONGEST_LINE]}" for number, line in enumerate(lines, first))
