"""The functions of `bc -l`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal


def _sine(x: Decimal) -> Decimal:
    term = total = x
    for n in range(1, 200):
        term *= -x * x / ((2 * n) * (2 * n + 1))
        total += term
    return total


def _cosine(x: Decimal) -> Decimal:
    term = total = Decimal(1)
    for n in range(1, 200):
        term *= -x * x / ((2 * n - 1) * (2 * n))
        total += term
    return total


def _arctangent(x: Decimal) -> Decimal:
    if abs(x) > Decimal("0.2"):
        return 2 * _arctangent(x / (1 + (1 + x * x).sqrt()))
    power = total = x
    for n in range(1, 100):
        power *= -x * x
        total += power / (2 * n + 1)
    return total


LIBRARY: dict[str, Callable[[Decimal], Decimal]] = {
    "s": _sine,
    "c": _cosine,
    "a": _arctangent,
    "l": lambda x: x.ln(),
    "e": lambda x: x.exp(),
}
