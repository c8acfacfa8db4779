"""The rows that statements name by their values: what a world model has to know to foresee what they do."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from agentworld_gym.core.domain.view import compact
from agentworld_gym.kit.tables.database import quoted
from agentworld_gym.kit.tables.insert import Keys

_NOTHING: tuple[Any, ...] = (None, "", [])
MOST = 4
"""How many rows of a table a statement tells."""
MOST_LINES = 10
"""The largest number of lines."""
LONGEST = 200
"""The largest number of characters of a text, and of the name of a row."""
_SECRET = "password"
"""The column by whose value no row is looked up."""
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?([a-z_]\w*))?")
_SET = re.compile(r"\bSET\b.*?(?=\bWHERE\b|$)", re.S)
_EQUAL = re.compile(r"(?:\b(\w+)\.)?\b(\w+)\s*=\s*(?:(replace|lower|upper)\()?:(\w+)")
_AMONG = re.compile(r"(?:\b(\w+)\.)?\b(\w+)\s+IN\s+\(SELECT\s+value\s+FROM\s+json_each\(:(\w+)\)\)")
_INSERT = re.compile(r"INSERT\s+INTO\s+(\w+)\s*\(([^)]*)\)\s*(?:VALUES\s*\(([^)]*)\)|SELECT\s+(.*?)\s+FROM)?", re.S)
_PARAMETER = re.compile(r"\s*:(\w+)\s*")
_NOW = re.compile(r":now\b")
_MADE = re.compile(r"\blast_insert_rowid\b")
"""What a statement reads that no statement has made yet."""
_CHANGES = {"replace": lambda text: text.replace("_", " "), "lower": str.lower, "upper": str.upper}
"""What SQL does to a text before it compares it."""


class RowReader(Protocol):
    """A database that is read."""

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return all rows of a query; raises `sqlite3.Error`."""
        ...

    def first(self, sql: str, values: Mapping[str, Any]) -> Any:
        """Return the first value of the first row; None where there is no row. Raises `sqlite3.Error`."""
        ...


EVERY = "*"
"""Stands for a name where later statements know every column of the first row by the name of the column."""


class Named(NamedTuple):
    """A statement, and the name under which later statements know its first value; empty where it has none."""

    name: str
    sql: str


def named(steps: Iterable[str | Mapping[str, str]]) -> Iterator[Named]:
    """Yield the statements of steps as data files write them: a statement, or statements by the names of their values.

    >>> list(named(["DELETE FROM cart", {"total": "SELECT 7"}]))
    [Named(name='', sql='DELETE FROM cart'), Named(name='total', sql='SELECT 7')]
    """
    for step in steps:
        yield from [Named("", step)] if isinstance(step, str) else (Named(*item) for item in step.items())


@dataclass(frozen=True, slots=True)
class Concern:
    """What statements will read and write.

    Args:
        statements: The statements that decide what happens.
        values: Their parameters.
        lists: The parameters that are lists.
        prefix: What the path of a row begins with.
    """

    statements: Sequence[Named]
    values: Mapping[str, Any]
    lists: Mapping[str, Sequence[Any]]
    prefix: str = ""


class ConcernedRow(NamedTuple):
    """The description of a row, of the next row of a table, or of the time."""

    path: str
    """The path of the row, such as `cart/rosa,121`; the table of the next row; or `now`."""
    content: Mapping[str, Any] | int | str | None
    """The columns of the row that statements name; the next number; the time; None for a row that is not there."""

    @property
    def line(self) -> str:
        """The description on one line; long texts are cut."""
        if self.content is None:
            return f"{self.path} none"
        if not isinstance(self.content, Mapping):
            return f"{self.path} {self.content}"
        return f"{self.path} {compact({column: _short(value) for column, value in self.content.items()})}"


def concerned_rows(store: RowReader, keys: Keys, concern: Concern) -> Iterator[ConcernedRow]:
    """Yield each row that statements name by their values, with the columns that they name; nothing is written.

    A table that gets a new last row is described with its next number.
    """
    values = dict(concern.values)
    text = " ".join(sql for _, sql in concern.statements)
    lines = [ConcernedRow("now", values["now"])] if _NOW.search(text) else []
    for name, sql in concern.statements:
        if name and sql.startswith("SELECT") and not _MADE.search(sql):
            with suppress(sqlite3.Error):
                _bind(values, name, store.rows(sql, values))
        lines += _rows(store, keys, concern, sql, values, text)
    for table, columns, *_ in _INSERT.findall(text):
        names, key = keys.get(table, ((), ()))
        if len(key) == 1 and names[key[0]] not in map(str.strip, columns.split(",")):
            last = store.first(f"SELECT max({quoted(names[key[0]])}) FROM {quoted(table)}", {})
            lines.append(ConcernedRow(f"{concern.prefix}{table}", (last or 0) + 1))
    yield from list({row.line: row for row in lines}.values())[:MOST_LINES]


