"""The databases of sessions, in memory, and how a world's code gets at that of the session that acts.

A database of SQLite's `memdb` is shared by the connections of one process under its name, with the locks of a file.
Names are random, and nothing can be attached, so that no statement reaches another database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.inside.clock import SessionClock
from agentworld_gym.domains.mcp.awm.engine.inside.random_numbers import RandomNumbers

MAX_BYTES = 64 << 20
"""The size of a database."""

MAX_VALUE = 16 << 20
"""The size of a value, and of a row."""

PAGE = 4096
CACHE_PAGES = 16

# They are taken before the code of a world is given others.
connect_really = sqlite3.connect
urandom_really = os.urandom


class Held(sqlite3.Connection):
    """A connection to the database of a session. To close it gives it back, for the next one who asks.

    Args:
        owner: The database. Code that finds this class cannot name another one, which sessions could share.
        types: Which types it reads from the declarations and names of columns, as `detect_types` of `sqlite3.connect`.
    """

    def __init__(self, owner: OpenDatabase, types: int) -> None:
        if type(owner) is not OpenDatabase:
            raise sqlite3.ProgrammingError("connections are made by sqlite3.connect")
        # The connections of one database wait for each other in one thread, which would be for ever.
        super().__init__(owner._name, timeout=0, detect_types=types, uri=True, check_same_thread=False)
        self.owner: OpenDatabase | None = owner
        self.types = types

    def close(self) -> None:
        """Give the connection back to its database."""
        if self.owner is not None:
            self.owner.take_back(self)


class Guest:
    """A second connection while another one writes: it reads and writes with that one, which alone commits.

    A file could be read meanwhile; a database in memory cannot.
    """

    def __init__(self, held: Held) -> None:
        self._held = held

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def commit(self) -> None:
        """Leave it to the connection that writes."""

    def rollback(self) -> None:
        """Leave it to the connection that writes."""

    def close(self) -> None:
        """Leave the connection to the one that writes."""


class OpenDatabase:
    """One database with its connections; it is there as long as one of them is open."""

    def __init__(self, clock: SessionClock, chance: RandomNumbers) -> None:
        self._clock, self._chance = clock, chance
        self._name = f"file:/{urandom_really(16).hex()}?vfs=memdb"
        self._lent: set[Held] = set()
        self._changes = 0
        self._idle = [self._open_connection()]

    def _open_connection(self, types: int = 0) -> Held:
        held = Held(self, types)
        held.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        held.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        held.execute(f"PRAGMA max_page_count = {MAX_BYTES // PAGE}")
        held.execute(f"PRAGMA cache_size = {CACHE_PAGES}")
        register(held, self._clock, self._chance)
        return held

    def lend(self, types: int = 0) -> Held | Guest:
        """Return a connection that nobody else has, unless somebody is writing.

        Args:
            types: Which types it reads from the declarations and names of columns.
        """
        for lent in self._lent:
            if lent.in_transaction:
                return Guest(lent)
        held = self._idle.pop() if self._idle and not types else self._open_connection(types)
        self._lent.add(held)
        return held

    def take_back(self, held: Held) -> None:
        """Keep a connection that was lent; what it did not commit is undone."""
        if held not in self._lent:
            return
        self._lent.discard(held)
        if held.in_transaction:
            held.rollback()
        if held.types:
            self._end(held)
            return
        held.row_factory, held.text_factory, held.isolation_level = None, str, "DEFERRED"
        held.execute("PRAGMA foreign_keys = OFF")  # A copy of the database would not have it either.
        self._idle.append(held)

    def version(self) -> tuple[int, int]:
        """Return the version of the tables, and how many rows were changed; both grow with what is stored."""
        held = self._idle[-1]
        [(schema,)] = held.execute("PRAGMA schema_version").fetchall()
        return schema, self._changes + sum(each.total_changes for each in self._idle)

    def settle(self) -> None:
        """Undo what is not committed, and close connections that were not given back, so that nobody uses them."""
        lost, self._lent = self._lent, set()
        for held in lost:
            with suppress(sqlite3.Error):
                held.rollback()
        for held in lost:
            self._end(held)

    def _end(self, held: Held) -> None:
        if not self._idle:  # The database is there as long as a connection is.
            self._idle.append(self._open_connection())
        held.owner = None
        self._changes += held.total_changes
        sqlite3.Connection.close(held)

    def copy(self) -> OpenDatabase:
        """Return a database with the same content."""
        twin = OpenDatabase(self._clock, self._chance)
        self._idle[-1].backup(twin._idle[-1])
        return twin

    def image(self) -> bytes:
        """Return the bytes of a file with this content; none of a database without a table."""
        try:
            return self._idle[-1].serialize()
        except sqlite3.OperationalError:
            if self._idle[-1].execute("PRAGMA page_count").fetchone() == (0,):
                return b""
            raise

    def fill(self, image: bytes) -> None:
        """Replace the content by that of a file.

        Raises:
            sqlite3.Error: The bytes are no database.
        """
        source = connect_really(":memory:")
        # A file in the mode of a write-ahead log cannot be read without one.
        source.deserialize(image[:18] + b"\1\1" + image[20:])
        try:
            source.backup(self._idle[-1])
        finally:
            source.close()

    def run(self, statements: Sequence[str], tables: Sequence[int] | None = None) -> list[str | None]:
        """Run statements one by one, each by itself, with foreign keys checked.

        Args:
            statements: The statements.
            tables: How many of the first statements belong to each table, to run all as AWM does: of a table, none is
                run after one that failed, and no quote is mended. None runs and mends all.

        Returns:
            For each statement the error that it failed with, or None.
        """
        held = self._idle[-1]
        held.execute("PRAGMA foreign_keys = ON")
        usual, held.isolation_level = held.isolation_level, None
        if tables is None:
            errors = [_error_of(held, statement) for statement in statements]
        else:
            errors = list(_as_in_awm(held, statements, tables))
        if held.in_transaction:  # One of the statements began it.
            held.commit()
        held.isolation_level = usual
        held.execute("PRAGMA foreign_keys = OFF")
        return errors

    def fields(self) -> dict[str, Any]:
        """Return all that is stored, as values by `table/primary key/column`; a table without a key has row numbers."""
        held, found = self._idle[-1], {}
        for table, quoted in _tables(held, "name"):
            info = held.execute(f"PRAGMA table_info({quoted})").fetchall()
            cursor = held.execute(f"SELECT * FROM {quoted}")
            names = [column for column, *_ in cursor.description]  # Columns that are computed are not in `table_info`.
            keys = [names.index(name) for _, name in sorted((column[5], column[1]) for column in info if column[5])]
            for number, row in enumerate(cursor.fetchall()):
                key = ",".join(str(row[place]) for place in keys) if keys else str(number)
                for column, value in zip(names, row, strict=True):
                    shown = value.hex() if isinstance(value, bytes) else value
                    found[f"{table}/{key}/{column}"] = shown
        return found

    def stored(self, most: int) -> dict[str, Any]:
        """Return what is stored: the statements of `schema`, the first rows of `tables`, and their `counts`.

        Args:
            most: The most bytes of the rows of a table, roughly.
        """
        held, tables, counts = self._idle[-1], {}, {}
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        hidden = _inner_tables(held)
        schema = [statement for name, statement in held.execute(query).fetchall() if name not in hidden]
        for table, quoted in _tables(held, "rowid"):
            [(counts[table],)] = held.execute(f"SELECT count(*) FROM {quoted}").fetchall()
            cursor, rows, left = held.execute(f"SELECT * FROM {quoted}"), [], most
            names = [column for column, *_ in cursor.description]
            for row in cursor:
                shown = [value.hex() if isinstance(value, bytes) else value for value in row]
                left -= sum(len(str(value)) + 8 for value in shown)
                if left < 0:
                    break
                rows.append(dict(zip(names, shown, strict=True)))
            cursor.close()
            tables[table] = rows
        return {"schema": ";\n".join(schema), "tables": tables, "counts": counts}

    def close(self) -> None:
        """Free the database."""
        for held in (*self._idle, *self._lent):
            held.owner = None
            with suppress(sqlite3.Error):
                sqlite3.Connection.close(held)
        self._idle, self._lent = [], set()


def _tables(held: sqlite3.Connection, order: str) -> Iterator[tuple[str, str]]:
    """Yield the names of tables in an order, each also as SQL writes it."""
    query = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY {order}"
    hidden = _inner_tables(held)
    for (table,) in held.execute(query).fetchall():
        if table not in hidden:
            yield table, '"' + table.replace('"', '""') + '"'


def _inner_tables(held: sqlite3.Connection) -> set[str]:
    """Return the names of tables in which a virtual table, such as one for searching texts, keeps what it needs."""
    return {name for _, name, kind, *_ in held.execute("PRAGMA table_list").fetchall() if kind == "shadow"}


def _as_in_awm(held: sqlite3.Connection, statements: Sequence[str], tables: Sequence[int]) -> Iterator[str | None]:
    left = iter(statements)
    for count in tables:
        failed: str | None = None
        for statement in islice(left, count):
            error = f"not run: {failed}" if failed else _refused(held, statement)
            failed = failed or error
            yield error
    yield from (_refused(held, statement) for statement in left)


def _error_of(held: sqlite3.Connection, statement: str) -> str | None:
    error = _refused(held, statement)
    # Some of the statements escape a quote as other languages do.
    if error is None or "\\'" not in statement:
        return error
    return None if _refused(held, statement.replace("\\'", "''")) is None else error


def _refused(held: sqlite3.Connection, statement: str) -> str | None:
    """Run a statement, and return why it failed; None where it did not."""
    try:
        held.execute(statement)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        return str(error)
    return None


def register(connection: sqlite3.Connection, clock: SessionClock, chance: RandomNumbers) -> None:
    """Let the functions of SQL that tell the time, or draw a number, ask the session's clock and chance."""
    plain = _plain()

    def timed(name: str, place: int) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            given = list(arguments)
            if len(given) == place:
                given.append("now")
            if place < len(given) and isinstance(given[place], str) and given[place].strip().lower() == "now":
                given[place] = clock.iso()
            marks = ", ".join("?" * len(given))
            return plain.execute(f"SELECT {name}({marks})", given).fetchone()[0]

        return function

    for name in ("date", "time", "datetime", "julianday", "unixepoch"):
        connection.create_function(name, -1, timed(name, 0), deterministic=True)
    connection.create_function("strftime", -1, timed("strftime", 1), deterministic=True)
    for name, form in (("timestamp", "datetime"), ("date", "date"), ("time", "time")):
        connection.create_function(f"current_{name}", 0, timed(form, 0))
    connection.create_function("random", 0, chance.integer)
    connection.create_function("randomblob", 1, lambda count: chance.bytes(max(1, min(int(count), MAX_VALUE))))


_PLAIN: list[sqlite3.Connection] = []


def _plain() -> sqlite3.Connection:
    """Return a connection with SQLite's own functions, one for the process."""
    if not _PLAIN:
        _PLAIN.append(connect_really(":memory:", check_same_thread=False))
    return _PLAIN[0]
