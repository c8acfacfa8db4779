"""The values of the agent's code, what may be done with them, and how much of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_STEPS = 20_000
MAX_UNITS = 1_000_000
"""What all values of one action may hold together: characters and elements."""
MAX_COMMANDS = 20
"""How many programs one action may start."""
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


class Problem(Exception):
    """An exception of the agent's code."""

    def __init__(self, kind: str, message: str = "") -> None:
        self.kind, self.message, self.line = kind, message, 0
        super().__init__(f"{kind}: {message}" if message else kind)


class Exhausted(Problem):
    """The code takes too long or too much; it cannot be caught."""


class Purse:
    """What one action may still do and hold."""

    def __init__(self) -> None:
        self.fill()

    def fill(self) -> None:
        """An action begins."""
        self.steps = MAX_STEPS
        self.units = MAX_UNITS
        self.commands = MAX_COMMANDS

    def step(self) -> None:
        """One step of the interpreter.

        Raises:
            Exhausted: there were too many.
        """
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted("TimeoutError", "the action did not end in time")

    def spend(self, units: int) -> None:
        """Pay for what is made or looked through.

        Raises:
            Exhausted: it is too much.
        """
        self.units -= units
        if self.units < 0:
            raise Exhausted("MemoryError")

    def weigh(self, value: Any) -> None:
        """Pay for all of a value, which must be plain data.

        Raises:
            Exhausted: it is too much, or endless.
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
    """A module or an object of the library: names, and what they stand for."""

    def __init__(self, name: str, members: Mapping[str, Any], kind: str = "module") -> None:
        self.name, self.members, self.kind = name, members, kind

    def member(self, name: str) -> Any:
        """What a name stands for.

        Raises:
            Problem: it has none of that name.
        """
        if name.startswith("_") or name not in self.members:
            what = f"module '{self.name}'" if self.kind == "module" else f"{self.kind} '{self.name}'"
            raise Problem("AttributeError", f"{what} has no attribute '{name}'")
        return self.members[name]

    def given(self, name: str) -> Any:
        """What code gets for a name: of a mapping a copy, for the library outlives the action."""
        found = self.member(name)
        return dict(found) if isinstance(found, dict) else found

    def __repr__(self) -> str:
        return f"<{type_name(self)} {self.name}>"


class Function:
    """Something that can be called."""

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.name, self.call = name, call

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def is_plain(value: Any) -> bool:
    """Whether a value may be handed to the library: no modules, functions or objects (on its first level)."""
    return value is None or isinstance(value, str | bool | int | float | list | tuple | dict | range)


def type_name(value: Any) -> str:
    """What Python calls the type of a value."""
    if isinstance(value, Namespace):
        return "module" if value.kind == "module" else value.name
    return "function" if isinstance(value, Function) else type(value).__name__


def method(purse: Purse, value: Any, name: str) -> Function:
    """A method of a plain value.

    Raises:
        Problem: it has none of that name that the closed list admits.
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
        raise Problem("AttributeError", f"'{type_name(value)}' object has no attribute '{name}'")
    return Function(name, lambda *args, **kwargs: _call_method(purse, value, name, args, kwargs))


def _call_method(purse: Purse, value: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    purse.weigh(value)
    for argument in (*args, *kwargs.values()):
        purse.weigh(argument)
    if name == "zfill" and args and isinstance(args[0], int):
        purse.spend(max(args[0], 0))
    elif name == "replace" and len(args) > 1 and isinstance(args[0], str) and isinstance(args[1], str):
        purse.spend(len(value) + value.count(args[0]) * len(args[1]))
    elif name == "rfind" and args and isinstance(args[0], str):
        # Unlike `find`, it may compare the whole text at every place.
        purse.spend(len(value) * len(args[0]) // 1000)
    elif name == "join" and args:
        args = (list(args[0]),)
        purse.spend(len(value) * len(args[0]))
    if name == "sort" and kwargs.keys() - {"reverse"}:
        raise Problem("TypeError", "sort() takes only the keyword 'reverse' here")
    result = getattr(value, name)(*args, **kwargs)
    if name in ("keys", "values", "items"):
        result = list(result)
    purse.weigh(result)
    return result


def binary(purse: Purse, operator: str, left: Any, right: Any) -> Any:
    """An arithmetic operation on plain values.

    Raises:
        Problem: it cannot be done, or its result would be too large.
    """
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    both = (isinstance(left, str) and isinstance(right, str)) or (
        isinstance(left, list | tuple) and type(left) is type(right)
    )
    if operator == "Add" and (numbers or both):
        if both:
            purse.spend(len(left) + len(right))
        return _bounded(left + right)
    if operator == "Mult":
        if isinstance(right, str | list | tuple) and isinstance(left, int):
            left, right = right, left
        if isinstance(left, str | list | tuple) and isinstance(right, int):
            purse.spend(len(left) * max(right, 0))
            return left * right
    if not numbers:
        raise Problem(
            "TypeError",
            f"unsupported operand type(s) for {_SIGNS[operator]}: '{type_name(left)}' and '{type_name(right)}'",
        )
    if operator == "Pow":
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > MAX_BITS:
            raise Problem("OverflowError", "the result is too large")
        result = left**right
        if isinstance(result, complex):
            raise Problem("ValueError", "math domain error")
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
        raise Problem("OverflowError", "the result is too large")
    return value


def whole(value: Any = 0) -> int:
    """`int()` of a number or a text that is not too long."""
    if isinstance(value, str):
        if len(value) > MAX_DIGITS:
            raise Problem("ValueError", "the text is too long for a number")
        return int(value)
    if isinstance(value, int | float):
        return int(value)
    raise Problem("TypeError", f"int() argument must be a string or a real number, not '{type_name(value)}'")


def real(value: Any = 0.0) -> float:
    """`float()` of a number or a text."""
    if isinstance(value, str | int | float):
        return float(value if not isinstance(value, str) else value[:MAX_DIGITS])
    raise Problem("TypeError", f"float() argument must be a string or a real number, not '{type_name(value)}'")


def text(purse: Purse, value: Any, quoted: bool = False) -> str:
    """`str()` or `repr()` of a value."""
    purse.weigh(value)
    result = repr(value) if quoted else str(value)
    purse.spend(len(result))
    return result


def formatted(purse: Purse, value: Any, spec: str) -> str:
    """A value in a format, of those that are short."""
    if not spec:
        return text(purse, value)
    if not isinstance(value, str | int | float) or not _SPEC.fullmatch(spec):
        raise Problem("ValueError", "Invalid format specifier")
    return format(value, spec)
