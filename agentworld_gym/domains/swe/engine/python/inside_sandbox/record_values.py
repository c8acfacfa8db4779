"""Records what a program returns, as data: the values of expressions and the exceptions that statements raise.

This file is written in the subset of Python that every sandbox runs, and is executed there and never on the host.
A record is believed to be what the program returned, and nothing more: whether it is right is decided outside.
"""

import datetime
from typing import Any

FAMILIES = {
    "ArithmeticError": ArithmeticError,
    "AssertionError": AssertionError,
    "AttributeError": AttributeError,
    "Exception": Exception,
    "ImportError": ImportError,
    "IndexError": IndexError,
    "KeyError": KeyError,
    "LookupError": LookupError,
    "NameError": NameError,
    "NotImplementedError": NotImplementedError,
    "OSError": OSError,
    "OverflowError": OverflowError,
    "RuntimeError": RuntimeError,
    "StopIteration": StopIteration,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "ZeroDivisionError": ZeroDivisionError,
}
MOST = 20_000
LONGEST = 200_000
DEEPEST = 30
SEEN: list[Any] = []
LEFT: list[int] = [MOST]


def seen(number: int, value: Any) -> None:
    """Record a value."""
    LEFT[0] = MOST
    SEEN.append([number, "value", encode_value(value, 0)])


def raised(number: int, error: Any) -> None:
    """Record an exception: the names of its class and of that class's bases, and its text."""
    families = [name for name in FAMILIES if isinstance(error, FAMILIES[name])]
    try:
        text = str(error)[:LONGEST]
    except Exception:
        text = ""
    SEEN.append([number, "raised", [name_of(error), *families], text])


def name_of(value: Any) -> str:
    """Return the name of the class of a value, without its module."""
    return repr(type(value)).split("'")[1].split(".")[-1][:LONGEST]


def encode_value(value: Any, depth: int) -> Any:
    """Return a value as a kind and its parts; a value that is not data is an object with a name, equal to nothing."""
    LEFT[0] = LEFT[0] - 1
    if LEFT[0] < 0 or depth > DEEPEST:
        return ["object", "too large", True, []]
    if value is None:
        return ["none"]
    if isinstance(value, bool):
        return ["bool", bool(value)]
    if isinstance(value, int):
        return ["int", f"{value:d}"[:LONGEST]]
    if isinstance(value, float):
        return ["float", f"{value:.17g}"]
    if isinstance(value, str):
        return ["str", value[:LONGEST]]
    if isinstance(value, bytes):
        return ["bytes", [byte for byte in value[:MOST]]]
    if isinstance(value, tuple):
        return ["tuple", [encode_value(part, depth + 1) for part in value[:MOST]]]
    if isinstance(value, list):
        return ["list", [encode_value(part, depth + 1) for part in value[:MOST]]]
    if isinstance(value, (set, frozenset)):
        return ["set", [encode_value(part, depth + 1) for part in value]]
    if isinstance(value, dict):
        return ["dict", [[encode_value(key, depth + 1), encode_value(value[key], depth + 1)] for key in value]]
    if isinstance(value, datetime.datetime):
        parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
        return ["datetime", parts]
    if isinstance(value, datetime.date):
        return ["date", [value.year, value.month, value.day]]
    if isinstance(value, datetime.timedelta):
        return ["timedelta", [value.days, value.seconds, value.microseconds]]
    fields = [
        [name, encode_value(getattr(value, name), depth + 1)] for name in getattr(value, "__dataclass_fields__", [])
    ]
    return ["object", name_of(value), bool(value), fields]
