"""Inserts the rows that a task states into a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.kit.tables.database import open_image, quoted

Keys = Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
"""The columns of each table, and the positions of those that make its primary key."""


def with_rows(
    image: bytes, keys: Keys, tables: Mapping[str, Any], file: str, key: str, references: bool = True
) -> bytes:
    """Return a copy of a database with these rows added.

    Args:
        image: the bytes of a database file.
        keys: the tables of the database with their columns and primary keys.
        tables: lists of rows by table.
        file: the file that states the rows, for errors.
        key: the key under which the file states the rows, for errors.
        references: whether every row that another row refers to must exist.

    Raises:
        SpecError: a table or column does not exist, or a constraint refuses a row.
    """
    connection = open_image(image)
    try:
        insert_rows(connection, keys, tables, file, key, references)
        return connection.serialize()
    finally:
        connection.close()


def insert_rows(
    connection: sqlite3.Connection,
    keys: Keys,
    tables: Mapping[str, Any],
    file: str | Path,
    key: str,
    references: bool = True,
) -> None:
    """Insert rows in any order of the tables; see `with_rows`.

    Raises:
        SpecError: a table or column does not exist, or a constraint refuses a row.
    """
    connection.execute("PRAGMA foreign_keys = OFF")
    for table, rows in tables.items():
        _insert(connection, keys, table, rows, file, f"{key}.{table}")
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check") if references else ():
        raise SpecError(file, f"{key}.{table}.{rowid}", rowid, f"a row of {parent} that it refers to")
    connection.execute("PRAGMA foreign_keys = ON")


def _insert(connection: sqlite3.Connection, keys: Keys, table: str, rows: Any, file: str | Path, key: str) -> None:
    if table not in keys:
        raise SpecError(file, key, table, f"one of {', '.join(keys)}")
    columns = keys[table][0]
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise SpecError(file, key, rows, "a list of rows")
    for number, row in enumerate(rows):
        place = f"{key}.{number}"
        if not isinstance(row, Mapping) or not row:
            raise SpecError(file, place, row, "a mapping from column to value")
        for column in row:
            if column not in columns:
                raise SpecError(file, f"{place}.{column}", row[column], f"one of the columns {', '.join(columns)}")
        sql = f"INSERT INTO {quoted(table)} ({', '.join(map(quoted, row))}) VALUES ({', '.join('?' * len(row))})"
        try:
            connection.execute(sql, tuple(row.values()))
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise SpecError(file, place, dict(row), f"a row that the schema accepts ({error})") from error
