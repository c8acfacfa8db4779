"""The values of the code: which operations they allow, and how much the code may compute and hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_STEPS = 20_000
MAX_UNITS = 1_000_000
"""The largest number of characters and elements that all values of one action may hold together."""
MAX_COMMANDS = 20
"""The largest number of programs that one action may start."""
MAX_DIGITS = 400
MAX_BITS = 256
_SPEC = re.compile(r"(?:[ *_0-]?[<>^])?[+-]?0?\d{0,2},?(?:\.\d{1,2})?[dfsgeEx%]?")
_TEXTS = frozenset(
    [
        "capitalize",
        "count",
        "endswith",
        "find",
        "index",
        "isalpha",
        "isdigit",
        "join",
        "lower",
        "lstrip",
        "replace",
        "rfind",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "title",
        "upper",
        "zfill",
    ]
)
_LISTS = frozenset(["append", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"])
_MAPPINGS = frozenset(["get", "items", "keys", "pop", "values"])
_TUPLES = frozenset(("count", "index"))


class CodeException(Exception):
    """An exception of the agent's code."""

    def __init__(self, kind: str, message: str = "") -> None:
        self.kind, self.message, self.line = kind, message, 0
        super().__init__(f"{kind}: {message}" if message else kind)


class Exhausted(CodeException):
    """The code takes too many steps or too much memory; it cannot be caught."""


class ActionBudget:
    """The budget of one action: the steps that it may take, and the memory that it may fill."""

    def __init__(self) -> None:
        self.fill()

    def fill(self) -> None:
        """Begin an action with a full budget."""
        self.steps = MAX_STEPS
        self.units = MAX_UNITS
        self.commands = MAX_COMMANDS

    def step(self) -> None:
        """Count one step of the interpreter.

        Raises:
            Exhausted: There were too many steps.
        """
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted("TimeoutError", "the action did not end in time")

    def spend(self, units: int) -> None:
        """Pay for values that are made or looked through.

        Raises:
            Exhausted: The budget does not suffice.
        """
        self.units -= units
        if self.units < 0:
            raise Exhausted("MemoryError")

    def weigh(self, value: Any) -> None:
        """Pay for a whole value, which must be plain data.

        Raises:
            Exhausted: The budget does not suffice, or the value contains itself.
        """
        if isinstance(value, str):
            self.spend(len(value))
            return
        left = [value]
        while left:
            item = left.pop()
            if isinstance(item, list | tuple):
                self.spend(1 + len(item))
                left.extend(item)
            elif isinstance(item, dict):
                self.spend(1 + 2 * len(item))
                left.extend(item)
                left.extend(item.values())
            elif isinstance(item, range):
                self.spend(1 + len(item))
            else:
                self.spend(1 + (len(item) if isinstance(item, str) else 0))


class Namespace:
    """A module or an object of the library: names and their values."""

    def __init__(self, name: str, members: Mapping[str, Any], kind: str = "module") -> None:
        self.name, self.members, self.kind = name, members, kind

    def member(self, name: str) -> Any:
        """Return the value of a name.

        Raises:
            CodeException: There is no such name.
        """
        if name.startswith("_") or name not in self.members:
            owner = f"module '{self.name}'" if self.kind == "module" else f"{self.kind} '{self.name}'"
            raise CodeException("AttributeError", f"{owner} has no attribute '{name}'")
        return self.members[name]

    def value_of(self, name: str) -> Any:
        """Return the value that code gets for a name; of a mapping a copy, since the library outlives the action."""
        value = self.member(name)
        return dict(value) if isinstance(value, dict) else value

    def __repr__(self) -> str:
        return f"<{type_name(self)} {self.name}>"


