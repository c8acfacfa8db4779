"""Formulas: how they are parsed, and how they are adjusted when rows and cells move."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

MAX_ROWS = 1000
MAX_COLUMNS = 52
MAX_FORMULA = 1000
"""The largest number of characters in a formula."""
MAX_DEPTH = 40
"""The largest depth of nested brackets and functions."""

Axis = Literal["row", "column"]
Node = tuple[Any, ...]
"""A node of a formula's syntax tree: its kind, and its parts."""


class ErrorValue(str):
    """An error value that a cell shows, such as `#DIV/0!`."""

    __slots__ = ()


class Reference(NamedTuple):
    """A cell in a formula. `sheet` is empty for the formula's own sheet, and the flags are its dollar signs."""

    sheet: str
    row: int
    column: int
    fixed_row: bool = False
    fixed_column: bool = False

    def __str__(self) -> str:
        sheet = self.sheet if re.fullmatch(r"\w*", self.sheet) else "'" + self.sheet.replace("'", "''") + "'"
        start = f"${sheet}." if sheet else ""
        column = "$" * self.fixed_column + letters(self.column)
        return f"{start}{column}{'$' * self.fixed_row}{self.row + 1}"


class FormulaError(Exception):
    """A text is no formula; the exception holds the error value that the cell shows."""


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)
    | (?P<string>"(?:[^"]|"")*")
    | (?P<reference>(?:\$?(?:'(?P<quoted>(?:[^']|'')+)'|(?P<sheet>\w+))[.!])?
        (?P<fc>\$?)(?P<column>[A-Za-z]{1,3})(?P<fr>\$?)(?P<row>[1-9]\d{0,6}))(?![\w(])
    | (?P<name>[A-Za-z_][\w.]*)
    | (?P<fault>\#REF!)
    | (?P<operator><>|<=|>=|[-+*/^&=<>%():;,])
    )""",
    re.VERBOSE,
)
_KINDS = ("number", "string", "reference", "name", "fault", "operator")
_LEVELS = (("=", "<>", "<", ">", "<=", ">="), ("&",), ("+", "-"), ("*", "/"))
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})")


def letters(column: int) -> str:
    """Return the name of a column, counted from 0.

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    name = ""
    while column >= 0:
        name = chr(65 + column % 26) + name
        column = column // 26 - 1
    return name


def column_number(name: str) -> int:
    """Return the number of a column by its name, counted from 0.

    >>> column_number("a"), column_number("AB")
    (0, 27)
    """
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def address(row: int, column: int) -> str:
    """Return the name of a cell.

    >>> address(2, 1)
    'B3'
    """
    return f"{letters(column)}{row + 1}"


def position(name: str) -> tuple[int, int] | None:
    """Return the row and the column of a cell by its name, counted from 0; None where there is no such cell.

    >>> position("b3"), position("B0"), position("ZZ1"), position("total")
    ((2, 1), None, None, None)
    """
    match = _CELL.fullmatch(name.strip())
    if match is None:
        return None
    row, column = int(match[2]) - 1, column_number(match[1])
    return (row, column) if row < MAX_ROWS and column < MAX_COLUMNS else None


class _Token(NamedTuple):
    kind: str
    value: Any
    start: int
    end: int


@lru_cache(maxsize=4096)
def tokens(formula: str) -> tuple[_Token, ...]:
    """Return the tokens of a formula without its equals sign.

    Raises:
        FormulaError: A character has no place in a formula.
    """
    pieces, place = [], 0
    text = formula.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError("Err:501")
        kind = next(name for name in _KINDS if match[name] is not None)
        value: Any = match[kind]
        if kind == "number":
            value = float(value)
        elif kind == "string":
            value = value[1:-1].replace('""', '"')
        elif kind == "reference":
            sheet = (match["quoted"] or "").replace("''", "'") or match["sheet"] or ""
            row, column = int(match["row"]) - 1, column_number(match["column"])
            value = Reference(sheet, row, column, bool(match["fr"]), bool(match["fc"]))
        pieces.append(_Token(kind, value, match.start(kind), match.end()))
        place = match.end()
    return tuple(pieces)


@lru_cache(maxsize=4096)
def parsed(formula: str) -> Node:
    """Return the syntax tree of a formula without its equals sign.

    Raises:
        FormulaError: The text is no formula.

    >>> parsed("2 + 3 * 4")
    ('+', ('value', 2.0), ('*', ('value', 3.0), ('value', 4.0)))
    """
    if len(formula) > MAX_FORMULA:
        raise FormulaError("Err:512")
    reader = _Reader(tokens(formula))
    tree = reader.expression(0, 0)
    if reader.peek() is not None:
        raise FormulaError("Err:508" if reader.peek() == ")" else "Err:509")
    return tree


class _Reader:
    def __init__(self, pieces: tuple[_Token, ...]) -> None:
        self._tokens, self._place = pieces, 0

    def peek(self) -> str | None:
        """Return the next operator: `?` for any other token, None at the end."""
        if self._place >= len(self._tokens):
            return None
        token = self._tokens[self._place]
        return token.value if token.kind == "operator" else "?"

    def _next(self) -> _Token:
        if self._place >= len(self._tokens):
            raise FormulaError("Err:511")
        self._place += 1
        return self._tokens[self._place - 1]

    def expression(self, level: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FormulaError("Err:512")
        if level == len(_LEVELS):
            return self._power(depth)
        left = self.expression(level + 1, depth)
        while (operator := self.peek()) in _LEVELS[level]:
            self._place += 1
            left = (operator, left, self.expression(level + 1, depth))
        return left

    def _power(self, depth: int) -> Node:
        left = self._unary(depth)
        while self.peek() == "^":
            self._place += 1
            left = ("^", left, self._unary(depth))
        return left

    def _unary(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FormulaError("Err:512")
        if (operator := self.peek()) in ("-", "+"):
            self._place += 1
            inner = self._unary(depth + 1)
            return ("negative", inner) if operator == "-" else inner
        tree = self._primary(depth)
        while self.peek() == "%":
            self._place += 1
            tree = ("/", tree, ("value", 100.0))
        return tree

    def _primary(self, depth: int) -> Node:
        token = self._next()
        if token.kind in ("number", "string"):
            return ("value", token.value)
        if token.kind == "fault":
            return ("value", ErrorValue("#REF!"))
        if token.kind == "reference":
            if self.peek() != ":":
                return ("cell", token.value)
            self._place += 1
            end = self._next()
            if end.kind != "reference":
                raise FormulaError("Err:509")
            return ("range", token.value, end.value)
        if token.kind == "name":
            return self._named(str(token.value), depth)
        if token.value == "(":
            tree = self.expression(0, depth + 1)
            self._close()
            return tree
        raise FormulaError("Err:511" if token.value == ")" else "Err:509")

    def _named(self, name: str, depth: int) -> Node:
        if self.peek() != "(":
            upper = name.upper()
            return ("value", upper == "TRUE") if upper in ("TRUE", "FALSE") else ("value", ErrorValue("#NAME?"))
        self._place += 1
        arguments: list[Node] = []
        while self.peek() != ")":
            if self.peek() in (";", ","):
                arguments.append(("value", None))
            else:
                arguments.append(self.expression(0, depth + 1))
            if self.peek() not in (";", ","):
                break
            self._place += 1
        self._close()
        return ("call", name.upper(), tuple(arguments))

    def _close(self) -> None:
        if self.peek() != ")":
            raise FormulaError("Err:508" if self.peek() is None else "Err:509")
        self._place += 1


def references(tree: Node) -> Iterator[tuple[Reference, Reference]]:
    """Return the areas that a formula reads, as their corners."""
    if tree[0] == "cell":
        yield tree[1], tree[1]
    elif tree[0] == "range":
        yield tree[1], tree[2]
    elif tree[0] == "call":
        for argument in tree[2]:
            yield from references(argument)
    elif tree[0] != "value":
        for part in tree[1:]:
            yield from references(part)


def copied_by(formula: str, rows: int, columns: int) -> str:
    """Return a formula copied by a number of rows and columns; references with a dollar sign stay.

    >>> copied_by("A1*$B$1", 2, 1)
    'B3*$B$1'
    """

    def move(reference: Reference) -> Reference | None:
        row = reference.row if reference.fixed_row else reference.row + rows
        column = reference.column if reference.fixed_column else reference.column + columns
        if row < 0 or column < 0:
            return None
        return reference._replace(row=row, column=column)

    return _rewritten(formula, move)


def after_insertion(formula: str, own: bool, sheet: str, axis: Axis, at: int, count: int) -> str:
    """Return a formula after rows or columns of a sheet were inserted (`count` above 0) or deleted.

    Args:
        formula: The formula without its equals sign.
        own: Whether references without a sheet mean the changed sheet.
        sheet: The name of the changed sheet.
        axis: The changed axis, `row` or `column`.
        at: The first row or column concerned, counted from 0.
        count: The number of rows or columns.

    >>> after_insertion("SUM(A2:A9)", True, "Sheet1", "row", 0, 1)
    'SUM(A3:A10)'
    >>> after_insertion("A2+A5", True, "Sheet1", "row", 1, -1)
    '#REF!+A4'
    """

    def move(reference: Reference) -> Reference | None:
        here = own if not reference.sheet else reference.sheet == sheet
        place = int(getattr(reference, axis))
        if not here or place < at:
            return reference
        if count < 0 and place < at - count:
            return None
        rows, columns = (count, 0) if axis == "row" else (0, count)
        return reference._replace(row=reference.row + rows, column=reference.column + columns)

    return _rewritten(formula, move)


def with_renamed_sheet(formula: str, old: str, new: str) -> str:
    """Return a formula after a sheet was renamed.

    >>> with_renamed_sheet("$Costs.A1+B1", "Costs", "Old costs")
    "$'Old costs'.A1+B1"
    """
    return _rewritten(formula, lambda one: one._replace(sheet=new) if one.sheet.lower() == old.lower() else one)


def _rewritten(formula: str, move: Callable[[Reference], Reference | None]) -> str:
    try:
        found = tokens(formula)
    except FormulaError:
        return formula
    pieces, place = [], 0
    for token in found:
        if token.kind == "reference":
            moved = move(token.value)
            pieces.append(formula[place : token.start])
            same = moved == token.value
            pieces.append(formula[token.start : token.end] if same else "#REF!" if moved is None else str(moved))
            place = token.end
    return "".join(pieces) + formula[place:]
