"""The rows of a database as plain JSON data, and a database from them.

A row is an object whose `id` is its key: the value of a key of one column, or the values of several with commas between
them. A column without a value is left out; one that has to hold a value then gets its default. The rows of a table
stand in the order in which they were stored, or in the order of their keys where the table has no row ids.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from types import MappingProxyType
from typing import Any

from agentworld_gym.base.errors import AnswerError, ImpossibleState
from agentworld_gym.core.domain.view import predicted
from agentworld_gym.core.engines import Scalar
from agentworld_gym.kit.tables.database import building, open_image, quoted
from agentworld_gym.kit.tables.insert import Keys

PlainRow = dict[str, Scalar]
PlainTables = dict[str, list[PlainRow]]


def plain_tables(connection: sqlite3.Connection, keys: Keys) -> PlainTables:
    """Return the rows of a database by table. Nothing in them is shared."""
    return {table: list(_plain_rows(connection, keys, table)) for table in keys}


def _plain_rows(connection: sqlite3.Connection, keys: Keys, table: str) -> Iterator[PlainRow]:
    columns, key = keys[table]
    rows = connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY {_order(connection, table, key)}")
    for number, values in enumerate(rows):
        parts = [values[place] for place in key]
        name: Scalar = parts[0] if len(parts) == 1 else ",".join(map(str, parts)) if parts else number
        told = frozenset(key) if _parts(name, key) == list(map(str, parts)) else frozenset()
        yield {
            "id": name,
            **{
                column: value
                for place, (column, value) in enumerate(zip(columns, values, strict=True))
                if value is not None and place not in told
            },
        }


def _order(connection: sqlite3.Connection, table: str, key: Sequence[int]) -> str:
    try:
        connection.execute(f"SELECT rowid FROM {quoted(table)} LIMIT 0")
    except sqlite3.OperationalError:  # The table has no row ids.
        return ", ".join(str(place + 1) for place in key)
    return "rowid"


def _parts(name: Scalar, key: Sequence[int]) -> list[str]:
    return [str(name)] if len(key) == 1 else str(name).split(",", len(key) - 1) if key else []


def defaults_of(connection: sqlite3.Connection, table: str) -> PlainRow:
    """Return the defaults of the columns of a table that have to hold a value, as the columns store them.

    Only constants are among them, and neither expressions nor what a clock says.
    """
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    found: PlainRow = {}
    with closing(building()) as scratch:
        scratch.execute("CREATE TABLE one AS SELECT 1")
        for place, column, kind, filled, default, _ in columns:
            if not filled or default is None:
                continue
            kind, added = quoted(kind) if kind else "", quoted(f"column {place}")
            with suppress(sqlite3.OperationalError):  # Rows that are there can get a constant only.
                scratch.execute(f"ALTER TABLE one ADD COLUMN {added} {kind} NOT NULL DEFAULT {default}")
                (found[column],) = scratch.execute(f"SELECT {added} FROM one").fetchone()
    return found


def numbers_rows(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether the rows of a table get the next number as their key: it is an `INTEGER PRIMARY KEY`."""
    columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    return [kind.upper() for _, _, kind, _, _, place in columns if place] == ["INTEGER"]


