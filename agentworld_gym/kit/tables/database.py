"""In-memory databases that a scenario's SQL cannot misuse: no files, no settings, bounded work and size."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from agentworld_gym.core.engines import Scalar

PAGE_BYTES = 1024
MAX_BYTES = 8 * 2**20
"""The size in bytes to which one database may grow."""

MAX_VALUE_BYTES = 250_000
"""The size in bytes of a value, and of a row, in the database and in what statements compute on their way."""

CHUNK = 500
"""The number of steps of SQLite's virtual machine after which the work of a connection is looked at."""


class Bound(NamedTuple):
    """How much work a connection may do."""

    chunks: int
    """The number of chunks of `CHUNK` steps."""
    seconds: float
    """The CPU time in seconds, which is looked at after each chunk: a step on a long text takes longer than others."""


CALL = Bound(chunks=2_000, seconds=5.0)
"""What one call may take."""

BUILDING = Bound(chunks=80_000, seconds=60.0)
"""What a connection may take that builds a database or tries statements."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 32,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
}
_ALLOWED = frozenset(
    (
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_RECURSIVE,
    )
)
_BUILDING = _ALLOWED | {
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_DROP_TABLE,
    sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_VIEW,
    sqlite3.SQLITE_DROP_TRIGGER,
    sqlite3.SQLITE_ALTER_TABLE,
    sqlite3.SQLITE_REINDEX,
    sqlite3.SQLITE_SAVEPOINT,
}
_PRAGMAS = frozenset(
    ("foreign_keys", "foreign_key_check", "foreign_key_list", "integrity_check", "page_count", "table_info")
)
"""The pragmas that only read a database; SQLite itself asks for `page_count` when an image is made."""

_CLOCK_FUNCTIONS = ("current_date", "current_time", "current_timestamp", "timediff")
_DENIED_FUNCTIONS = frozenset(
    ("load_extension", "random", "randomblob", "zeroblob", "readfile", "writefile", *_CLOCK_FUNCTIONS)
)


class SeededTokens:
    """Identifiers that cannot be guessed: they depend on a seed and on how many were made before."""

    def __init__(self, seed: int, count: int = 0) -> None:
        self.seed, self.count = seed, count
        self.made: list[str] = []

    def copy(self) -> SeededTokens:
        """Return a copy for a fork, which makes the same identifiers."""
        twin = SeededTokens(self.seed, self.count)
        twin.made = list(self.made)
        return twin

    def make(self, length: int) -> str:
        """Make one identifier of the given number of hexadecimal digits.

        >>> SeededTokens(1).make(8) == SeededTokens(1).make(8) != SeededTokens(2).make(8)
        True
        """
        self.count += 1
        digest = hashlib.blake2b(f"{self.seed}/{self.count}".encode(), digest_size=32).hexdigest()
        self.made.append(digest[: max(4, min(int(length), 64))])
        return self.made[-1]


class Database:
    """One in-memory database.

    Args:
        image: the bytes of a database file.
        tokens: the source of the identifiers that the SQL function `token(length)` returns.
    """

    def __init__(self, image: bytes, tokens: SeededTokens) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.deserialize(image)
        self._work = _secure(self.connection, tokens, _authorize, CALL)

    def refresh(self) -> None:
        """Begin a call, which may take all the work that one call is allowed."""
        self._work.refresh()

    def reading(self) -> sqlite3.Connection:
        """Return the connection to read a whole state, which may take all the work that one call is allowed."""
        self.refresh()
        return self.connection

    def image(self) -> bytes:
        """Return the bytes of a database file with everything that is stored."""
        return self.connection.serialize()

    def close(self) -> None:
        """Free the database; a second call does nothing."""
        self.connection.close()


def has(text: Any, part: Any) -> int | None:
    """Return whether a text contains another one in any letter case; this is the SQL function `has`.

    >>> has("LÜBECK", "übe"), has(None, "a")
    (1, None)
    """
    if text is None or part is None:
        return None
    return int(str(part).casefold() in str(text).casefold())


def today(now: Any) -> str | None:
    """Return the date of a time; this is the SQL function `today`.

    >>> today("2026-03-04T09:30:00Z")
    '2026-03-04'
    """
    return None if now is None else str(now)[:10]


def building() -> sqlite3.Connection:
    """Connect to an empty database for the statements of a data file, which may make tables and do no more.

    No statement reaches a file or a setting. All statements together may take what `BUILDING` says and grow to
    `MAX_BYTES`.

    >>> building().execute("ATTACH DATABASE 'here.db' AS other")
    Traceback (most recent call last):
        ...
    sqlite3.DatabaseError: not authorized
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    _secure(connection, SeededTokens(0), _authorize_building, BUILDING)
    return connection


def empty_image(schema: str) -> bytes:
    """Return the bytes of a database that has the tables of a schema and no rows.

    Raises:
        sqlite3.Error: the schema is wrong, or does more than make tables.
    """
    connection = building()
    try:
        connection.executescript(schema)
        return connection.serialize()
    finally:
        connection.close()


