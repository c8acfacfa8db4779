"""The values that a test states: they are computed outside the sandbox from its text, and compared with recorded ones.

Nothing here runs a program's code. A recorded value arrives as kinds and parts. An object that is not data becomes a
`Thing`, which equals no data and no other thing without fields. Whatever a program recorded, to read and to compare it
takes time linear in its length.
"""

from __future__ import annotations

import ast
import datetime
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST = 100_000
DEEPEST = 40
MOST_ALIKE = 8
"""How many parts of a set, or keys of a dictionary, may share a hash. More are chosen so that comparing takes long."""

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
MOMENTS = {"date": datetime.date, "datetime": datetime.datetime, "timedelta": datetime.timedelta}


class Unknown(Exception):
    """The value of an expression does not follow from the text of the test."""


class InvalidRecord(Exception):
    """A recorded value does not have the form of a value."""


@dataclass(frozen=True)
class Thing:
    """An object of a class of the program; it equals another one of that class whose fields are data and equal."""

    name: str
    truth: bool
    fields: Sequence[tuple[str, Any]] = field(default=())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Thing) or not self.fields:
            return False
        return self.name == other.name and list(self.fields) == list(other.fields)

    def __hash__(self) -> int:
        # A thing without fields equals nothing, so that in one bucket each would be compared with each.
        return hash((self.name, _hash_of(self.fields))) if self.fields else id(self)

    def __bool__(self) -> bool:
        return self.truth


def _hash_of(value: Any) -> int:
    """Return a hash of any value that `read` returns; equal values have equal hashes, lists and dictionaries too."""
    if isinstance(value, (list, tuple)):
        return hash((type(value), *map(_hash_of, value)))
    if isinstance(value, dict):
        return hash(frozenset((key, _hash_of(part)) for key, part in value.items()))
    return hash(frozenset(value) if isinstance(value, set) else value)


@dataclass(frozen=True)
class Close:
    """The value of `pytest.approx`, which equals numbers that are near."""

    expected: Any
    rel: float | None = None
    abs: float | None = None

    def __eq__(self, actual: object) -> bool:
        return self._near(actual, self.expected)

    def __hash__(self) -> int:
        return 0

    def _near(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return (
                isinstance(actual, dict)
                and actual.keys() == expected.keys()
                and all(self._near(actual[key], value) for key, value in expected.items())
            )
        if isinstance(expected, (list, tuple)):
            return (
                isinstance(actual, (list, tuple))
                and len(actual) == len(expected)
                and all(map(self._near, actual, expected))
            )
        if not _is_number(actual) or not _is_number(expected):
            return bool(actual == expected)
        rel = 0.0 if self.rel is None and self.abs is not None else 1e-6 if self.rel is None else self.rel
        least = 1e-12 if self.abs is None else self.abs
        return bool(actual == expected or abs(actual - expected) <= max(rel * abs(expected), least))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def value_of(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Evaluate an expression of constants, known names, containers, arithmetic, dates and `approx`.

    >>> value_of(ast.parse("[1 + n, 'a' * 2]", mode="eval").body, {"n": 1})
    [2, 'aa']

    Raises:
        Unknown: the value does not follow from the text.
    """
    try:
        return _value(node, names)
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Unknown(str(error)) from error


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        kind = {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)]
        return kind([_value(part, names) for part in node.elts])
    if isinstance(node, ast.Dict):
        keys = [part for part in node.keys if part is not None]
        if len(keys) == len(node.values):
            return {_value(k, names): _value(v, names) for k, v in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.UnaryOp):
        return UNARY[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return _bounded(type(node.op), _value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return _value(node.value, names)[_value(node.slice, names)]
    if isinstance(node, ast.Call):
        return _called(node, names)
    raise Unknown(ast.unparse(node))


def _bounded(kind: type[ast.operator], left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if kind is ast.Mult and isinstance(one, int) and isinstance(other, (str, bytes, list, tuple)):
            if one * len(other) > MOST:
                raise Unknown("too large")
        elif isinstance(one, int) and one.bit_length() > MOST:
            raise Unknown("too large")
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        raise Unknown("a format")
    return BINARY[kind](left, right)


def _called(node: ast.Call, names: Mapping[str, Any]) -> Any:
    name = ast.unparse(node.func).removeprefix("pytest.").removeprefix("datetime.")
    arguments = [_value(argument, names) for argument in node.args]
    options = {keyword.arg or "": _value(keyword.value, names) for keyword in node.keywords}
    if name == "approx" and name not in names:
        return Close(*arguments, **options)
    if name in MOMENTS and name not in names:
        return MOMENTS[name](*arguments, **options)
    raise Unknown(ast.unparse(node))


def is_fixed(value: Any) -> bool:
    """Return whether a value is immutable."""
    return value is None or isinstance(value, (bool, int, float, str, bytes)) or (
        isinstance(value, tuple) and all(map(is_fixed, value))
    )  # fmt: skip


def read(record: Any, depth: int = 0) -> Any:
    """Return a value from its recorded kind and parts.

    >>> read(["list", [["int", "1"], ["none"]]])
    [1, None]

    Raises:
        InvalidRecord: the record does not have the form of a value.
    """
    try:
        return _read(record, depth)
    except (ArithmeticError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise InvalidRecord(str(error)) from error


def _read(record: Any, depth: int) -> Any:
    kind = record[0]
    if depth > DEEPEST or not isinstance(kind, str):
        raise InvalidRecord("too deep")
    if kind == "none":
        return None
    content = record[1]
    if kind == "bool" and isinstance(content, bool):
        return content
    if kind in ("int", "float", "str") and isinstance(content, str):
        return int(content) if kind == "int" else float(content) if kind == "float" else content
    if kind == "bytes" and isinstance(content, list):
        return bytes(content)
    if kind in ("tuple", "list", "set"):
        parts = [_read(part, depth + 1) for part in content]
        return parts if kind == "list" else tuple(parts) if kind == "tuple" else set(_spread(parts))
    if kind == "dict":
        keys = _spread([_read(key, depth + 1) for key, _ in content])
        return dict(zip(keys, (_read(value, depth + 1) for _, value in content), strict=True))
    if kind in MOMENTS:
        return MOMENTS[kind](*map(int, content))
    if kind == "object" and isinstance(content, str) and isinstance(record[2], bool):
        return Thing(content, record[2], tuple((str(name), _read(value, depth + 1)) for name, value in record[3]))
    raise InvalidRecord(kind)


def _spread(keys: list[Any]) -> list[Any]:
    """Return what is to stand in a hash table, in which looking up has to take constant time.

    Raises:
        InvalidRecord: too many share a hash.
    """
    hashes: Iterable[int] = map(hash, keys)
    if max(Counter(hashes).values(), default=0) > MOST_ALIKE:
        raise InvalidRecord(f"more than {MOST_ALIKE} keys share a hash")
    return keys


def compare(kind: type[ast.cmpop], left: Any, right: Any) -> bool:
    """Return whether two values stand in a relation; values that cannot be compared do not."""
    if isinstance(right, Close) and not isinstance(left, Close):
        left, right = right, left
    try:
        if kind is ast.Is:
            return type(left) is type(right) and left in (None, True, False) and left == right
        if kind is ast.IsNot:
            return not compare(ast.Is, left, right)
        return bool(RELATIONS[kind](left, right))
    except (TypeError, ValueError, RecursionError):
        return False


RELATIONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda one, all: one in all, ast.NotIn: lambda one, all: one not in all,
}  # fmt: skip
