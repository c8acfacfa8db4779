"""The calculation of a document: formulas are evaluated in the order of their dependencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import (
    MAX_COLUMNS,
    MAX_ROWS,
    ErrorValue,
    FormulaError,
    Node,
    Reference,
    parsed,
    references,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.functions import FUNCTIONS
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.values import (
    CellArea,
    Cells,
    Failed,
    Place,
    Value,
    compared,
    joined,
    number,
    require_no_error,
    single_value,
    truth,
    value_of_entry,
)

BUDGET = 200_000
"""The number of cells that the formulas of a document may read in all; later formulas show an error."""


def computed(sheets: Mapping[str, Cells]) -> dict[str, dict[Place, Value]]:
    """Return the value of every cell of a document by sheet.

    >>> computed({"Sheet1": {(0, 0): "2", (1, 0): "=A1*3", (2, 0): "=A3", (3, 0): "=1/0"}})["Sheet1"]
    {(0, 0): 2.0, (1, 0): 6.0, (2, 0): 'Err:522', (3, 0): '#DIV/0!'}
    """
    return _Calculation(sheets).run()


class _Calculation:
    def __init__(self, sheets: Mapping[str, Cells]) -> None:
        self.values: dict[str, dict[Place, Value]] = {name: {} for name in sheets}
        self._formulas: dict[tuple[str, Place], Node] = {}
        self._left = BUDGET
        for name, cells in sheets.items():
            mine = self.values[name]
            for place, text in cells.items():
                if text[:1] != "=" or len(text) == 1:
                    mine[place] = value_of_entry(text)
                    continue
                try:
                    self._formulas[name, place] = parsed(text[1:])
                    mine[place] = None
                except FormulaError as error:
                    mine[place] = ErrorValue(str(error))
        self.names = {name.lower(): name for name in sheets}

    def run(self) -> dict[str, dict[Place, Value]]:
        """Evaluate the formulas depth first. A formula that depends on itself is a circular reference."""
        done: set[tuple[str, Place]] = set()
        circular: set[tuple[str, Place]] = set()
        for start in self._formulas:
            if start in done:
                continue
            path = [(start, self._reads(start))]
            on_way = {start}
            while path:
                key, reads = path[-1]
                following = next((one for one in reads if one not in done), None)
                if following is None:
                    path.pop()
                    on_way.discard(key)
                    done.add(key)
                    sheet, place = key
                    self.values[sheet][place] = ErrorValue("Err:522") if key in circular else self._value(key)
                elif following in on_way:
                    start_of_cycle = next(i for i, (one, _) in enumerate(path) if one == following)
                    circular.update(one for one, _ in path[start_of_cycle:])
                else:
                    path.append((following, self._reads(following)))
                    on_way.add(following)
        return self.values

    def _reads(self, key: tuple[str, Place]) -> Iterator[tuple[str, Place]]:
        """Return the formulas that a formula reads."""
        own = key[0]
        for start, end in references(self._formulas[key]):
            sheet = self.names.get(start.sheet.lower()) if start.sheet else own
            if sheet is None:
                continue
            for place in self._area(sheet, start, end):
                if (sheet, place) in self._formulas:
                    yield sheet, place

    def _area(self, sheet: str, start: Reference, end: Reference) -> list[Place]:
        """Return the filled cells between two corners, row by row."""
        top, bottom = sorted((start.row, end.row))
        left, right = sorted((start.column, end.column))
        cells = self.values[sheet]
        if start is end:
            return [(top, left)] if (top, left) in cells else []
        self._left -= min(len(cells), (bottom - top + 1) * (right - left + 1))
        if self._left < 0:
            return []
        if (bottom - top + 1) * (right - left + 1) > len(cells):
            return sorted((r, c) for r, c in cells if top <= r <= bottom and left <= c <= right)
        return [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1) if (r, c) in cells]

    def _value(self, key: tuple[str, Place]) -> Value:
        if self._left < 0:
            return ErrorValue("Err:512")
        try:
            value = single_value(self._evaluate(self._formulas[key], key[0]))
        except Failed as failed:
            return failed.fault
        except (OverflowError, ArithmeticError):
            return ErrorValue("#NUM!")
        if isinstance(value, float) and not math.isfinite(value):
            return ErrorValue("#NUM!")
        return 0.0 if value is None else value

    def _evaluate(self, tree: Node, current_sheet: str) -> Value | CellArea:
        kind = tree[0]
        if kind == "value":
            return require_no_error(tree[1])
        if kind in ("cell", "range"):
            return self._read(tree, current_sheet)
        if kind == "negative":
            return -number(single_value(self._evaluate(tree[1], current_sheet)))
        if kind == "call":
            return self._call(tree[1], tree[2], current_sheet)
        left = single_value(self._evaluate(tree[1], current_sheet))
        right = single_value(self._evaluate(tree[2], current_sheet))
        return _OPERATORS[kind](left, right)

    def _read(self, tree: Node, current_sheet: str) -> Value | CellArea:
        start: Reference = tree[1]
        end: Reference = tree[2] if tree[0] == "range" else start
        sheet = self.names.get(start.sheet.lower()) if start.sheet else current_sheet
        if sheet is None or max(start.row, end.row) >= MAX_ROWS or max(start.column, end.column) >= MAX_COLUMNS:
            raise Failed("#REF!" if sheet is None else "#NAME?")
        cells = self.values[sheet]
        if tree[0] == "cell":
            return require_no_error(cells.get((start.row, start.column)))
        top, left = min(start.row, end.row), min(start.column, end.column)
        cells_by_place = {(r - top, c - left): cells[r, c] for r, c in self._area(sheet, start, end)}
        return CellArea(cells_by_place, abs(end.row - start.row) + 1, abs(end.column - start.column) + 1)

    def _call(self, name: str, arguments: Sequence[Node], current_sheet: str) -> Value:
        if name == "IF":
            return self._if(arguments, current_sheet)
        if name == "IFERROR":
            if len(arguments) != 2:
                raise Failed("Err:511")
            try:
                return single_value(self._evaluate(arguments[0], current_sheet))
            except (Failed, ArithmeticError):
                return single_value(self._evaluate(arguments[1], current_sheet))
        if name not in FUNCTIONS:
            raise Failed("#NAME?")
        function, least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise Failed("Err:511" if len(arguments) < least else "Err:504")
        value: Value = function(*[self._evaluate(argument, current_sheet) for argument in arguments])
        return value

    def _if(self, arguments: Sequence[Node], current_sheet: str) -> Value:
        if not 1 <= len(arguments) <= 3:
            raise Failed("Err:511" if not arguments else "Err:504")
        chosen = 1 if truth(single_value(self._evaluate(arguments[0], current_sheet))) else 2
        if chosen < len(arguments):
            return single_value(self._evaluate(arguments[chosen], current_sheet))
        return chosen == 1


def _divided(left: Value, right: Value) -> float:
    divisor = number(right)
    if divisor == 0:
        raise Failed("#DIV/0!")
    return number(left) / divisor


def _raised(left: Value, right: Value) -> float:
    base, exponent = number(left), number(right)
    if base == 0 and exponent < 0:
        raise Failed("#DIV/0!")
    result: float | complex = base**exponent
    if isinstance(result, complex):
        raise Failed("#NUM!")
    return result


_OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: number(a) + number(b),
    "-": lambda a, b: number(a) - number(b),
    "*": lambda a, b: number(a) * number(b),
    "/": _divided,
    "^": _raised,
    "&": lambda a, b: joined((a, b)),
    "=": lambda a, b: compared(a, b) == 0,
    "<>": lambda a, b: compared(a, b) != 0,
    "<": lambda a, b: compared(a, b) < 0,
    ">": lambda a, b: compared(a, b) > 0,
    "<=": lambda a, b: compared(a, b) <= 0,
    ">=": lambda a, b: compared(a, b) >= 0,
}
