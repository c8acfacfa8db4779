"""Reads a change: applies it to the state before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentworld_gym.llm.prompting.changes.grammar import (
    EDIT,
    FENCE,
    INDEX,
    INSERT,
    MOVE,
    PART,
    REMOVE,
    SAME,
    ChangeError,
    joined,
    kind_of,
    moved,
    once,
    parts_of,
    split,
)


def apply(before: str, change: str) -> str:
    r"""Return the next state that a prediction in the change form stands for.

    Small errors are passed over where the intent is plain: `-3:5` for `-3..5`, a removal that repeats the line's text,
    an index in brackets that is left in, lines that go on after the last one, a missing `@@ change`, a fence around it
    all.

    >>> apply("a\nb\nc", "@@ change\n0| A\n+1| b2\n-2")
    'A\nb\nb2'
    >>> apply("a\nb\nc", "@@ same"), apply("a\nb\nc", "all new")
    ('a\nb\nc', 'all new')

    Raises:
        ChangeError: A line is no operation, names a line that does not exist, or contradicts another one.
    """
    given = change.split("\n")
    found = kind_of(given)
    if found is None:
        return change
    kind, start = found
    if kind == "full":
        return "\n".join(_unfenced(given, start))
    body = [(number, line) for number, line in enumerate(_unfenced(given, start), start + 1) if line.strip()]
    if kind == "same":
        for number, line in body:
            raise ChangeError(number, line, f"nothing after {SAME}")
        return before
    old, index = split(before)
    # An index that was left in is dropped, but where the lines themselves hold what looks like one.
    drop = bool(index) and not any(map(INDEX.match, old))
    if not start and _is_whole(body):
        lines = [_content(EDIT, line, drop) for _, line in body]
    else:
        lines = _Plan(old, drop).read(body).carried_out()
    return joined(lines, index)


@dataclass(slots=True)
class _Plan:
    """The fate of each line of a state: kept, replaced or removed; numbers are those of the state before.

    `drop` says whether an index in brackets is taken off the lines of the change.
    """

    old: list[str]
    drop: bool
    edits: dict[int, str] = field(default_factory=dict)
    parts: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    added: dict[int, list[str]] = field(default_factory=dict)

    def read(self, body: Iterable[tuple[int, str]]) -> _Plan:
        """Add the operations of a change to the plan, each with the number of its line in the text of the change."""
        for place, line in body:
            if match := EDIT.fullmatch(line):
                self._edit(place, line, int(match[1]))
            elif match := PART.fullmatch(line):
                self._part(place, line, int(match[1]), match[2])
            elif match := MOVE.fullmatch(line):
                self._move(place, line, int(match[1]), int(match[2] or match[1]), int(match[3]), int(match[4]))
            elif match := REMOVE.fullmatch(line):
                self._remove(place, line, int(match[1]), int(match[2] or match[1]))
            elif match := INSERT.fullmatch(line):
                after = -1 if match[1].lower() == "start" else self._check_line(place, line, int(match[1]))
                self.added.setdefault(after, []).append(_content(INSERT, line, self.drop))
            else:
                raise ChangeError(place, line, "`N| line`, `N~ old => new`, `-N..M`, `+N| line` or `N..M> x,y`")
        return self

    def carried_out(self) -> list[str]:
        """Return the lines of the next state."""
        lines = list(self.added.get(-1, ()))
        for number, line in enumerate(self.old):
            if number not in self.removed:
                lines.append(self.edits.get(number, line))
            lines += self.added.get(number, ())
        return lines

    def _check_line(self, place: int, line: str, number: int) -> int:
        if number >= len(self.old):
            raise ChangeError(place, line, f"the number of a line, from 0 to {len(self.old) - 1}")
        return number

    def _edit(self, place: int, line: str, number: int) -> None:
        text = _content(EDIT, line, self.drop)
        after = self.added.get(len(self.old) - 1, [])
        if number == len(self.old) + len(after):
            # The line after the last one, and so on: it is added.
            self.added.setdefault(len(self.old) - 1, []).append(text)
            return
        self._check_line(place, line, number)
        if number in self.removed or number in self.parts or self.edits.get(number, text) != text:
            raise ChangeError(place, line, f"one operation on line {number}")
        self.edits[number] = text

    def _part(self, place: int, line: str, number: int, text: str) -> None:
        self._check_line(place, line, number)
        if number in self.removed or (number in self.edits and number not in self.parts):
            raise ChangeError(place, line, f"one operation on line {number}")
        found = self.edits.get(number, self.old[number])
        old, new = parts_of(text)
        if not once(old, found):
            old, new = old.strip(), new.strip()
        if not once(old, found):
            raise ChangeError(place, line, f"a text that line {number} ({found[:80]!r}) holds exactly once before =>")
        self.edits[number] = found.replace(old, new)
        self.parts.add(number)

    def _move(self, place: int, line: str, first: int, last: int, x: int, y: int) -> None:
        for number in self._range(place, line, first, last):
            text = moved(self.edits.get(number, self.old[number]), x, y)
            if number in self.removed or (number in self.edits and number not in self.parts):
                raise ChangeError(place, line, f"one operation on line {number}")
            if text is None:
                raise ChangeError(place, line, f"lines that say where they lie, not {self.old[number][:80]!r}")
            self.edits[number] = text
            self.parts.add(number)

    def _remove(self, place: int, line: str, first: int, last: int) -> None:
        for number in self._range(place, line, first, last):
            if number in self.edits:
                raise ChangeError(place, line, f"one operation on line {number}")
            self.removed.add(number)

    def _range(self, place: int, line: str, first: int, last: int) -> range:
        self._check_line(place, line, last)
        if last < first:
            raise ChangeError(place, line, "a range from the lower number to the higher")
        return range(first, last + 1)


def _unfenced(lines: Sequence[str], start: int) -> Sequence[str]:
    """Return the lines from a place on, without a fence at the end that closes one before that place."""
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    fenced = last >= start and any(map(FENCE.fullmatch, lines[:start])) and FENCE.fullmatch(lines[last])
    return lines[start:last] if fenced else lines[start:]


def _is_whole(body: Sequence[tuple[int, str]]) -> bool:
    """Whether the lines are a full state that was written with its numbers."""
    numbers = [int(match[1]) if (match := EDIT.fullmatch(line)) else -1 for _, line in body]
    return len(numbers) > 1 and numbers == list(range(len(numbers)))


def _content(form: re.Pattern[str], line: str, drop: bool) -> str:
    match = form.fullmatch(line)
    return _bare(match[2] if match else line, drop)


def _bare(text: str, drop: bool) -> str:
    """A line without its index in brackets, where that is dropped."""
    head = INDEX.match(text) if drop else None
    return text[head.end() :] if head else text
