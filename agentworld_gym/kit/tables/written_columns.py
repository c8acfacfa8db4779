"""The columns that statements set to a parameter, and those that they fill in the rows which they add."""

from __future__ import annotations

import re
from collections.abc import Iterable

Columns = frozenset[tuple[str, str]]
"""Columns by the names of their tables."""
_CHANGED = re.compile(r"\b(?:UPDATE|INTO)\s+(\w+)\b", re.I)
_TO_A_PARAMETER = re.compile(r"\b(\w+)\s*=\s*:\w+\s*(?=,|$)", re.I)
_CONDITION = re.compile(r"\bWHERE\b", re.I)
_INSERTED = re.compile(r"\bINTO\s+(\w+)\s*\(([^)]*)\)", re.I)


def set_columns(statements: Iterable[str]) -> Columns:
    """Return the columns that become a parameter.

    >>> set_columns(["UPDATE cart SET quantity = :quantity, seen = 1 WHERE product_id = :product_id"])
    frozenset({('cart', 'quantity')})
    """
    return frozenset(
        (table[1], column)
        for sql in statements
        if (table := _CHANGED.search(sql))
        for column in _TO_A_PARAMETER.findall(_CONDITION.split(sql)[0])
    )


def inserted_columns(statements: Iterable[str]) -> Columns:
    """Return the columns that rows get when they are added.

    >>> sorted(inserted_columns(["INSERT INTO cart (username, quantity) VALUES (:user, 1)"]))
    [('cart', 'quantity'), ('cart', 'username')]
    """
    return frozenset(
        (table, column.strip())
        for sql in statements
        for table, columns in _INSERTED.findall(sql)
        for column in columns.split(",")
    )
