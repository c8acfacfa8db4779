"""The values in a change of a structured state: their JSON, and by how much they grow."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, DecimalException
from typing import Any

from agentworld_gym.llm.prompting.state_paths import DEEPEST

GROWING = 1_000_000
"""The smallest whole number of which a change says by how much it grows, wherever it stands."""
_BRACKETS = re.compile(r'"(?:\\.|[^"\\])*"|([\[{])|([\]}])')
"""A text, an opening or a closing bracket of JSON."""


def read_value(text: str) -> Any:
    """Return the value that a text writes as JSON.

    Raises:
        ValueError: It is no JSON, it is not finite, or its brackets are too deep.
    """
    depth = deepest = 0
    for opening, closing in _BRACKETS.findall(text):
        depth += bool(opening) - bool(closing)
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise ValueError(f"a value has at most {DEEPEST} brackets inside each other")
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def growth(before: Any, after: Any, *, counted: bool) -> str | int | float | None:
    """Return by what a text or a number grows; None where a change names the value after.

    Args:
        before: The value before.
        after: The value after.
        counted: Whether a change says by how much this number grows although it is not large.

    >>> growth("Milk", "Milk and eggs", counted=False), growth(149.54, 17.26, counted=True), growth(1, 2, counted=False)
    (' and eggs', -132.28, None)
    """
    if type(before) is str and type(after) is str and before and after.startswith(before):
        return after[len(before) :]
    if type(before) is int and type(after) is int and before >= GROWING:
        return after - before
    return _amount(before, after) if counted and type(after) is type(before) else None


def _amount(before: Any, after: Any) -> int | float | None:
    """Return by what a number grows; None where adding it does not give the number after."""
    try:
        more: int | float = type(before)(Decimal(str(after)) - Decimal(str(before)))
        return more if grown(before, more) == after else None
    except (DecimalException, TypeError):
        return None


def grown(value: Any, more: Any) -> Any:
    """Return a text or a number that has grown; decimal numbers are added as they are written."""
    if type(value) is float and is_number(more):
        return _finite(str(Decimal(str(value)) + Decimal(str(more))))
    if type(value) is not type(more) or type(value) not in (str, int):
        raise TypeError("only a text grows by a text, a whole number by a whole one, and a number by a number")
    return value + more


def is_number(value: Any) -> bool:
    """Whether a value is a number, and no truth value."""
    return type(value) in (int, float)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number
