"""The database of one site in one session: shared until it is written to, and its rows as plain JSON data."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.web.engine.sites.site import load_site
from agentworld_gym.kit.tables.database import Database, SeededTokens, fields_of
from agentworld_gym.kit.tables.insert import Keys
from agentworld_gym.kit.tables.plain_rows import PlainTables, image_of_rows, plain_tables, sequences_of

Row = dict[str, Any]


class Image:
    """A database at one moment. All sessions in that state read it through one connection."""

    def __init__(self, data: bytes, keys: Keys) -> None:
        self.data, self.keys = data, keys
        self.lock = Lock()

    @cached_property
    def database(self) -> Database:
        """The connection that all readers share."""
        return Database(self.data, SeededTokens(0))

    @cached_property
    def fields(self) -> Mapping[str, Scalar]:
        """Return all stored values by `table/key/column`."""
        with self.lock:
            return fields_of(self.database.reading(), self.keys)


class Store:
    """The database of a site as one session sees it.

    It reads a shared image, and gets a database of its own with the first write. A fork shares what was written so far
    as another image.
    """

    def __init__(self, image: Image) -> None:
        self._image = image
        self._own: Database | None = None
        self._changed = False

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        """Return all rows of a query.

        Raises:
            sqlite3.Error: The query fails, or takes too long.
        """
        if self._own is not None:
            return _rows(self._own, sql, values)
        with self._image.lock:
            return _rows(self._image.database, sql, values)

    def first(self, sql: str, values: Mapping[str, Any]) -> Any:
        """Return the first value of the first row; None where there is no row."""
        for row in self.rows(sql, values):
            return next(iter(row.values()))
        return None

    def write(self, statements: Sequence[tuple[str, str]], values: dict[str, Any]) -> None:
        """Run statements in one transaction: either all of them take effect or none.

        Args:
            statements: Pairs of a name and SQL. Under a name that is not empty, `values` keeps the first value that
                the statement returns, or else the id of the row that it inserts.
            values: The parameters of the statements.

        Raises:
            sqlite3.Error: A statement fails; nothing is changed.
        """
        if self._own is None:
            self._own = Database(self._image.data, SeededTokens(0))
        database = self._own
        database.refresh()
        connection = database.connection
        try:
            connection.execute("BEGIN")
            for name, sql in statements:
                cursor = connection.execute(sql, values)
                row = cursor.fetchone() if cursor.description else None
                if name:
                    values[name] = row[0] if row else cursor.lastrowid if not cursor.description else None
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self._changed = True

    def image(self) -> Image:
        """Return an image of the present content."""
        if self._changed and self._own is not None:
            self._image = Image(self._own.image(), self._image.keys)
            self._changed = False
        return self._image

    def fork(self) -> Store:
        """Return an exact copy."""
        return Store(self.image())

    def close(self) -> None:
        """Free all resources. It may be called twice."""
        if self._own is not None:
            self.image()
            self._own.close()
            self._own = None


def _rows(database: Database, sql: str, values: Mapping[str, Any]) -> list[Row]:
    database.refresh()
    cursor: sqlite3.Cursor = database.connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def rows_of(image: Image) -> PlainTables:
    """Return the rows of a database by table. Nothing in them is shared."""
    with image.lock:
        return plain_tables(image.database.reading(), image.keys)


def image_of(folder: str, tables: Mapping[str, Any], sequences: Mapping[str, int]) -> Image:
    """Return the database of a site, by its folder, with these rows.

    Args:
        folder: The folder of the site.
        tables: The rows by table.
        sequences: The last number that was given, by table, where a row of a higher number has gone.

    Raises:
        sqlite3.Error, LookupError, TypeError, ValueError: The site has no such rows, or one refers by a text to a row
            that is not there.
    """
    return _image(folder, compact(tables), compact(sequences))


@lru_cache(maxsize=64)
def _image(folder: str, tables: str, sequences: str) -> Image:
    """Return the database of some rows; sessions that have the same rows share it."""
    site = load_site(folder)
    rows = image_of_rows(site.empty, site.keys, json.loads(tables), json.loads(sequences), site.references)
    return Image(rows, site.keys)


def sequences(image: Image) -> dict[str, int]:
    """Return the last number that was given, by table, where no row has it any more."""
    with image.lock:
        return sequences_of(image.database.reading(), image.keys)
