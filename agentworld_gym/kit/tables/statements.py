"""The SQL statements of data files: checks on them, and the columns that they set, count up or sum up."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from agentworld_gym.core.engines import Scalar
from agentworld_gym.kit.tables.database import quoted

_PATTERN = re.compile(r"\b(LIKE|GLOB)\b(?!\s*')", re.IGNORECASE)
CLOCK = (
    r"'now'|\"now\"|\bCURRENT_(?:TIME|DATE|TIMESTAMP)\b"
    r"|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)|\bstrftime\s*\(\s*'[^']*'\s*\)"
)
"""A pattern of what reads the clock in SQLite: the word itself, and functions of time without an explicit time."""

_CHANGING = re.compile(rf"{CLOCK}|\brandom", re.IGNORECASE)


def statement(sql: str) -> str:
    """Return one statement of a data file, without the semicolon at its end.

    Raises:
        ValueError: the statement searches with a pattern that is not a literal, or depends on the clock or on chance.
    """
    if _PATTERN.search(sql):
        raise ValueError("no LIKE or GLOB with a pattern that is not a literal; has(text, part) searches a text")
    if match := _CHANGING.search(sql):
        raise ValueError(f"a statement without {match.group()}; there is :now, and token(length)")
    return sql.strip().rstrip(";")


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


Columns = frozenset[tuple[str, str]]
"""Columns by the names of their tables."""
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


_SUMMED = re.compile(r"UPDATE\s+(\w+)\s+SET\s+(\w+)\s*=\s*(\(\s*SELECT\b[^:]*\))\s*WHERE\s+\w+\s*=\s*:\w+\s*", re.I)


def summed_columns(statements: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the tables and columns that are summed up from other rows, whatever the call, with the expressions.

    >>> summed_columns(["UPDATE a SET total = (SELECT sum(price) FROM b WHERE b.id = a.id) WHERE id = :id"])
    {('a', 'total'): '(SELECT sum(price) FROM b WHERE b.id = a.id)'}
    """
    found = (_SUMMED.fullmatch(sql.strip()) for sql in statements)
    return {(match[1], match[2]): match[3] for match in found if match}


def summed_up(connection: sqlite3.Connection, table: str, key: str, name: Scalar, expression: str) -> Scalar:
    """Return what the other rows of a database come to for a row.

    Args:
        connection: The database.
        table: The table of the row.
        key: The column that names it.
        name: Its name.
        expression: What sums up.

    Raises:
        LookupError: There is no such row.
        sqlite3.Error: The database refuses the expression.
    """
    query = f"SELECT {expression} FROM {quoted(table)} WHERE {quoted(key)} = ?"
    row = connection.execute(query, (name,)).fetchone()
    if row is None:
        raise LookupError(f"no row {name} of {table}")
    value: Scalar = row[0]
    return value