def open_image(image: bytes) -> sqlite3.Connection:
    """Connect to a copy of a database to build on it or to read it, within the bounds of `building`.

    Foreign keys are enforced.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(image)
    _secure(connection, SeededTokens(0), _authorize_building, BUILDING)
    return connection


def quoted(name: str) -> str:
    """Quote the name of a table or column for SQL, whatever characters it holds.

    >>> print(quoted('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'


def keys_of(connection: sqlite3.Connection) -> dict[str, tuple[tuple[str, ...], tuple[int, ...]]]:
    """Return the columns of each table, and the positions of those that make its primary key."""
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    keys: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
    for (table,) in names.fetchall():
        columns = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        keyed = sorted((place, index) for index, (*_, place) in enumerate(columns) if place)
        keys[table] = tuple(column[1] for column in columns), tuple(index for _, index in keyed)
    return keys


def named_references_of(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """Return the columns of each table that refer to rows which a text names, with the table of those rows."""
    keys = keys_of(connection)
    named: dict[str, dict[str, str]] = {}
    for table in keys:
        for _, _, other, column, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall():
            types = connection.execute(f"PRAGMA table_info({quoted(other)})").fetchall()
            if [types[place][2].upper() for place in keys[other][1]] == ["TEXT"]:
                named.setdefault(table, {})[column] = other
    return named


def fields_of(
    connection: sqlite3.Connection, keys: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
) -> dict[str, Scalar]:
    """Return everything stored, as values by `table/primary key/column`."""
    fields: dict[str, Scalar] = {}
    for table, (columns, key) in keys.items():
        for number, row in enumerate(connection.execute(f"SELECT * FROM {quoted(table)}")):
            place = f"{table}/{','.join(str(row[index]) for index in key) or number}/"
            for column, value in zip(columns, row, strict=True):
                fields[place + column] = value
    return fields


def tables_of(
    connection: sqlite3.Connection, keys: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
) -> dict[str, list[dict[str, Scalar]]]:
    """Return everything stored, as rows by table, each table in the order of its key."""
    tables: dict[str, list[dict[str, Scalar]]] = {}
    for table, (columns, key) in keys.items():
        order = ", ".join(str(index + 1) for index in key) or "rowid"
        rows: Sequence[Any] = connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY {order}").fetchall()
        tables[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    return tables


class _Work:
    """The work that a connection has done."""

    def __init__(self, most: Bound) -> None:
        self._most = most
        self._chunks, self._began = 0, 0.0

    def refresh(self) -> None:
        """Forget what was done."""
        self._chunks = 0

    def tick(self) -> int:
        """Count a chunk; SQLite calls this after each one and ends the statement if the result is not 0."""
        if not self._chunks:
            self._began = time.thread_time()
        self._chunks += 1
        return self._chunks > self._most.chunks or time.thread_time() - self._began > self._most.seconds


_Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]


def _secure(connection: sqlite3.Connection, tokens: SeededTokens, authorize: _Authorizer, most: Bound) -> _Work:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA max_page_count = {MAX_BYTES // PAGE_BYTES}")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.create_function("has", 2, has, deterministic=True)
    connection.create_function("today", 1, today, deterministic=True)
    connection.create_function("token", 1, tokens.make)
    register_time_functions(connection)
    connection.set_authorizer(authorize)
    work = _Work(most)
    connection.set_progress_handler(work.tick, CHUNK)
    return work


def _authorize(action: int, first: str | None, second: str | None, _base: str | None, _inner: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in _DENIED_FUNCTIONS else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _authorize_building(action: int, first: str | None, second: str | None, base: str | None, inner: str | None) -> int:
    allowed = action in _BUILDING or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    return sqlite3.SQLITE_OK if allowed else _authorize(action, first, second, base, inner)


def sqlite_version(variant: str = "") -> dict[str, str]:
    """Return the version of SQLite, whose errors and orders an agent sees, for a fingerprint.

    >>> list(sqlite_version())
    ['sqlite']
    """
    return {"sqlite": sqlite3.sqlite_version}


MOST_CHARS = 100
"""The number of characters that an argument of a function of time may have."""

_CLOCK = frozenset(("now", "subsec", "subsecond"))
"""The times for which SQLite reads the clock of the machine; as modifiers the last two only ask for fractions."""

_ZONE = frozenset(("localtime", "utc"))
"""The modifiers for which SQLite asks for the time zone of the machine."""

_FEWEST = {"date": 1, "time": 1, "datetime": 1, "julianday": 1, "unixepoch": 1, "strftime": 2}
"""The functions, with the number of arguments below which they read the clock."""


@lru_cache(maxsize=4096, typed=True)
def time_value(function: str, *arguments: Scalar) -> Scalar:
    """Return what a function of time returns in SQLite, where that follows from its arguments alone.

    It is None where SQLite returns NULL, because an argument is no time or modifier, and also where SQLite would ask
    the machine, or where an argument is longer than `MOST_CHARS`.

    >>> time_value("date", "2026-01-31T09:00:00Z", "+1 day"), time_value("strftime", "%d.%m.", "2026-01-31")
    ('2026-02-01', '31.01.')
    >>> time_value("date", "now"), time_value("date"), time_value("strftime", "%s"), time_value("time", 0, "localtime")
    (None, None, None, None)
    """
    place = _FEWEST[function] - 1
    if place >= len(arguments) or _word(arguments[place]) in _CLOCK or not all(map(_is_told, arguments)):
        return None
    marks = ", ".join("?" * len(arguments))
    value: Scalar = _calculator().execute(f"SELECT {function}({marks})", arguments).fetchone()[0]
    return value


def register_time_functions(connection: sqlite3.Connection) -> None:
    """Let the statements of a connection use `time_value` in place of SQLite's own functions of time."""
    for name in _FEWEST:
        connection.create_function(name, -1, partial(time_value, name), deterministic=True)


def _is_told(argument: object) -> bool:
    """Whether an argument says all that it stands for. SQLite reads bytes as texts."""
    if isinstance(argument, str):
        return len(argument) <= MOST_CHARS and _word(argument) not in _ZONE
    return not isinstance(argument, bytes)


def _word(argument: object) -> str:
    """Return the word that SQLite reads in an argument: a text to its first NUL."""
    return argument.partition("\0")[0].lower() if isinstance(argument, str) else ""


@lru_cache(maxsize=1)
def _calculator() -> sqlite3.Connection:
    """Return a connection to nothing, whose functions of time are SQLite's own; all threads may use it."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
