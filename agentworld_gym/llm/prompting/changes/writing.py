"""Writes the change between two states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from agentworld_gym.llm.prompting.changes.grammar import (
    ARROW,
    CHANGE,
    FULL,
    SAME,
    kind_of,
    labelled,
    moved,
    once,
    origin,
    parts_of,
    split,
)
from agentworld_gym.llm.prompting.changes.reading import apply

_SPACED = re.compile(r"\s*\S+|\s+")
"""A word with the blanks before it; blanks at the end of a line count as a word."""

_MOST_PARTS = 4
_MOVED = 2
"""About how many characters a line costs that only moves, because one operation moves many lines."""

_PIECES = re.compile(r"[^\[\],=]+|[\[\],=]")
"""A piece of a word, or what stands between pieces."""

NONE = -1

FARTHEST = 9999
"""How many pixels a line moves at most."""

_PAIRS = 6400
"""The product of old and new lines of a changed block up to which every pairing of them is considered."""


def diff(before: str, after: str) -> str:
    r"""Write the next state in the shortest way found: a change, `@@ same`, or the full text.

    `apply(before, diff(before, after)) == after` for all texts.

    >>> before = "Cart\nTotal for 2 articles: 12.00 EUR\nA long line that stays as it is"
    >>> print(diff(before, before.replace("12", "24")))
    @@ change
    1~ 12.00 => 24.00
    >>> diff("a", "a"), diff("a", "b")
    ('@@ same', 'b')
    """
    if before == after:
        return SAME
    full = after if kind_of(after.split("\n")) is None else f"{FULL}\n{after}"
    old, index = split(before)
    new, alike = split(after) if index else (after.split("\n"), "")
    if index != alike:
        return full
    change = "\n".join([CHANGE, *_operations(old, new)])
    if len(change) >= len(full) or apply(before, change) != after:
        return full
    return change


def _operations(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The operations that lead from the old to the new lines, in the order of the old ones."""
    steps = list(_steps(old, new))
    moves = _moves(old, new, steps)
    gone: list[int] = []
    last = NONE
    for mine, its in steps:
        if its == NONE:
            gone.append(mine)
            last = mine
            continue
        if gone:
            yield f"-{_numbers(gone[0], gone[-1])}"
            gone = []
        if mine == NONE:
            yield labelled("+start" if last == NONE else f"+{last}", new[its])
            continue
        last = mine
        before = old[mine]
        if mine in moves:
            first, x, y = moves[mine]
            if first is not None:
                yield f"{_numbers(mine, first)}> {x},{y}"
            before = moved(before, x, y) or before
        if before != new[its]:
            yield from _edited(mine, before, new[its])
    if gone:
        yield f"-{_numbers(gone[0], gone[-1])}"


