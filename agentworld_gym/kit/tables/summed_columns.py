"""The columns that statements sum up from other rows, such as the total of an order."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from agentworld_gym.core.engines import Scalar
from agentworld_gym.kit.tables.database import quoted

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
