"""Checks the tables and rows of a world by building its database, within bounds for the SQL of strangers."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any
from agentworld_gym.kit.tables.database import building, empty_image, keys_of, open_image, quoted, tables_of
from agentworld_gym.kit.tables.statements import CLOCK, statement

MOST_ROWS = 500
"""How many rows a made world may begin with."""

MOST_STATEMENTS = 2_000
"""How many statements an answer may have."""

_CREATE = re.compile(r"CREATE\s+(TABLE|INDEX|UNIQUE\s+INDEX)\b", re.IGNORECASE)
_INSERT = re.compile(r"INSERT\s+INTO\b", re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHANGING = re.compile(rf"{CLOCK}|\brandom(?:blob)?\s*\(", re.IGNORECASE)
_ZONE = re.compile(r"'(?:localtime|utc)'", re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*", re.DOTALL)


def statements_of(sql: str) -> list[str]:
    r"""Return the statements of a text, without their semicolons and the comments before them.

    >>> statements_of("-- tables\nCREATE TABLE a (x TEXT DEFAULT ';');\nSELECT 1;")
    ["CREATE TABLE a (x TEXT DEFAULT ';')", 'SELECT 1']

    Raises:
        Fault: There are too many semicolons, or a character that SQL cannot hold.
    """
    if "\0" in sql:
        raise AnswerFault("the SQL holds a NUL character")
    if (count := sql.count(";")) > MOST_STATEMENTS:
        raise AnswerFault(f"there are {count} semicolons, at most {MOST_STATEMENTS} are read")
    found, piece = [], ""
    for part in sql.split(";"):
        piece += part
        if sqlite3.complete_statement(piece + ";"):
            found.append(piece)
            piece = ""
        else:
            piece += ";"
    bare = [_COMMENT.sub("", text + "\n").strip() for text in (*found, piece.rstrip(";"))]
    return [text for text in bare if text]


def check_schema(sql: str, fewest: int, clock: str | None = None) -> None:
    """Check the tables of a world.

    Args:
        sql: The statements.
        fewest: How many tables there have to be.
        clock: The time that SQL reads where it asks for it; None where it may not ask.

    Raises:
        Fault: A statement does not run or does something else; a table has no primary key, or a column that is
            computed; or a foreign key leads nowhere.
    """
    faults = []
    connection = building()
    try:
        for text in statements_of(sql):
            if problem := _create(connection, text if clock is None else at(clock, text)):
                faults.append(f"{_head(text)}: {problem}")
        raise_any(faults)
        keys = keys_of(connection)
        if len(keys) < fewest:
            raise AnswerFault(f"there are {len(keys)} tables ({', '.join(keys)}), at least {fewest} are wanted")
        computed = {table: _computed(connection, table, columns) for table, (columns, _) in keys.items()}
        image = connection.serialize()
    finally:
        connection.close()
    for table, (columns, key) in keys.items():
        faults += [
            f"table {table}: the column {name} is computed; plain columns are wanted" for name in computed[table]
        ]
        faults += [f"table {table}: no primary key"] if not key else []
        faults += [
            f"{name}: a name of other characters than a-z, 0-9, _"
            for name in (table, *columns)
            if not _NAME.fullmatch(name)
        ]
    raise_any([*faults, *dangling_keys(image)])


def _create(connection: sqlite3.Connection, text: str) -> str:
    """Make a table or an index, and return what is wrong with the statement."""
    if not _CREATE.match(text):
        return "only CREATE TABLE and CREATE INDEX are run"
    if match := _CHANGING.search(text):
        return f"{match.group()} gives another value at every time; leave it out, and let whoever writes a row write it"
    try:
        connection.execute(statement(text))
    except (sqlite3.Error, ValueError) as error:
        return str(error)
    return ""


def _computed(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> list[str]:
    """Return the generated columns of a table, which SQLite does not tell among its columns."""
    shown = connection.execute(f"SELECT * FROM {quoted(table)} LIMIT 0").description
    return [name for name, *_ in shown if name not in columns]


def dangling_keys(image: bytes) -> list[str]:
    """Return the foreign keys of a database that lead to no table, or to columns that identify no row.

    Args:
        image: The bytes of a database that this package built.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(image)
        unique = {
            table: _unique(connection, table, columns, key) for table, (columns, key) in keys_of(connection).items()
        }
        return [fault for table in unique for fault in _dangling(connection, table, unique)]
    finally:
        connection.close()


def _unique(connection: sqlite3.Connection, table: str, columns: Sequence[str], key: Sequence[int]) -> list[set[str]]:
    """Return the sets of columns that identify a row of a table, the primary key first."""
    sets = [{columns[place] for place in key}]
    for _, index, is_unique, *_ in connection.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        if is_unique:
            sets.append({row[2] for row in connection.execute(f"PRAGMA index_info({quoted(index)})")})
    return sets


