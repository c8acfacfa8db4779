"""The change form at its most predictable, for small models.

The shortest change between two screens may pair lines that have little to do with each other, which a small model
cannot foresee. Here a screen that changes in a few places is written as `diff` does, and any other one in full: with
references to the one before where the two share much (see `screen_references`), else with numbers.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from agentworld_gym.prompting.changes import screen_references
from agentworld_gym.prompting.changes.grammar import (
    CHANGE,
    FULL,
    INDEX,
    INSERT,
    MOVE,
    REMOVE,
    SAME,
    SCREEN,
    kind_of,
    moved,
    numbered,
    origin,
    split,
)
from agentworld_gym.prompting.changes.reading import apply
from agentworld_gym.prompting.changes.writing import diff
from agentworld_gym.prompting.references.contract import LONGEST

FEW = 8
"""How many operations a screen may take to count as changed in a few places."""


@lru_cache(maxsize=256)
def predictable_diff(before: str, after: str) -> str:
    r"""Write the next state as a few operations, or in full with references or numbers.

    `apply(before, predictable_diff(before, after)) == after` for all texts. The last results are kept: a turn is told,
    put into the history and followed by one that asks what it moved.

    >>> before = "\n".join(["a long head", *"abcdefghij", "a long foot"])
    >>> print(predictable_diff(before, before.replace("c", "C")))
    @@ change
    3| C
    >>> print(predictable_diff(before, before.upper()).replace("\n", "  "))
    0| A LONG HEAD  1| A  2| B  3| C  4| D  5| E  6| F  7| G  8| H  9| I  10| J  11| A LONG FOOT
    >>> print(predictable_diff(before, "\n".join([*"ABCDEFGHI", *before.split("\n")[6:]])).replace("\n", "  "))
    @@ screen  A  B  C  D  E  F  G  H  I  @6..11
    """
    if before == after:
        return SAME
    if not _mostly_new(before, after):
        short = diff(before, after)
        if short.startswith(CHANGE) and short.count("\n") <= FEW:
            return short
    (old, index), (new, alike) = split(before), split(after)
    referred = screen_references.refer(old, new) if index == alike and len(after) <= LONGEST else None
    if referred and apply(before, referred) == after:
        return referred
    full = numbered(after)
    if apply(before, full) == after:
        return full
    return after if kind_of(after.split("\n")) is None else f"{FULL}\n{after}"


def _mostly_new(before: str, after: str) -> bool:
    """Whether more lines are new than a few operations can write; an operation may move many, but write only one."""
    left = Counter(map(_anywhere, before.split("\n")))
    left.subtract(map(_anywhere, after.split("\n")))
    return -sum(count for count in left.values() if count < 0) > FEW


def _anywhere(line: str) -> str:
    """A line without its number, as if its element lay at the top left."""
    here = origin(line)
    placed = None if here is None else moved(line, -here[0], -here[1])
    text = placed or line
    index = INDEX.match(text)
    return text[index.end() :] if index else text


def renumbers(change: str) -> bool:
    r"""Whether lines have other numbers or places after a change, so that a screen has to be shown again.

    A screen with references has no numbers of its own.

    >>> renumbers("@@ change\n3| C"), renumbers("@@ change\n-3"), renumbers("@@ screen\n@3..5"), renumbers("0| a\n1| b")
    (False, True, True, False)
    """
    header, *lines = change.split("\n")
    if header == CHANGE:
        return any(form.fullmatch(line) for line in lines for form in (INSERT, REMOVE, MOVE))
    return header == SCREEN
