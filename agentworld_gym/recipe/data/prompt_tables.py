"""The tables that a prompt shows, and what their columns hold: read from its lines, and shuffled into others."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Row = dict[str, Any]

Kind = Literal["key", "owner", "text", "choice", "amount", "number", "day", "note"]
"""What a column holds: the key of its rows or that of rows of another table, texts of their own, texts that many rows
share, fractions, whole numbers, days with or without a time, or anything else, such as what may be missing."""

RESERVED = frozenset(("add", "balance", "by", "count", "from", "keys", "limit", "of", "offset", "sort", "to", "total"))
"""Names that calls and answers have beside columns; a column of such a name is a note."""

LABELS = ("name", "title")
"""The columns that a row goes by."""

_HEAD = re.compile(r"^# (\w+)$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(T[\d:]+Z?)?")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table that has at least one row."""

    name: str
    columns: Mapping[str, Kind]
    """The kind of each column, in the order of the rows."""

    rows: list[Row]

    owners: Mapping[str, str]
    """The name of the table whose keys a column holds, for the columns of the kind `owner`."""

    @property
    def singular(self) -> str:
        """The name of one row."""
        return self.name.removesuffix("s")

    @property
    def first(self) -> str:
        """The first column."""
        return next(iter(self.columns))

    @property
    def keyed(self) -> bool:
        """Whether the first column tells the rows apart."""
        return self.columns[self.first] == "key"

    @property
    def label(self) -> str | None:
        """The column that a row goes by, where there is one."""
        return next((column for column in LABELS if column in self.columns), None)

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Return the columns of some kinds."""
        return [column for column, kind in self.columns.items() if kind in kinds]

    def holds_missing(self, column: str) -> bool:
        """Whether some row has no value there."""
        return any(row[column] is None for row in self.rows)


def prompt_rows(system: str) -> dict[str, list[Row]]:
    """Return the rows of each table that a system message shows as JSON, a row on a line.

    >>> prompt_rows('mcp\\n# orders\\n{"order_id": 7, "item": "lamp"}\\n# labels')
    {'orders': [{'order_id': 7, 'item': 'lamp'}]}
    """
    found: dict[str, list[Row]] = {}
    rows: list[Row] | None = None
    for line in system.split("\n"):
        head = _HEAD.match(line)
        if head is not None:
            rows = found.setdefault(head[1], [])
        elif rows is not None and line.startswith("{"):
            rows.append(json.loads(line))
        else:
            rows = None
    return {name: rows for name, rows in found.items() if rows}


def shuffled(system: str, rng: random.Random) -> str:
    """Return a system message whose tables hold the same values in other rows.

    Keys stay. Of the other columns about half are shuffled, so that no row is known from elsewhere while prompts keep
    their look and their length.
    """
    rows = prompt_rows(system)
    lines = {name: [printed(row) for row in _shuffled(held, rng)] for name, held in rows.items()}
    told, name = [], ""
    for line in system.split("\n"):
        head = _HEAD.match(line)
        name = head[1] if head is not None else name if line.startswith("{") else ""
        told.append(lines[name].pop(0) if line.startswith("{") and lines.get(name) else line)
    return "\n".join(told)


def tables_of(rows: Mapping[str, Sequence[Row]]) -> list[Table]:
    """Return tables, with the kinds of their columns as their values show them.

    >>> rows = [{"order_id": 7, "sent": "2026-03-01", "price": 2.5}, {"order_id": 8, "sent": "2026-03-02", "price": 3}]
    >>> dict(tables_of({"orders": rows})[0].columns)
    {'order_id': 'key', 'sent': 'day', 'price': 'amount'}
    """
    firsts = {name: next(iter(held[0])) for name, held in rows.items()}
    keyed = {name for name, held in rows.items() if len({printed(row[firsts[name]]) for row in held}) == len(held)}
    tables = []
    for name, held in rows.items():
        owners = {firsts[other]: other for other in rows if other in keyed and other != name}
        if name in keyed:
            owners.pop(firsts[name], None)
        columns: dict[str, Kind] = {}
        for column in held[0]:
            columns[column] = "owner" if column in owners else _kind([row.get(column) for row in held])
            if column in RESERVED:
                columns[column] = "note"
        if name in keyed:
            columns[firsts[name]] = "key"
        tables.append(Table(name, columns, [dict(row) for row in held], {c: owners[c] for c in columns if c in owners}))
    return tables


def printed(value: object) -> str:
    """Return a value as tools print it."""
    return json.dumps(value, ensure_ascii=False)


def _kind(values: Sequence[Any]) -> Kind:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, str) for value in known):
        if len(known) == len(values) and all(map(_DAY.fullmatch, known)):
            return "day"
        if len(set(known)) <= len(values) / 2:
            return "choice"
        return "text" if len(known) == len(values) else "note"
    if len(known) < len(values) or not all(type(value) in (int, float) for value in known):
        return "note"
    return "amount" if any(type(value) is float for value in known) else "number"


def _shuffled(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    first, *others = rows[0]
    columns = {column: [row.get(column) for row in rows] for column in (first, *others)}
    for column in others:
        if rng.random() < 0.5:
            rng.shuffle(columns[column])
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
