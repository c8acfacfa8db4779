"""The values of the spreadsheet: how entries are read, converted and compared."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentworld_gym.engines.desktop.programs.spreadsheet.formulas import Fault

Value = str | float | bool | None
"""What a cell holds; a `Fault` is a text, None an empty cell."""
Place = tuple[int, int]
"""Row and column, from 0."""
Cells = Mapping[Place, str]
"""What was typed into the cells of one sheet."""

MAX_TEXT = 1000
"""How long a text is that a formula makes."""

_NUMBER = re.compile(r"([+-]?)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?(%?)")


@lru_cache(maxsize=16_384)
def entered(text: str) -> Value:
    """The value of an entry that is no formula: a number, a truth value or a text.

    >>> entered("1,200.5"), entered("12%"), entered("true"), entered("'007"), entered("2026-03-04")
    (1200.5, 0.12, True, '007', '2026-03-04')
    """
    if text.startswith("'"):
        return text[1:]
    stripped = text.strip()
    if stripped.upper() in ("TRUE", "FALSE"):
        return stripped.upper() == "TRUE"
    found = _NUMBER.fullmatch(stripped)
    if found is None or not any(letter.isdecimal() for letter in stripped):
        return text
    try:
        number = float(stripped.replace(",", "").rstrip("%"))
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return number / 100 if found[2] else number


class Failed(Exception):
    """A formula came to an error."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = Fault(fault)


class Table:
    """An area that a function is given: its filled cells by row and column from 0, and its size."""

    __slots__ = ("cells", "columns", "rows")

    def __init__(self, cells: dict[Place, Value], rows: int, columns: int) -> None:
        self.cells, self.rows, self.columns = cells, rows, columns


def sound(value: Value) -> Value:
    """The value, if it is no error.

    Raises:
        Failed: it is one.
    """
    if isinstance(value, Fault):
        raise Failed(value)
    return value


def single(value: Value | Table) -> Value:
    """The value of a single cell.

    Raises:
        Failed: it is an area of several, or an error.
    """
    if isinstance(value, Table):
        if value.rows == value.columns == 1:
            return sound(value.cells.get((0, 0)))
        raise Failed("#VALUE!")
    return value


def number(value: Value) -> float:
    """A value as a number, as an operator reads it.

    Raises:
        Failed: it is none.
    """
    if isinstance(value, str):
        read = entered(value)
        if isinstance(read, float):
            return read
        raise Failed("#VALUE!")
    return float(value or 0)


def truth(value: Value) -> bool:
    """A value as a condition."""
    return value if isinstance(value, bool) else number(value) != 0


def text(value: Value) -> str:
    """A value as text, as `&` joins it.

    >>> text(3.0), text(0.1 + 0.2), text(True), text(None)
    ('3', '0.3', 'TRUE', '')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return plain(value)
    return value or ""


def plain(value: float) -> str:
    """A number as the general format shows it."""
    rounded = round(value, 10)
    if rounded == int(rounded) and abs(rounded) < 1e15:
        return str(int(rounded))
    return f"{rounded:.10g}" if abs(rounded) < 1e15 else f"{rounded:.6g}".replace("e", "E")


def compared(left: Value, right: Value) -> int:
    """-1, 0 or 1: numbers come before texts, those before truth values; case does not matter."""
    if left is None:
        left = "" if isinstance(right, str) else 0.0
    if right is None:
        right = "" if isinstance(left, str) else 0.0
    a, b = _rank(left), _rank(right)
    if a != b:
        return -1 if a < b else 1
    x = left.lower() if isinstance(left, str) else float(left)
    y = right.lower() if isinstance(right, str) else float(right)
    if isinstance(x, float) and isinstance(y, float) and math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12):
        return 0
    return -1 if x < y else 0 if x == y else 1  # type: ignore[operator]


def _rank(value: Value) -> int:
    return 2 if isinstance(value, bool) else 1 if isinstance(value, str) else 0


def joined(values: Sequence[Value]) -> str:
    """Values as one text.

    Raises:
        Failed: it is too long.
    """
    whole = "".join([text(value) for value in values])
    if len(whole) > MAX_TEXT:
        raise Failed("Err:513")
    return whole
