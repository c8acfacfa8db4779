"""The database of one site in one session: shared until it is written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from agentworld_gym.engines import Scalar
from agentworld_gym.engines.tables.database import Database, Tokens, fields_of
from agentworld_gym.engines.tables.insert import Keys

Row = dict[str, Any]


class Image:
    """A database as it is at one moment. All sessions that are there read it through one connection."""

    def __init__(self, data: bytes, keys: Keys) -> None:
        self.data, self.keys = data, keys
        self.lock = Lock()

    @cached_property
    def database(self) -> Database:
        """The connection that everyone reads through."""
        return Database(self.data, Tokens(0))

    @cached_property
    def fields(self) -> Mapping[str, Scalar]:
        """Everything stored, as `table/key/column` and its value."""
        with self.lock:
            return fields_of(self.database.connection, self.keys)


class Store:
    """One session's view of the database of a site.

    It reads a shared image, and gets a database of its own with the first write. A fork shares what was written so
    far as a fresh image.
    """

    def __init__(self, image: Image) -> None:
        self._image = image
        self._own: Database | None = None
        self._changed = False

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        """All rows of a query.

        Raises:
            sqlite3.Error: the query fails, or takes too long.
        """
        if self._own is not None:
            return _rows(self._own, sql, values)
        with self._image.lock:
            return _rows(self._image.database, sql, values)

    def first(self, sql: str, values: Mapping[str, Any]) -> Any:
        """The first value of the first row; None where there is no row."""
        for row in self.rows(sql, values):
            return next(iter(row.values()))
        return None

    def write(self, statements: Sequence[tuple[str, str]], values: dict[str, Any]) -> None:
        """Run statements in one transaction: all of them count, or none.

        Args:
            statements: name and SQL; under a name that is not empty the first value that comes back, or else the id
                of the row that was inserted, is kept in `values`.
            values: the parameters.

        Raises:
            sqlite3.Error: a statement fails; nothing is changed.
        """
        if self._own is None:
            self._own = Database(self._image.data, Tokens(0))
        database = self._own
        database.refresh()
        connection = database.connection
        try:
            connection.execute("BEGIN")
            for name, sql in statements:
                cursor = connection.execute(sql, values)
                found = cursor.fetchone() if cursor.description else None
                if name:
                    values[name] = found[0] if found else cursor.lastrowid if not cursor.description else None
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self._changed = True

    def image(self) -> Image:
        """What is stored."""
        if self._changed and self._own is not None:
            self._image = Image(self._own.image(), self._image.keys)
            self._changed = False
        return self._image

    def fork(self) -> Store:
        """An exact copy."""
        return Store(self.image())

    def close(self) -> None:
        """Free it; twice is fine."""
        if self._own is not None:
            self.image()
            self._own.close()
            self._own = None


def _rows(database: Database, sql: str, values: Mapping[str, Any]) -> list[Row]:
    database.refresh()
    cursor: sqlite3.Cursor = database.connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
