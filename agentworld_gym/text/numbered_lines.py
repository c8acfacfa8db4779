"""Lines with their numbers, as `read_file` shows them; the engine, references and drills number alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LONGEST_LINE = 2_000
"""Characters of a line that `read_file` shows."""


def numbered(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    r"""Lines with their numbers, as `cat -n` prints them, cut where they are too long.

    >>> list(numbered(["a", "b"], 9))
    ['     9\ta', '    10\tb']
    """
    return (f"{number:6}\t{line[:LONGEST_LINE]}" for number, line in enumerate(lines, first))
