"""The database of one site in one session: shared until it is written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from agentworld_gym.core.engines import Scalar
from agentworld_gym.kit.tables.database import Database, SeededTokens, fields_of
from agentworld_gym.kit.tables.insert import Keys

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
