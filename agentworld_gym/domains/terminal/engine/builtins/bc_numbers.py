"""The numbers of `bc`: how they are cut off and printed, and the functions of `bc -l`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal, InvalidOperation, getcontext


def places_of(value: Decimal) -> int:
    """Return the number of decimal places of a number.

    >>> places_of(Decimal("1.50")), places_of(Decimal("1E+2"))
    (2, 0)
    """
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def cut(value: Decimal, places: int) -> Decimal:
    """Return a number without what lies beyond some decimal places.

    Raises:
        InvalidOperation: It has more digits than the context of `decimal` allows.

    >>> cut(Decimal("-1.239"), 2)
    Decimal('-1.23')
    """
    if getcontext().prec < places + value.adjusted() + 2:
        raise InvalidOperation
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_DOWN)


def printed_number(value: Decimal) -> str:
    """Return a number as bc prints it: without a zero before the point, seventy columns a line.

    >>> printed_number(Decimal("-0.50"))
    '-.50'
    """
    if not value:
        return "0"
    text = format(value, "f")
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    text = sign + (text.lstrip("0") or "0")
    if len(text) <= 69:
        return text
    return "\\\n".join(text[at : at + 69] for at in range(0, len(text), 69))


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
