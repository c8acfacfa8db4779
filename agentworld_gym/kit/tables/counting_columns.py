"""The columns that statements change by an amount, such as a balance or a stock."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CHANGED = re.compile(r"\b(?:UPDATE|INTO)\s+(\w+)\b", re.I)
_BY_AN_AMOUNT = re.compile(r"\b(\w+)\s*=\s*(?:\w+\(\s*)*\1\s*[-+]", re.I)


def counting_columns(statements: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return the tables and columns whose new value is the old one, more or less an amount.

    >>> counting_columns(["UPDATE accounts SET balance = round(balance - :amount, 2), name = :name"])
    frozenset({('accounts', 'balance')})
    >>> counting_columns(["UPDATE payments SET refunded = coalesce(round(refunded + :amount, 2), amount)"])
    frozenset({('payments', 'refunded')})
    """
    return frozenset(
        (table[1], column)
        for sql in statements
        if (table := _CHANGED.search(sql))
        for column in _BY_AN_AMOUNT.findall(sql)
    )