def _dangling(connection: sqlite3.Connection, table: str, unique: dict[str, list[set[str]]]) -> Iterator[str]:
    keys: dict[int, tuple[str, list[str], list[str | None]]] = {}
    for number, _, parent, column, target, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})"):
        _, columns, targets = keys.setdefault(number, (parent, [], []))
        columns.append(column)
        targets.append(target)
    for parent, columns, targets in keys.values():
        named = f"foreign key {table} ({', '.join(columns)})"
        sets = unique.get(parent)
        if sets is None:
            yield f"{named}: there is no table {parent}"
        elif None not in targets and {str(target) for target in targets} not in sets:
            yield f"{named}: {parent} ({', '.join(map(str, targets))}) is neither its primary key nor unique"


def check_rows(sql: str, statements: Sequence[str], clock: str | None = None) -> None:
    """Check the rows of a world by inserting them one statement after the other, foreign keys enforced.

    Args:
        sql: The statements that make the tables.
        statements: The statements that insert the rows.
        clock: The time that SQL reads where it asks for it; None where it may not ask.

    Raises:
        Fault: A statement is no INSERT or is refused; a table is empty; or there are too many rows.
    """
    if clock is not None:
        sql, statements = at(clock, sql), [at(clock, text) for text in statements]
    connection = open_image(empty_image(sql))
    try:
        faults = [f"{_head(text)}: {problem}" for text in statements if (problem := _insert(connection, text))]
        raise_any(faults)
        tables = tables_of(connection, keys_of(connection))
    finally:
        connection.close()
    raise_any([f"table {table} has no row" for table, rows in tables.items() if not rows])
    for table, rows in tables.items():
        raise_any([f"table {table}: {row}: {fault}" for row in rows if (fault := _unwritable(row))])
    if (total := sum(map(len, tables.values()))) > MOST_ROWS:
        raise AnswerFault(f"there are {total} rows, at most {MOST_ROWS} are taken")


def at(clock: str, sql: str) -> str:
    """Return SQL that asks for no time, as it would run at a given one, in the time zone of that.

    Args:
        clock: The time.
        sql: The SQL.

    >>> at("2026-01-01T09:00:00Z", "CREATE TABLE a (at TEXT DEFAULT CURRENT_TIMESTAMP, day TEXT DEFAULT (date('now')))")
    "CREATE TABLE a (at TEXT DEFAULT '2026-01-01 09:00:00', day TEXT DEFAULT (date('2026-01-01 09:00:00')))"
    """
    time = clock.removesuffix("Z").replace("T", " ")
    words = {"current_date": time[:10], "current_time": time[11:]}

    def set_clock(match: re.Match[str]) -> str:
        found = match.group()
        if not found.endswith(")"):
            return f"'{words.get(found.lower(), time)}'"
        return f"{found[:-1].rstrip()}{'' if found[:-1].rstrip().endswith('(') else ', '}'{time}')"

    return _ZONE.sub("'+0 seconds'", re.sub(CLOCK, set_clock, sql, flags=re.IGNORECASE))


def _unwritable(row: Mapping[str, object]) -> str:
    """Return why a row cannot stand in a file of YAML; an empty text if it can."""
    for column, value in row.items():
        if isinstance(value, bytes):
            return f"{column} holds bytes; a text or a number is wanted"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{column} holds a number that is not finite"
        if isinstance(value, str) and not value.isprintable() and not value.replace("\n", "").isprintable():
            return f"{column} holds characters that cannot be printed"
    return ""


def _insert(connection: sqlite3.Connection, text: str) -> str:
    if not _INSERT.match(text):
        return "only INSERT INTO is run"
    if match := _CHANGING.search(text):
        return f"{match.group()} gives other rows at every time; write the value"
    try:
        connection.execute(text)
    except sqlite3.Error as error:
        return str(error)
    return ""


def filled_image(sql: str, statements: Sequence[str]) -> bytes:
    """Return the database of a world at its start, of statements that were checked."""
    connection = open_image(empty_image(sql))
    try:
        for text in statements:
            connection.execute(text)
        return connection.serialize()
    finally:
        connection.close()


def _head(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:160]} …"


MOST_BYTES = 2 * 2**30
"""How many bytes SQLite may take for all databases of the process, and for what it sorts and keeps in between."""


def bound_heap() -> None:
    """Let a statement that wants more than `MOST_BYTES` fail with a MemoryError, from here on and in the whole process.

    The size of a database is bounded already; this also bounds what a query keeps in between, such as rows that it
    sorts. SQLite knows one limit for a process (`PRAGMA hard_heap_limit`), and it can only be lowered.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit = {MOST_BYTES}")
