"""Arithmetic of a pocket calculator, for lines such as `12×(3+4)%`."""

from __future__ import annotations

from decimal import Decimal, DecimalException, localcontext

_DIGITS = frozenset("0123456789.")
_MAX_PLAIN = Decimal(10) ** 12
_MIN_PLAIN = Decimal(10) ** -9


class BadExpression(ValueError):
    """A line has no value; the text gives the reason, as the calculator shows it."""


def calculated(line: str) -> str:
    """Return the value of a line as the calculator writes it.

    Raises:
        BadExpression: The line cannot be parsed, or divides by zero.

    >>> calculated("12×(3+4)−50%"), calculated("1÷3"), calculated("−2^2"), calculated("2π")
    ('83.5', '0.333333333333', '−4', '6.28318530718')
    """
    tokens = _tokens(line)
    with localcontext() as context:
        context.prec = 30
        try:
            value, at = _sum(tokens, 0, 0)
        except DecimalException as error:
            raise BadExpression("Can't divide by 0" if "ivi" in type(error).__name__ else "Value too large") from error
        if at != len(tokens):
            raise BadExpression("Format error")
        return _format_number(value)


def _tokens(line: str) -> list[str]:
    tokens: list[str] = []
    for letter in line:
        if letter in _DIGITS and tokens and tokens[-1][0] in _DIGITS:
            tokens[-1] += letter
        else:
            tokens.append(letter)
    return tokens


def _sum(tokens: list[str], at: int, depth: int) -> tuple[Decimal, int]:
    if depth > 30:
        raise BadExpression("Format error")
    value, at = _product(tokens, at, depth)
    while at < len(tokens) and tokens[at] in "+−":
        other, after = _product(tokens, at + 1, depth)
        value = value + other if tokens[at] == "+" else value - other
        at = after
    return value, at


def _product(tokens: list[str], at: int, depth: int) -> tuple[Decimal, int]:
    value, at = _signed(tokens, at, depth)
    while at < len(tokens) and tokens[at] not in "+−)":
        sign = tokens[at]
        # Two values without an operator between them are multiplied.
        other, at = _signed(tokens, at + (sign in "×÷"), depth)
        value = value / other if sign == "÷" else value * other
    return value, at


def _signed(tokens: list[str], at: int, depth: int) -> tuple[Decimal, int]:
    if at < len(tokens) and tokens[at] == "−":
        value, at = _power(tokens, at + 1, depth)
        return -value, at
    return _power(tokens, at, depth)


def _power(tokens: list[str], at: int, depth: int) -> tuple[Decimal, int]:
    value, at = _value(tokens, at, depth)
    while at < len(tokens) and tokens[at] == "%":
        value, at = value / 100, at + 1
    if at < len(tokens) and tokens[at] == "^":
        if depth > 30:
            raise BadExpression("Format error")
        exponent, at = _signed(tokens, at + 1, depth + 1)
        if abs(exponent) > 1000:
            raise BadExpression("Value too large")
        value = value**exponent
    return value, at


def _value(tokens: list[str], at: int, depth: int) -> tuple[Decimal, int]:
    token = tokens[at] if at < len(tokens) else ""
    if token and token[0] in _DIGITS:
        if token.count(".") > 1 or token == ".":
            raise BadExpression("Format error")
        return Decimal(token), at + 1
    if token == "π":
        return Decimal("3.14159265358979323846"), at + 1
    if token == "√":
        value, after = _signed(tokens, at + 1, depth + 1) if depth < 30 else (Decimal(-1), at)
        if value < 0:
            raise BadExpression("Can't take root of a negative number")
        return value.sqrt(), after
    if token == "(":
        value, after = _sum(tokens, at + 1, depth + 1)
        # Brackets that are open at the end are closed.
        return value, after + (after < len(tokens) and tokens[after] == ")")
    raise BadExpression("Format error")


def _format_number(value: Decimal) -> str:
    """Return a number with at most twelve digits, and with an exponent where it would be longer."""
    if not value.is_finite():
        raise BadExpression("Value too large")
    if value and not _MIN_PLAIN <= abs(value) < _MAX_PLAIN:
        text = f"{value:.8E}"
        mantissa, _, exponent = text.partition("E")
        text = f"{mantissa.rstrip('0').rstrip('.')}E{int(exponent)}"
    else:
        with localcontext() as context:
            context.prec = 12
            text = f"{+value:f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−") if text not in ("-0", "") else "0"
