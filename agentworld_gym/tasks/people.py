"""The people in generated worlds; each split has its own."""

from __future__ import annotations

from agentworld_gym.domain.task import Split
from agentworld_gym.engines.tables.word_lists import common_words

_SHARES: dict[Split, tuple[int, ...]] = {"train": (0, 1, 2, 3), "validation": (4,), "test": (5,)}
"""Which of every six people each split has."""


def people_of(split: Split) -> list[str]:
    """Return the full names of the people of a split; no name is in two splits.

    >>> set(people_of("train")) & set(people_of("test"))
    set()
    """
    return [name for place, name in enumerate(common_words()["people"]) if place % 6 in _SHARES[split]]
