"""The rows of a site as plain JSON data, and its database from them.

A row is an object whose `id` is its key: the value of a key of one column, or the values of several with commas between
them. A column without a value is left out; one that has to hold a value then gets its default. The rows of a table
stand in the order in which they were stored.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentworld_gym.domain.view import compact
from agentworld_gym.engines import Scalar
from agentworld_gym.engines.tables.database import opened, quoted
from agentworld_gym.engines.tables.insert import Keys
from agentworld_gym.engines.web.sites.database import Image
from agentworld_gym.engines.web.sites.site import load_site

PlainRow = dict[str, Scalar]
PlainTables = dict[str, list[PlainRow]]


def plain_tables(image: Image) -> PlainTables:
    """Return the rows of a database by table. Nothing in them is shared."""
    with image.lock:
        return {table: list(_plain_rows(image.database.connection, image.keys, table)) for table in image.keys}


def _plain_rows(connection: sqlite3.Connection, keys: Keys, table: str) -> Iterator[PlainRow]:
    columns, key = keys[table]
    for number, values in enumerate(connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY rowid")):
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


def _parts(name: Scalar, key: Sequence[int]) -> list[str]:
    return [str(name)] if len(key) == 1 else str(name).split(",", len(key) - 1) if key else []


def image_of(folder: str, tables: Mapping[str, Any], sequences: Mapping[str, int]) -> Image:
    """Return the database of a site, by its folder, with these rows.

    Args:
        folder: The folder of the site.
        tables: The rows by table.
        sequences: The last number that was given, by table, where a row of a higher number has gone.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The site has no such rows.
    """
    return _image(folder, compact(tables), compact(sequences))


@lru_cache(maxsize=64)
def _image(folder: str, tables: str, sequences: str) -> Image:
    """Return the database of some rows; sessions that have the same rows share it."""
    site = load_site(folder)
    connection = opened(site.empty)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        for table, rows in json.loads(tables).items():
            columns, key = site.keys[table]
            marks = ", ".join(_marks(connection, table))
            stored = [_values(columns, key, row) for row in rows]
            connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", stored)
        for table, last in json.loads(sequences).items():
            connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (last, table))
            if not connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (table,)).fetchone():
                connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
        return Image(connection.serialize(), site.keys)
    finally:
        connection.close()


def _marks(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    """Yield what SQL puts into each column: the value, or the default of a column that has to hold one."""
    for _, _, _, filled, default, _ in connection.execute(f"PRAGMA table_info({quoted(table)})"):
        yield f"coalesce(?, {default})" if filled and default is not None else "?"


def _values(columns: Sequence[str], key: Sequence[int], row: Mapping[str, Any]) -> list[Scalar]:
    name = row["id"]
    if not isinstance(name, str | int | float):
        raise ValueError(f"the id of a row is a text or a number, and not {name!r}")
    parts = [name] if len(key) == 1 else _parts(name, key)
    values = {**dict(zip((columns[place] for place in key), parts, strict=True)), **row}
    if unknown := values.keys() - {*columns, "id"}:
        raise LookupError(f"a row has no column {sorted(unknown)[0]!r}")
    return [values.get(column) for column in columns]


def sequences(image: Image) -> dict[str, int]:
    """Return the last number that was given, by table, where no row has it any more."""
    found = {}
    with image.lock:
        connection = image.database.connection
        for table, (columns, key) in image.keys.items():
            last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
            if last is None or len(key) != 1:
                continue
            (most,) = connection.execute(f"SELECT max({quoted(columns[key[0]])}) FROM {quoted(table)}").fetchone()
            if last[0] != most:
                found[table] = last[0]
    return found
