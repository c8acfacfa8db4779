"""The functions that formulas can call."""

from __future__ import annotations

import fnmatch
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import ErrorValue
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.values import (
    CellArea,
    Failed,
    Value,
    compared,
    joined,
    number,
    single_value,
    text,
    truth,
    value_of_entry,
)

Argument = Value | CellArea
MANY = 30

_CRITERION = re.compile(r"(<>|<=|>=|=|<|>)?(.*)", re.DOTALL)
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _values(arguments: tuple[Argument, ...]) -> Iterator[Value]:
    for argument in arguments:
        if isinstance(argument, CellArea):
            yield from argument.cells.values()
        else:
            yield argument


def _numbers(arguments: tuple[Argument, ...]) -> list[float]:
    """Return the numbers of areas, and of arguments that are read as numbers."""
    numbers = []
    for argument in arguments:
        if not isinstance(argument, CellArea):
            numbers.append(number(argument))
            continue
        for value in argument.cells.values():
            if isinstance(value, ErrorValue):
                raise Failed(value)
            if isinstance(value, float):
                numbers.append(value)
    return numbers


def _sum(*arguments: Argument) -> float:
    # The sum of decimals is exact, as a person expects it.
    return math.fsum(_numbers(arguments))


def _average(*arguments: Argument) -> float:
    numbers = _numbers(arguments)
    if not numbers:
        raise Failed("#DIV/0!")
    return math.fsum(numbers) / len(numbers)


def _median(*arguments: Argument) -> float:
    numbers = sorted(_numbers(arguments))
    if not numbers:
        raise Failed("#VALUE!")
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def _count(*arguments: Argument) -> float:
    return float(sum(isinstance(value, float) for value in _values(arguments)))


def _count_all(*arguments: Argument) -> float:
    return float(sum(value is not None for value in _values(arguments)))


def _count_blank(area: Argument) -> float:
    if not isinstance(area, CellArea):
        return float(area is None)
    return float(area.rows * area.columns - sum(value != "" for value in area.cells.values()))


def _product(*arguments: Argument) -> float:
    return math.prod(_numbers(arguments))


def _rounding(mode: str) -> Callable[..., float]:
    def rounded(value: Argument, digits: Argument = 0.0) -> float:
        places = int(number(single_value(digits)))
        exact = number(single_value(value))
        if abs(places) > 20 or not math.isfinite(exact):
            raise Failed("#VALUE!")
        # A number is rounded as the decimal that the sheet shows, so 2.675 rounds up.
        scaled = Decimal(repr(exact)).scaleb(places).quantize(Decimal(1), rounding=mode) if exact else Decimal(0)
        return float(scaled.scaleb(-places))

    return rounded


def _up(value: Argument, digits: Argument = 0.0) -> float:
    return (_rounding(ROUND_CEILING) if number(single_value(value)) > 0 else _rounding(ROUND_FLOOR))(value, digits)


def _mod(value: Argument, divisor: Argument) -> float:
    by = number(single_value(divisor))
    if by == 0:
        raise Failed("#DIV/0!")
    return float(Fraction(number(single_value(value))) % Fraction(by))


def _sqrt(value: Argument) -> float:
    if (root := number(single_value(value))) < 0:
        raise Failed("#NUM!")
    return math.sqrt(root)


def meets(criterion: Value) -> Callable[[Value], bool]:
    """Return the test of a criterion such as `">100"` or `"north"`; `*` and `?` are wildcards.

    >>> [meets(">=2")(2.0), meets("nor*")("North"), meets(3.0)(None), meets("<>a")("b")]
    [True, True, False, True]
    """
    match = _CRITERION.fullmatch(criterion if isinstance(criterion, str) else text(criterion))
    assert match is not None
    sign, operand = match[1] or "=", value_of_entry(match[2])
    if sign in _COMPARISONS:
        compare = _COMPARISONS[sign]
        kind = str if isinstance(operand, str) else float
        return lambda value: isinstance(value, kind) and compare(compared(value, operand), 0)
    if isinstance(operand, str):
        # The pattern of `fnmatch` is matched in linear time, however many stars it has.
        pattern = re.compile(fnmatch.translate(operand.replace("[", "[[]")), re.IGNORECASE)
        equal: Callable[[Value], bool] = lambda value: pattern.fullmatch(text(value)) is not None  # noqa: E731
    else:
        equal = lambda value: value is not None and compared(value, operand) == 0  # noqa: E731
    return equal if sign == "=" else lambda value: not equal(value)


def _matching(area: Argument, criterion: Argument) -> list[tuple[int, int]]:
    if not isinstance(area, CellArea):
        raise Failed("Err:504")
    test = meets(single_value(criterion))
    return [place for place, value in area.cells.items() if test(value)]


def _count_if(area: Argument, criterion: Argument) -> float:
    return float(len(_matching(area, criterion)))


def _chosen(area: Argument, criterion: Argument, of: Argument) -> list[float]:
    source = area if of is None else of
    if not isinstance(source, CellArea):
        raise Failed("Err:504")
    matching = [source.cells.get(place) for place in _matching(area, criterion)]
    return [value for value in matching if isinstance(value, float)]


