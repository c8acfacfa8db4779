"""How close an answer in words comes to the right one: numbers with a tolerance, lists and tables by F1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_NUMBER = re.compile(r"[-+]?\d(?:[\d, _]*\d)?(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_SPACE = re.compile(r"\s+")
_EDGES = " \t\r\n\"'`*.,;:"


def normalised(text: str) -> str:
    """Text as it is compared: case folded, white space single, no quotes or stops around it; a plain number as such.

    >>> normalised(' "Aldermoor  Glassworks." '), normalised("1,200.0")
    ('aldermoor glassworks', '1200')
    """
    plain = _SPACE.sub(" ", text).strip(_EDGES).casefold()
    number = _plain_number(plain)
    return plain if number is None else f"{number:.12g}"


def number_in(text: str) -> float | None:
    """The only number in a text; None where there is none, or more than one that differ.

    >>> number_in("about 1,234.5 m"), number_in("3 of 4"), number_in("none")
    (1234.5, None, None)
    """
    found = {_number(match) for match in _NUMBER.findall(text)}
    return found.pop() if len(found) == 1 else None


def close(text: str, number: float, tolerance: float = 0.0) -> bool:
    """Whether a text holds one number, and that within `tolerance` (absolute) of the right one.

    >>> close("42 km", 42), close("41.9", 42, tolerance=0.2), close("41 or 42", 42)
    (True, True, False)
    """
    found = number_in(text)
    return found is not None and abs(found - number) <= tolerance + 1e-9 * max(1.0, abs(number))


def items_of(text: str) -> list[str]:
    """The items of a list written with commas, semicolons or lines.

    >>> items_of("Corrie Ness; Tornsay, Hallan Head")
    ['corrie ness', 'tornsay', 'hallan head']
    """
    lines = re.sub(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+", "", text)
    return [item for part in re.split(r"[;\n]|,(?!\d{3}\b)", lines) if (item := normalised(part))]


def item_f1(text: str, items: Sequence[str]) -> float:
    """F1 of the items of a list against the right ones, in any order; repeated items count once each.

    >>> item_f1("b, a", ["a", "b"]), round(item_f1("a, c", ["a", "b", "d"]), 2)
    (1.0, 0.4)
    """
    return _f1(Counter(items_of(text)), Counter(normalised(item) for item in items))


def rows_of(text: str) -> list[tuple[str, ...]]:
    """The rows of a table: a row a line (or between semicolons), its cells between bars; a rule of dashes is no row.

    >>> rows_of("| Tornsay | 1868 |\\n| --- | --- |\\nCorrie Ness | 1871")
    [('tornsay', '1868'), ('corrie ness', '1871')]
    """
    found = []
    for line in re.split(r"[;\n]", text):
        cells = tuple(normalised(cell) for cell in line.strip().strip("|").split("|"))
        if any(cell.strip("-: ") for cell in cells):
            found.append(cells)
    return found


def row_f1(text: str, rows: Sequence[Sequence[str]]) -> float:
    """F1 of the rows of a table against the right ones, in any order; a row counts when every cell is right.

    >>> row_f1("a | 1\\nb | 2", [["a", "1"], ["b", "3"]])
    0.5
    """
    return _f1(Counter(rows_of(text)), Counter(tuple(normalised(cell) for cell in row) for row in rows))


def _f1(given: Counter[str] | Counter[tuple[str, ...]], right: Counter[str] | Counter[tuple[str, ...]]) -> float:
    hits = sum((given & right).values())  # type: ignore[operator]
    return 2 * hits / (given.total() + right.total()) if hits else 0.0


def _plain_number(text: str) -> float | None:
    return _number(text) if _NUMBER.fullmatch(text) else None


def _number(text: str) -> float:
    return float(re.sub(r"[, _]", "", text))
