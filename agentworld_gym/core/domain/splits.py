"""The splits of tasks: no two share a seed."""

from __future__ import annotations

from typing import Literal

Split = Literal["train", "validation", "test"]


def split_seed(split: Split, index: int) -> int:
    """Return the seed of a task of a split, counted from 0: of every ten seeds eight train, one validates, one tests.

    >>> [split_seed("train", i) for i in (0, 7, 8)], split_seed("validation", 3), split_seed("test", 3)
    ([0, 7, 10], 38, 39)
    """
    if split == "train":
        return 10 * (index // 8) + index % 8
    return 10 * index + (8 if split == "validation" else 9)


def split_of(seed: int) -> Split:
    """Return the split that the seed of a task belongs to.

    >>> [split_of(s) for s in (10, 38, 39)]
    ['train', 'validation', 'test']
    """
    last = seed % 10
    return "test" if last == 9 else "validation" if last == 8 else "train"