def _numbers(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"


def _moves(
    old: Sequence[str], new: Sequence[str], steps: Sequence[tuple[int, int]]
) -> dict[int, tuple[int | None, int, int]]:
    """How far lines move that move alike in a row: the first with the last of its row, the others with None."""
    found: dict[int, tuple[int | None, int, int]] = {}
    row: list[int] = []
    how, exact = (0, 0), False
    for mine, its in [*steps, (NONE, NONE)]:
        way = _way(mine, old[mine], new[its]) if NONE not in (mine, its) else None
        if row and (way != how or mine != row[-1] + 1):
            # A single line that does more than move is better changed as it is.
            if len(row) > 1 or exact:
                found.update({number: (row[-1] if number == row[0] else None, *how) for number in row})
            row = []
        if way is not None:
            row.append(mine)
            how, exact = way, moved(old[mine], *way) == new[its]
    return found


def _way(number: int, old: str, new: str) -> tuple[int, int] | None:
    """How far a line moves; None if it does not, or if it is shorter to write its next text whole."""
    here, there = origin(old), origin(new)
    if here is None or there is None or here == there:
        return None
    x, y = there[0] - here[0], there[1] - here[1]
    after = moved(old, x, y)
    if after is None or max(abs(x), abs(y)) > FARTHEST:
        return None
    return (x, y) if after == new or _edited(number, after, new)[0].startswith(f"{number}~") else None


def _steps(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which old line becomes which new one, in order; NONE on either side for lines that are added or removed."""
    for tag, start, stop, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(range(start, stop), range(first, last), strict=True)
        else:
            for mine, its in _paired(old[start:stop], new[first:last], len(str(stop))):
                yield mine if mine == NONE else start + mine, its if its == NONE else first + its


def _paired(old: Sequence[str], new: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """The pairing of two blocks that has the shortest operations, or the plain one in order if they are large.

    `width` is how many characters a number has.
    """
    rows, columns = len(old), len(new)
    if rows * columns > _PAIRS:
        for number in range(max(rows, columns)):
            yield number if number < rows else NONE, number if number < columns else NONE
        return
    words = [_SPACED.findall(line) for line in new]
    there = [_placed(line) for line in new]
    edit = []
    for line in old:
        here, mine = _placed(line), _SPACED.findall(line)
        costs_of_line = [
            _MOVED if here is not None and here == other else width + 3 + _distance(mine, its)
            for its, other in zip(words, there, strict=True)
        ]
        edit.append(costs_of_line)
    add = [width + 4 + len(line) for line in new]
    drop = width + 1
    # costs[i][j]: characters to turn old[i:] into new[j:].
    costs = [[sum(add[j:]) for j in range(columns + 1)] for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        costs[i][columns] = costs[i + 1][columns] + drop
        for j in range(columns - 1, -1, -1):
            costs[i][j] = min(costs[i + 1][j + 1] + edit[i][j], costs[i + 1][j] + drop, costs[i][j + 1] + add[j])
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and costs[i][j] == costs[i + 1][j + 1] + edit[i][j]:
            yield i, j
            i, j = i + 1, j + 1
        elif i < rows and costs[i][j] == costs[i + 1][j] + drop:
            yield i, NONE
            i += 1
        else:
            yield NONE, j
            j += 1


def _placed(line: str) -> str | None:
    """A line as it were if its element lay at the top left; None if it does not say where it lies."""
    here = origin(line)
    return None if here is None else moved(line, -here[0], -here[1])


def _distance(old: Sequence[str], new: Sequence[str]) -> int:
    """About how many characters an operation takes that turns the words of one line into those of another."""
    whole = sum(map(len, new))
    head, tail = _shared(old, new)
    if head + tail == 0:
        return whole
    changed = (*old[head : len(old) - tail], *new[head : len(new) - tail])
    return min(sum(map(len, changed)) + len(ARROW), whole)


def _edited(number: int, old: str, new: str) -> list[str]:
    """The shortest operations that turn one line into another: on one part, on several, or on the whole line."""
    before, after = _SPACED.findall(old), _SPACED.findall(new)
    whole = [labelled(str(number), new)]
    one = _part_of(before, after)
    ways = [[one] if one is not None else [], _each_part(before, after)]
    edits = [[f"{number}~ {part}" for part in parts] for parts in ways if parts]
    # What is copied from one line is easier than what is put together: a tie goes to the whole line.
    return min([whole, *edits], key=lambda lines: sum(map(len, lines)) + 2 * len(lines))


def _each_part(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Operations on each part that differs, one after the other; none if there are too many, or one cannot be named."""
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(start, stop, first, last) for tag, start, stop, first, last in codes if tag != "equal"]
    if not 1 < len(changed) <= _MOST_PARTS:
        return []
    # Before each of them, the line is new up to it and old from there on.
    found = [_part_of([*new[:k], *old[i:]], [*new[:m], *old[j:]]) for i, j, k, m in changed]
    return [part for part in found if part is not None] if None not in found else []


def _part_of(old: Sequence[str], new: Sequence[str]) -> str | None:
    """`old => new` for the words that differ, with so many beside them that the old ones stand once in their line."""
    head, tail = _shared(old, new)
    while True:
        before, source, behind = _trimmed(old[head : len(old) - tail])
        first, target, last = _trimmed(new[head : len(new) - tail])
        if source and target and (before, behind) == (first, last) and once(source, "".join(old)):
            source, target = _within(source, target, "".join(old))
            text = f"{source}{ARROW}{target}"
            return text if parts_of(text) == (source, target) else None
        if not head and not tail:
            return None
        head, tail = (head - 1, tail) if head else (head, tail - 1)


def _within(source: str, target: str, line: str) -> tuple[str, str]:
    """What differs in one word, such as the numbers in `bounds=[0,424][1080,592]`, if it stands once in the line."""
    if any(map(str.isspace, source + target)):
        return source, target
    old, new = _PIECES.findall(source), _PIECES.findall(target)
    head, tail = _shared(old, new)
    before, after = "".join(old[head : len(old) - tail]), "".join(new[head : len(new) - tail])
    return (before, after) if before and after and once(before, line) else (source, target)


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many words two lines share at their beginning, and at their end."""
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-tail - 1] == new[-tail - 1]:
        tail += 1
    return head, tail


def _trimmed(words: Sequence[str]) -> tuple[str, str, str]:
    """The text of some words: the blanks before it, the text, the blanks behind it."""
    text = "".join(words)
    core = text.strip()
    start = text.find(core)
    return text[:start], core, text[start + len(core) :]