def _sum_if(area: Argument, criterion: Argument, of: Argument = None) -> float:
    return math.fsum(_chosen(area, criterion, of))


def _average_if(area: Argument, criterion: Argument, of: Argument = None) -> float:
    numbers = _chosen(area, criterion, of)
    if not numbers:
        raise Failed("#DIV/0!")
    return math.fsum(numbers) / len(numbers)


def _lookup(query: Argument, area: Argument, column: Argument, ordered: Argument = True) -> Value:
    if not isinstance(area, CellArea):
        raise Failed("Err:504")
    index = int(number(single_value(column))) - 1
    if not 0 <= index < area.columns:
        raise Failed("#REF!" if index >= area.columns else "Err:502")
    best, key, nearest = None, single_value(query), truth(single_value(ordered))
    for row in range(area.rows):
        value = area.cells.get((row, 0))
        if value is None:
            continue
        order = compared(value, key)
        if order == 0 or (nearest and order < 0):
            best = row
            if order == 0 and not nearest:
                break
        elif nearest:
            break
    if best is None:
        raise Failed("#N/A")
    value = area.cells.get((best, index))
    if isinstance(value, ErrorValue):
        raise Failed(value)
    return value


def _index(area: Argument, row: Argument, column: Argument = 1.0) -> Value:
    if not isinstance(area, CellArea):
        raise Failed("Err:504")
    place = int(number(single_value(row))) - 1, int(number(single_value(column))) - 1
    if not (0 <= place[0] < area.rows and 0 <= place[1] < area.columns):
        raise Failed("Err:502")
    return area.cells.get(place)


def _match(query: Argument, area: Argument, kind: Argument = 1.0) -> float:
    if not isinstance(area, CellArea):
        raise Failed("Err:504")
    key, exact, best = single_value(query), number(single_value(kind)) == 0, None
    for number_, (_, value) in enumerate(sorted(area.cells.items()), 1):
        order = compared(value, key)
        if order == 0 or (not exact and order < 0):
            best = number_
        if exact and order == 0:
            break
    if best is None:
        raise Failed("#N/A")
    return float(best)


def _concat(*arguments: Argument) -> str:
    return joined(list(_values(arguments)))


def _and(*arguments: Argument) -> bool:
    return all(truth(value) for value in _values(arguments))


def _or(*arguments: Argument) -> bool:
    return any(truth(value) for value in _values(arguments))


def _cut(side: str) -> Callable[..., str]:
    def cut(value: Argument, count: Argument = 1.0) -> str:
        size = int(number(single_value(count)))
        if size < 0:
            raise Failed("Err:502")
        whole = text(single_value(value))
        return whole[:size] if side == "left" else whole[max(len(whole) - size, 0) :]

    return cut


def _mid(value: Argument, start: Argument, count: Argument) -> str:
    first, size = int(number(single_value(start))) - 1, int(number(single_value(count)))
    if first < 0 or size < 0:
        raise Failed("Err:502")
    return text(single_value(value))[first : first + size]


FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int, int]] = {
    "ABS": (lambda value: abs(number(single_value(value))), 1, 1),
    "AND": (_and, 1, MANY),
    "AVERAGE": (_average, 1, MANY),
    "AVERAGEIF": (_average_if, 2, 3),
    "CONCAT": (_concat, 1, MANY),
    "CONCATENATE": (_concat, 1, MANY),
    "COUNT": (_count, 1, MANY),
    "COUNTA": (_count_all, 1, MANY),
    "COUNTBLANK": (_count_blank, 1, 1),
    "COUNTIF": (_count_if, 2, 2),
    "INDEX": (_index, 2, 3),
    "INT": (lambda value: float(math.floor(number(single_value(value)))), 1, 1),
    "LEFT": (_cut("left"), 1, 2),
    "LEN": (lambda value: float(len(text(single_value(value)))), 1, 1),
    "LOWER": (lambda value: text(single_value(value)).lower(), 1, 1),
    "MATCH": (_match, 2, 3),
    "MAX": (lambda *values: max(_numbers(values), default=0.0), 1, MANY),
    "MEDIAN": (_median, 1, MANY),
    "MID": (_mid, 3, 3),
    "MIN": (lambda *values: min(_numbers(values), default=0.0), 1, MANY),
    "MOD": (_mod, 2, 2),
    "NOT": (lambda value: not truth(single_value(value)), 1, 1),
    "OR": (_or, 1, MANY),
    "PRODUCT": (_product, 1, MANY),
    "RIGHT": (_cut("right"), 1, 2),
    "ROUND": (_rounding(ROUND_HALF_UP), 1, 2),
    "ROUNDDOWN": (_rounding(ROUND_DOWN), 1, 2),
    "ROUNDUP": (_up, 1, 2),
    "SQRT": (_sqrt, 1, 1),
    "SUM": (_sum, 1, MANY),
    "SUMIF": (_sum_if, 2, 3),
    "TRIM": (lambda value: " ".join(text(single_value(value)).split()), 1, 1),
    "UPPER": (lambda value: text(single_value(value)).upper(), 1, 1),
    "VLOOKUP": (_lookup, 3, 4),
}
"""Each function by name, with its smallest and largest number of arguments."""
