"""Lines with their numbers, as tools show them and as references name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

LONGEST_LINE = 2_000
"""How many characters of a line a tool shows."""

NumberMark = Literal["\t", "→"]
"""What stands between a number and its line: the tab of `cat -n`, or the arrow of Claude Code's tools."""


def numbered(lines: Iterable[str], first: int = 1, mark: NumberMark = "\t") -> Iterator[str]:
    r"""Number lines as `cat -n` does, and cut those that are too long.

    >>> list(numbered(["a", "b"], 9)), list(numbered(["a"], mark="→"))
    (['     9\ta', '    10\tb'], ['     1→a'])
    """
    return (f"{number:6}{mark}{line[:LONGEST_LINE]}" for number, line in enumerate(lines, first))