class Function:
    """A function that code can call."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self.call = name, call

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def is_plain(value: Any) -> bool:
    """Return whether a value may be passed to the library: it is no module, function or object (at its first level)."""
    return value is None or isinstance(value, str | bool | int | float | list | tuple | dict | range)


def type_name(value: Any) -> str:
    """Return the name that Python has for the type of a value."""
    if isinstance(value, Namespace):
        return "module" if value.kind == "module" else value.name
    return "function" if isinstance(value, Function) else type(value).__name__


def method(budget: ActionBudget, value: Any, name: str) -> Function:
    """Return a method of a plain value.

    Raises:
        CodeException: The closed list has no such method for the value.
    """
    allowed = (
        _TEXTS
        if isinstance(value, str)
        else _LISTS
        if isinstance(value, list)
        else _MAPPINGS
        if isinstance(value, dict)
        else _TUPLES
        if isinstance(value, tuple)
        else frozenset[str]()
    )
    if name not in allowed:
        raise CodeException("AttributeError", f"'{type_name(value)}' object has no attribute '{name}'")
    return Function(name, lambda *args, **kwargs: _call_method(budget, value, name, args, kwargs))


def _call_method(budget: ActionBudget, value: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    budget.weigh(value)
    for argument in (*args, *kwargs.values()):
        budget.weigh(argument)
    if name == "zfill" and args and isinstance(args[0], int):
        budget.spend(max(args[0], 0))
    elif name == "replace" and len(args) > 1 and isinstance(args[0], str) and isinstance(args[1], str):
        budget.spend(len(value) + value.count(args[0]) * len(args[1]))
    elif name == "rfind" and args and isinstance(args[0], str):
        # Unlike `find`, this may compare the whole text at every place.
        budget.spend(len(value) * len(args[0]) // 1000)
    elif name == "join" and args:
        args = (list(args[0]),)
        budget.spend(len(value) * len(args[0]))
    if name == "sort" and kwargs.keys() - {"reverse"}:
        raise CodeException("TypeError", "sort() takes only the keyword 'reverse' here")
    result = getattr(value, name)(*args, **kwargs)
    if name in ("keys", "values", "items"):
        result = list(result)
    budget.weigh(result)
    return result


def binary_operation(budget: ActionBudget, operator: str, left: Any, right: Any) -> Any:
    """Return the result of an arithmetic operation on plain values.

    Raises:
        CodeException: The operation is impossible, or its result would be too large.
    """
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    both = (isinstance(left, str) and isinstance(right, str)) or (
        isinstance(left, list | tuple) and type(left) is type(right)
    )
    if operator == "Add" and (numbers or both):
        if both:
            budget.spend(len(left) + len(right))
        return _bounded(left + right)
    if operator == "Mult":
        if isinstance(right, str | list | tuple) and isinstance(left, int):
            left, right = right, left
        if isinstance(left, str | list | tuple) and isinstance(right, int):
            budget.spend(len(left) * max(right, 0))
            return left * right
    if not numbers:
        raise CodeException(
            "TypeError",
            f"unsupported operand type(s) for {_SIGNS[operator]}: '{type_name(left)}' and '{type_name(right)}'",
        )
    if operator == "Pow":
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > MAX_BITS:
            raise CodeException("OverflowError", "the result is too large")
        result = left**right
        if isinstance(result, complex):
            raise CodeException("ValueError", "math domain error")
        return result
    return _bounded(_OPERATIONS[operator](left, right))


_SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "** or pow()",
    "MatMult": "@",
    "LShift": "<<",
    "RShift": ">>",
    "BitOr": "|",
    "BitAnd": "&",
    "BitXor": "^",
}
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mult": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
}
ARITHMETIC = frozenset((*_OPERATIONS, "Pow"))


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise CodeException("OverflowError", "the result is too large")
    return value


def to_int(value: Any = 0) -> int:
    """Return `int()` of a number or of a short text."""
    if isinstance(value, str):
        if len(value) > MAX_DIGITS:
            raise CodeException("ValueError", "the text is too long for a number")
        return int(value)
    if isinstance(value, int | float):
        return int(value)
    raise CodeException("TypeError", f"int() argument must be a string or a real number, not '{type_name(value)}'")


def to_float(value: Any = 0.0) -> float:
    """Return `float()` of a number or a text."""
    if isinstance(value, str | int | float):
        return float(value if not isinstance(value, str) else value[:MAX_DIGITS])
    raise CodeException("TypeError", f"float() argument must be a string or a real number, not '{type_name(value)}'")


def to_text(budget: ActionBudget, value: Any, quoted: bool = False) -> str:
    """Return `str()` or `repr()` of a value."""
    budget.weigh(value)
    result = repr(value) if quoted else str(value)
    budget.spend(len(result))
    return result


def formatted(budget: ActionBudget, value: Any, spec: str) -> str:
    """Return a value in a format specification that is short."""
    if not spec:
        return to_text(budget, value)
    if not isinstance(value, str | int | float) or not _SPEC.fullmatch(spec):
        raise CodeException("ValueError", "Invalid format specifier")
    return format(value, spec)
