"""The values of cells: how typed text is read, and how values are converted and compared."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import ErrorValue

Value = str | float | bool | None
"""The value of a cell. An error value (`ErrorValue`) is a text, and an empty cell is None."""
Place = tuple[int, int]
"""The row and the column of a cell, counted from 0."""
Cells = Mapping[Place, str]
"""The texts that were typed into the cells of a sheet."""

MAX_TEXT = 1000
"""The largest number of characters in a text that a formula makes."""

_NUMBER = re.compile(r"([+-]?)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?(%?)")


@lru_cache(maxsize=16_384)
def value_of_entry(text: str) -> Value:
    """Return the value of a typed text that is no formula: a number, a truth value or a text.

    >>> [value_of_entry(entry) for entry in ("1,200.5", "12%", "true", "'007", "2026-03-04")]
    [1200.5, 0.12, True, '007', '2026-03-04']
    """
    if text.startswith("'"):
        return text[1:]
    stripped = text.strip()
    if stripped.upper() in ("TRUE", "FALSE"):
        return stripped.upper() == "TRUE"
    match = _NUMBER.fullmatch(stripped)
    if match is None or not any(letter.isdecimal() for letter in stripped):
        return text
    try:
        number = float(stripped.replace(",", "").rstrip("%"))
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return number / 100 if match[2] else number


class Failed(Exception):
    """A formula ended in an error value."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = ErrorValue(fault)


class CellArea:
    """An area as the argument of a function: its filled cells by row and column from 0, and its size."""

    __slots__ = ("cells", "columns", "rows")

    def __init__(self, cells: dict[Place, Value], rows: int, columns: int) -> None:
        self.cells, self.rows, self.columns = cells, rows, columns


def require_no_error(value: Value) -> Value:
    """Return a value that is no error value.

    Raises:
        Failed: The value is an error value.
    """
    if isinstance(value, ErrorValue):
        raise Failed(value)
    return value


def single_value(value: Value | CellArea) -> Value:
    """Return the value of a single cell.

    Raises:
        Failed: The area has several cells, or the value is an error value.
    """
    if isinstance(value, CellArea):
        if value.rows == value.columns == 1:
            return require_no_error(value.cells.get((0, 0)))
        raise Failed("#VALUE!")
    return value


def number(value: Value) -> float:
    """Return a value as a number, as an operator reads it.

    Raises:
        Failed: The value is no number.
    """
    if isinstance(value, str):
        read = value_of_entry(value)
        if isinstance(read, float):
            return read
        raise Failed("#VALUE!")
    return float(value or 0)


def truth(value: Value) -> bool:
    """Return a value as a condition."""
    return value if isinstance(value, bool) else number(value) != 0


def text(value: Value) -> str:
    """Return a value as text, as `&` joins it.

    >>> text(3.0), text(0.1 + 0.2), text(True), text(None)
    ('3', '0.3', 'TRUE', '')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return plain(value)
    return value or ""


def plain(value: float) -> str:
    """Return a number as the general format shows it."""
    rounded = round(value, 10)
    if rounded == int(rounded) and abs(rounded) < 1e15:
        return str(int(rounded))
    return f"{rounded:.10g}" if abs(rounded) < 1e15 else f"{rounded:.6g}".replace("e", "E")


def compared(left: Value, right: Value) -> int:
    """Compare two values as -1, 0 or 1: numbers come before texts, those before truth values; case is ignored."""
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
    """Return values joined to one text.

    Raises:
        Failed: The text is too long.
    """
    whole = "".join([text(value) for value in values])
    if len(whole) > MAX_TEXT:
        raise Failed("Err:513")
    return whole