def _bind(values: dict[str, Any], name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Make the first row of a statement known to those after it."""
    row = rows[0] if rows else {}
    if name == EVERY:
        values.update({column: value for column, value in row.items() if column not in values})
    else:
        values[name] = next(iter(row.values()), None)


def _conditions(
    keys: Keys, concern: Concern, table: str, alias: str, sql: str, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a table with the values of the rows that a statement means."""
    own = ("", alias, table)
    for owner, column, change, parameter in _EQUAL.findall(_SET.sub("", sql)):
        value = values.get(parameter)
        if owner in own and column != _SECRET and value is not None:
            yield column, _CHANGES[change](value) if change and isinstance(value, str) else value
    for owner, column, parameter in _AMONG.findall(sql):
        if owner in own:
            yield column, concern.lists.get(parameter, [])
    names, key = keys.get(table, ((), ()))
    for inserted, columns, filled, chosen in _INSERT.findall(sql):
        for column, value in zip(columns.split(","), (filled or chosen).split(","), strict=False):
            parameter = _PARAMETER.fullmatch(value)
            if inserted == table and parameter and column.strip() in {names[place] for place in key}:
                yield column.strip(), values.get(parameter[1])


def _rows(
    store: RowReader, keys: Keys, concern: Concern, sql: str, values: Mapping[str, Any], text: str
) -> Iterator[ConcernedRow]:
    """Yield the rows of one statement.

    A table whose rows are not named by values is looked up by its key where other tables of the statement have it. One
    with a single row is yielded whole.
    """
    found: dict[str, list[Any]] = {}
    left = []
    for table, alias in dict.fromkeys(_TABLE.findall(sql)):
        names, _ = keys.get(table, ((), ()))
        try:
            every = names or tuple(store.rows(f"SELECT * FROM {quoted(table)} LIMIT 1", {})[0])
        except (sqlite3.Error, IndexError):
            continue
        meant = _conditions(keys, concern, table, alias, sql, values)
        known = {column: value for column, value in meant if column in every and value not in _NOTHING}
        if known:
            yield from _rows_with_values(store, keys, concern, table, known, text, found)
        else:
            left.append(table)
    for table in sorted(left, key=lambda table: not _is_single(store, table)):
        names, key = keys.get(table, ((), ()))
        if _is_single(store, table):
            yield from _rows_with_values(store, keys, concern, table, {}, text, found)
        elif key and all(names[place] in found for place in key):
            known = {names[place]: found[names[place]] for place in key}
            yield from _rows_with_values(store, keys, concern, table, known, text, found)


def _is_single(store: RowReader, table: str) -> bool:
    return len(store.rows(f"SELECT 1 FROM {quoted(table)} LIMIT 2", {})) == 1


def _rows_with_values(
    store: RowReader,
    keys: Keys,
    concern: Concern,
    table: str,
    known: Mapping[str, Any],
    text: str,
    found: dict[str, list[Any]],
) -> Iterator[ConcernedRow]:
    """Yield the rows that hold known values, and keep what they hold in `found`."""
    names, key = keys.get(table, ((), ()))
    where = " AND ".join(
        f"{quoted(column)} IN (SELECT value FROM json_each(:{column}))"
        if isinstance(value, list)
        else f"{quoted(column)} = :{column}"
        for column, value in known.items()
    )
    where = f" WHERE {where}" if where else ""
    given = {column: json.dumps(value) if isinstance(value, list) else value for column, value in known.items()}
    rows = store.rows(f"SELECT * FROM {quoted(table)}{where} LIMIT {MOST}", given)
    every = names or tuple(rows[0] if rows else ())
    for column in every:
        found.setdefault(column, [row[column] for row in rows])
    keyed = {names[place] for place in key} or known.keys()
    told = [column for column in every if column not in keyed and re.search(rf"\b{re.escape(column)}\b", text)]
    for row in rows:
        name = _name(row[names[place]] for place in key) or _name(known.values())
        shown = {column: row[column] for column in told if row[column] is not None}
        yield ConcernedRow(f"{concern.prefix}{table}/{name}", shown)
    if not rows and not any(isinstance(value, list) for value in known.values()):
        yield ConcernedRow(f"{concern.prefix}{table}/{_name(known.values())}", None)


def _name(values: Iterable[Any]) -> str:
    """Return the values that name a row, on one line: what an agent writes makes no line of its own."""
    return " ".join(",".join(map(str, values)).splitlines())[:LONGEST]


def _short(value: Any) -> Any:
    """Return the beginning of a text, and any other value as it is."""
    return value[:LONGEST] if isinstance(value, str) else value
