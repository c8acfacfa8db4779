r"""A whole next screen with references to lines of the screen before, such as headers and menus.

    @@ screen
    @0..3                 lines 0 to 3 of the screen before
    - heading "Sent"      a line of its own, without a number
    @12..37

A line that begins with `@` and is no reference has a backslash in front.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agentworld_gym.prompting.changes.grammar import LINES, SCREEN, ChangeError
from agentworld_gym.prompting.references.contract import ESCAPE, LONGEST, MARK

LEAST = 3
"""How many lines the shortest run has that is referred to."""

OFTEN = 64
"""Places up to which some lines begin a run: each is looked at, and a page seldom repeats itself ten times."""

SHARE = 1 / 3
"""The share of the lines of a screen that references must stand for, or else none are written."""

_MARKED = re.compile(rf"\\*{MARK}")


def refer(old: Sequence[str], new: Sequence[str]) -> str | None:
    r"""Write the new lines with references to the old ones; None where these stand for too few lines.

    >>> print(refer(["head", "menu", "search", "a cart"], ["head", "menu", "search", "@home"]))
    @@ screen
    @0..2
    \@home
    """
    parts = list(_parts(old, new))
    if sum(len(part) for part in parts if isinstance(part, range)) < SHARE * len(new):
        return None
    return "\n".join([SCREEN, *map(_written, parts)])


def resolve(old: Sequence[str], body: Iterable[str], place: int) -> Iterator[str]:
    r"""Return the lines that a screen with references stands for; `place` is the number of its first line in the
    answer.

    >>> list(resolve(["head", "menu", "search"], ["@1..2", "\\@home"], 2))
    ['menu', 'search', '@home']

    Raises:
        ChangeError: A line begins like a reference and names no lines of the old screen; or the lines are too long.
    """
    room = LONGEST + 1  # The first line has no line feed before it.
    for number, line in enumerate(body, place):
        for meant in _meant(old, number, line):
            room -= len(meant) + 1
            if room < 0:
                raise ChangeError(number, line, f"a screen of at most {LONGEST:,} characters")
            yield meant


def _meant(old: Sequence[str], number: int, line: str) -> Sequence[str]:
    """The lines that one of a screen stands for, which has that number in the answer."""
    if not line.startswith(MARK):
        return [line.removeprefix(ESCAPE) if _MARKED.match(line) else line]
    found = LINES.fullmatch(line)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
    if not first <= last < len(old):
        raise ChangeError(number, line, f"`@N..M`, lines of the screen before, from 0 to {len(old) - 1}")
    return old[first : last + 1]


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[range | str]:
    """The new lines in their order: runs of old ones, and lines of their own.

    From each line on the longest run is taken, as whoever writes line by line can. Where several are as long, it is the
    next one below the last run taken, or else the topmost. No run begins with lines that stand in too many places.
    """
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for first in range(len(old) - LEAST + 1):
        places[tuple(old[first : first + LEAST])].append(first)
    at = end = 0
    while at < len(new):
        firsts = places.get(tuple(new[at : at + LEAST]), ())
        if not firsts or len(firsts) > OFTEN:
            yield new[at]
            at += 1
            continue
        found = (_run(old, new, first, at) for first in firsts)
        run = min(found, key=lambda run: (-len(run), run.start < end, run.start))
        yield run
        at, end = at + len(run), run.stop


def _run(old: Sequence[str], new: Sequence[str], first: int, at: int) -> range:
    """The numbers of the old lines, from one on, that are those of the new ones from a place on."""
    most = min(len(old) - first, len(new) - at)
    length = next((n for n in range(LEAST, most) if old[first + n] != new[at + n]), most)
    return range(first, first + length)


def _written(part: range | str) -> str:
    if isinstance(part, range):
        return f"{MARK}{part.start}..{part.stop - 1}"
    return ESCAPE + part if _MARKED.match(part) else part
