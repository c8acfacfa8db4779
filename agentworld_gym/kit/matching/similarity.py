"""How much of two texts is the same, in tokens: words, numbers, spaces and single signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from rapidfuzz.distance import LCSseq

_TOKEN = re.compile(r"[^\W\d_]+|\d+|\s+|.", re.DOTALL)
LONGEST = 20_000
"""Tokens of a differing middle beyond which order no longer counts, so that the cost stays bounded."""


def similarity(one: str, other: str) -> float:
    """The edit similarity of two texts, 0 to 1: tokens in a longest common subsequence, over the mean length.

    Only insertions and deletions of tokens are edits, so that this is 1 minus their number over that of all tokens.
    It is symmetric, and 1 for equal texts alone.

    >>> similarity("total 12 files", "total 13 files"), similarity("", ""), similarity("a", "b")
    (0.8, 1.0, 0.0)
    """
    if one == other:
        return 1.0
    first, second = _TOKEN.findall(one), _TOKEN.findall(other)
    total = len(first) + len(second)
    start = _common(first, second)
    first, second = first[start:], second[start:]
    end = _common(first[::-1], second[::-1])
    first, second = first[: len(first) - end], second[: len(second) - end]
    if max(len(first), len(second)) > LONGEST:
        inner = min((Counter(first) & Counter(second)).total(), max(len(first), len(second)) - 1)
    else:
        inner = longest_common(first, second)
    return 2 * (start + end + inner) / total


def f1(given: Iterable[Hashable], right: Iterable[Hashable]) -> float:
    """F1 of some items against the right ones, in any order; repeated items count as often as they stand there.

    >>> f1("abc", "abd"), f1("", "")
    (0.6666666666666666, 1.0)
    """
    mine, theirs = Counter(given), Counter(right)
    total = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / total if total else 1.0


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of a longest common subsequence.

    >>> longest_common("AGCAT", "GAC")
    2
    """
    # rapidfuzz compares the hashes of tokens; numbers in their place make the result exact.
    numbers: dict[Hashable, int] = {}
    for token in (*first, *second):
        numbers.setdefault(token, len(numbers))
    return LCSseq.similarity([numbers[token] for token in first], [numbers[token] for token in second])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many tokens both begin with."""
    for place, (mine, theirs) in enumerate(zip(first, second, strict=False)):
        if mine != theirs:
            return place
    return min(len(first), len(second))