def completed_row(
    columns: Sequence[str],
    numbered: bool,
    defaults: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    row: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a row that is added to a table, with the next number as its `id` and the defaults of the columns.

    Args:
        columns: The columns of the table.
        numbered: Whether its rows get the next number as their key; see `numbers_rows`.
        defaults: The defaults of the columns.
        rows: The rows of the table so far.
        row: The described columns of the row; they keep their values.

    >>> completed_row(("order_id", "status"), True, {"status": "new"}, [{"id": 7, "status": "paid"}], {})
    {'id': 8, 'status': 'new'}
    """
    numbers = [other.get("id", 0) for other in rows]
    counts_on = numbered and all(type(number) is int for number in numbers)
    following = {"id": max(numbers, default=0) + 1} if counts_on else {}
    known = {**following, **defaults, **row}
    return {name: known[name] for name in dict.fromkeys(("id", *columns, *known)) if name in known}


def image_of_rows(
    empty: bytes,
    keys: Keys,
    tables: Mapping[str, Any],
    sequences: Mapping[str, int],
    references: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> bytes:
    """Return the bytes of a database with these rows.

    Args:
        empty: The bytes of a database with the tables and without rows.
        keys: The columns of each table, and the positions of those that make its key.
        tables: The rows by table.
        sequences: The last number that was given, by table, where a row of a higher number has gone.
        references: The columns of each table that may refer only to rows that are there, with the table of those rows.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The database can have no such rows.
    """
    connection = open_image(empty)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = _dropped_triggers(connection)
        for table, rows in tables.items():
            columns, key = keys[table]
            marks = ", ".join(_marks(connection, table))
            stored = [_values(columns, key, row) for row in rows]
            connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", stored)
        for table, _, other, _ in connection.execute("PRAGMA foreign_key_check") if references else ():
            if other in references.get(table, {}).values():
                raise LookupError(f"a row of {table} refers to no row of {other}")
        for table, last in sequences.items():
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (last, table))
            if not connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (table,)).fetchone():
                connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
        for sql in triggers:
            connection.execute(sql)
        return connection.serialize()
    finally:
        connection.close()


def _dropped_triggers(connection: sqlite3.Connection) -> list[str]:
    """Drop the triggers, whose effects the rows have already, and return the statements that make them."""
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {quoted(name)}")
    return [sql for _, sql in triggers]


def _marks(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    """Yield what SQL puts into each column: the value, or the default of a column that has to hold one."""
    for _, _, _, filled, default, _ in connection.execute(f"PRAGMA table_info({quoted(table)})"):
        yield f"coalesce(?, {default})" if filled and default is not None else "?"


def _values(columns: Sequence[str], key: Sequence[int], row: Mapping[str, Any]) -> list[Scalar]:
    name = row["id"]
    if not isinstance(name, str | int | float):
        raise ValueError(f"the id of a row is a text or a number, and not {name!r}")
    parts = [name] if len(key) == 1 else _parts(name, key)
    own = row if not key else {column: value for column, value in row.items() if column != "id"}
    values = {**dict(zip((columns[place] for place in key), parts, strict=True)), **own}
    if unknown := values.keys() - {*columns, "id"}:
        raise LookupError(f"a row has no column {sorted(unknown)[0]!r}")
    return [values.get(column) for column in columns]


def sequences_of(connection: sqlite3.Connection, keys: Keys) -> dict[str, int]:
    """Return the last number that was given, by table, where no row has it any more."""
    found: dict[str, int] = {}
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchone() is None:
        return found  # No table counts up.
    for table, (columns, key) in keys.items():
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        if last is None or len(key) != 1:
            continue
        (most,) = connection.execute(f"SELECT max({quoted(columns[key[0]])}) FROM {quoted(table)}").fetchone()
        if last[0] != most:
            found[table] = last[0]
    return found


@contextmanager
def predicted_rows(owner: str) -> Iterator[None]:
    """Make an answer error of any error in this block, which reads predicted rows.

    Rows that break a rule of their tables, such as a stock below zero, are told by that rule: whoever stores them would
    refuse them.

    Args:
        owner: Who stores the rows, for the message.

    Raises:
        ImpossibleState: The tables refuse the rows.
        AnswerError: The state cannot be read for any other reason.

    >>> with predicted_rows("server"):
    ...     raise sqlite3.IntegrityError("CHECK constraint failed: stock >= 0")
    Traceback (most recent call last):
    agentworld_gym.base.errors.ImpossibleState: the server would refuse these rows: CHECK constraint failed: stock >= 0
    """
    try:
        with predicted():
            yield
    except AnswerError as error:
        if isinstance(error.__cause__, sqlite3.IntegrityError):
            raise ImpossibleState(f"the {owner} would refuse these rows: {error.__cause__}") from error.__cause__
        raise
