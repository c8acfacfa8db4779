"""The grammar of the change form: markers, operations, lines and their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentworld_gym.base.errors import AnswerError

CHANGE, SAME, FULL = "@@ change", "@@ same", "@@ full"
ARROW = " => "

_MARKER = re.compile(r"\s*@@\s*(change|same|full)\s*(?:@@)?\s*", re.IGNORECASE)
FENCE = re.compile(r"\s*```\w*\s*")
_NUMBER = r"[0-9]{1,9}"
EDIT = re.compile(rf"\s*({_NUMBER}) ?\| ?(.*)")
PART = re.compile(rf"\s*({_NUMBER}) ?~ ?(.*? =>.*)")
REMOVE = re.compile(rf"\s*-\s*({_NUMBER})(?:\s*(?:\.\.+|:|-)\s*-?({_NUMBER}))?\s*(?:\|.*)?")
INSERT = re.compile(rf"\s*\+\s*({_NUMBER}|start) ?\| ?(.*)", re.IGNORECASE)
MOVE = re.compile(rf"\s*({_NUMBER})(?:\s*(?:\.\.+|:|-)\s*({_NUMBER}))? ?> ?(-?[0-9]{{1,5}}), ?(-?[0-9]{{1,5}})\s*")
INDEX = re.compile(rf"\[ *{_NUMBER}\] (?:\| )?")
_INDICES = ("[{}] ", "[{:2}] | ")
"""The ways in which a line begins with its index."""

_OPERATIONS = (EDIT, PART, MOVE, REMOVE, INSERT)

# An element has its bounds at the end of its line or before its flags, or its position before its size.
_BOUNDS = re.compile(
    r"(?:(?<=\[)|(?<= - \()|(?<= bounds=))(-?[0-9]{1,6}),(-?[0-9]{1,6})(\]\[|,)(-?[0-9]{1,6}),(-?[0-9]{1,6})"
    r"(?=(?:\](?: \| [a-z_, ]+)?|\))?\Z)"
)
_POSITION = re.compile(r"\((-?[0-9]{1,6}), (-?[0-9]{1,6})\)(?=\t\([0-9]+, [0-9]+\)\Z)")


class ChangeError(AnswerError):
    """A change does not fit the state that it is applied to; the error names its line and what was expected."""

    def __init__(self, place: int, line: str, expected: str) -> None:
        self.place, self.line, self.expected = place, line, expected
        shown = line if len(line) <= 60 else line[:57] + "..."
        super().__init__(f"the change, line {place}: got {shown!r}, expected {expected}")

    def __reduce__(self) -> tuple[type[ChangeError], tuple[int, str, str]]:
        return type(self), (self.place, self.line, self.expected)


def numbered(state: str) -> str:
    r"""Number the lines of a state, as a model is shown them.

    >>> print(numbered("- list\n  - item"))
    0| - list
    1|   - item
    >>> print(numbered('[ 0] | a.Button | text="A"\n[ 1] | a.Button | text="B"'))
    0| a.Button | text="A"
    1| a.Button | text="B"
    """
    lines, _ = split(state)
    return "\n".join(labelled(str(number), line) for number, line in enumerate(lines))


def split(state: str) -> tuple[list[str], str]:
    """Split a state into lines, without their index if all have one; also returns how it is written, "" for none."""
    lines = state.split("\n")
    for index in reversed(_INDICES):
        heads = [index.format(number) for number in range(len(lines))]
        if all(map(str.startswith, lines, heads)):
            return [line[len(head) :] for line, head in zip(lines, heads, strict=True)], index
    return lines, ""


def joined(lines: Sequence[str], index: str) -> str:
    """Join lines to a state, each with its index, which is written in the way that `split` returned."""
    return "\n".join([index.format(number) + line for number, line in enumerate(lines)] if index else lines)


def labelled(label: str, line: str) -> str:
    """Put a label, which is a number or an operation, before a line."""
    return f"{label}| {line}" if line else f"{label}|"


def kind_of(lines: Sequence[str]) -> tuple[str, int] | None:
    """Return the kind of an answer (`change`, `same` or `full`) and the line where its body starts.

    The result is None for a full state without a marker.
    """
    said = [number for number, line in enumerate(lines[:8]) if line.strip()][:2]
    if len(said) == 2 and FENCE.fullmatch(lines[said[0]]):
        del said[0]
    if not said:
        return None
    marker = _MARKER.fullmatch(lines[said[0]])
    if marker:
        return marker[1].lower(), said[0] + 1
    return ("change", 0) if any(form.fullmatch(lines[said[0]]) for form in _OPERATIONS) else None


def parts_of(text: str) -> tuple[str, str]:
    """Return the old and the new text of an operation on a part of a line."""
    old, arrow, new = text.partition(ARROW)
    return (old, new) if arrow else (text.removesuffix(ARROW.rstrip()), "")


def once(part: str, text: str) -> bool:
    """Whether a part stands at just one place of a text."""
    place = text.find(part)
    return bool(part) and place >= 0 and text.find(part, place + 1) < 0


def origin(line: str) -> tuple[int, int] | None:
    """Return the left and the top of the element of a line, in pixels; None if the line does not hold them.

    >>> origin('text="A" | bounds=[0,40][90,80]'), origin("icon\\tA\\t(12, 5)\\t(64, 64)"), origin("- button")
    ((0, 40), (12, 5), None)
    """
    found = _BOUNDS.search(line) or _POSITION.search(line)
    return (int(found[1]), int(found[2])) if found else None


def moved(line: str, x: int, y: int) -> str | None:
    """Move the element of a line by some pixels; None if the line does not hold its position.

    >>> moved('text="A" | bounds=[0,40][90,80] | clickable', 0, -30)
    'text="A" | bounds=[0,10][90,50] | clickable'
    """
    if found := _BOUNDS.search(line):
        left, top, right, bottom = (int(found[group]) for group in (1, 2, 4, 5))
        corners = f"{left + x},{top + y}{found[3]}{right + x},{bottom + y}"
        return line[: found.start()] + corners + line[found.end() :]
    if found := _POSITION.search(line):
        return f"{line[: found.start()]}({int(found[1]) + x}, {int(found[2]) + y}){line[found.end() :]}"
    return None
