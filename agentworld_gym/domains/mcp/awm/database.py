"""Describes the database of a world of AWM to a language world: all of it, or the rows that a call may touch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.contracts import Action
from agentworld_gym.domains.mcp.awm.engine.server import Stored

WHOLE_CHARS = 16_000
"""The characters of the rows of a small database, as JSON; of a larger one, tables show their first rows."""

FIRST_ROWS = 3
"""How many rows of each table of a large database are shown from the start."""

TOUCHED_CHARS = 4_000
"""The most characters of rows that are shown beside one call."""

SHORTEST = 3
"""The shortest text of an argument that is looked for within longer texts."""

WORDS = re.compile(r"[a-z0-9]+")

Rows = Sequence[Mapping[str, Any]]


def describe_database(stored: Stored) -> dict[str, Any]:
    """Return the part of a task's state that tells of a database: its schema, its rows, and how many there are.

    Args:
        stored: What the database held at the start.

    >>> describe_database(Stored("CREATE TABLE a (id INTEGER)", {"a": [{"id": 1}]}, {"a": 1}))
    {'schema': 'CREATE TABLE a (id INTEGER)', 'tables': {'a': [{'id': 1}]}}
    """
    whole = is_whole(stored)
    tables = stored.tables if whole else {name: rows[:FIRST_ROWS] for name, rows in stored.tables.items()}
    return {"schema": stored.schema, **({} if whole else {"rows": dict(stored.counts)}), "tables": dict(tables)}


def is_whole(stored: Stored) -> bool:
    """Return whether a whole database is small enough for a prompt."""
    lines = (json.dumps(row, ensure_ascii=False) for rows in stored.tables.values() for row in rows)
    complete = all(len(stored.tables[name]) == count for name, count in stored.counts.items())
    return complete and sum(map(len, lines)) <= WHOLE_CHARS


def touched(stored: Stored, action: Action) -> str:
    """Return what a request shows of a large database beside a call: rows of the start that the call may touch.

    Rows that hold an argument come first, then those which these refer to, then the first rows of the tables that the
    tool is named after.

    Args:
        stored: What the database held at the start.
        action: The call.
    """
    call = action.parsed if isinstance(action.parsed, Mapping) else {}
    arguments = call.get("arguments")
    wanted = list(_plain(arguments if isinstance(arguments, Mapping) else {}))
    lines: list[str] = []
    left = TOUCHED_CHARS
    for table, row in _found(stored.tables, str(call.get("name", "")), wanted):
        line = f"{table}: {json.dumps(row, ensure_ascii=False)}"
        if line in lines:
            continue
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return ""
    head = "Rows of the start that this call may touch; what calls changed since then stands above:"
    return "\n".join([head, *map(escape, lines)])


def _found(
    tables: Mapping[str, Rows], tool: str, wanted: Sequence[tuple[str, Any]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    words = set(WORDS.findall(tool.lower()))
    named = [table for table in tables if words & forms_of(table)]
    others = [table for table in tables if table not in named]
    holding = []
    for table in (*named, *others):
        for row in tables[table]:
            if any(_holds(table, row, name, value, table in named) for name, value in wanted):
                holding.append((table, row))
                yield table, row
    for _, row in holding:
        for column, value in row.items():
            if column.endswith("_id") and value is not None:
                forms = forms_of(column.removesuffix("_id"))
                yield from (
                    (table, other)
                    for table, rows in tables.items()
                    if forms & forms_of(table)
                    for other in rows
                    if other.get("id") == value
                )
    for table in named:
        yield from ((table, row) for row in tables[table])


def forms_of(name: str) -> set[str]:
    """Return the words of a name, each also in the singular.

    >>> sorted(forms_of("ship_ports"))
    ['port', 'ports', 'ship']
    """
    words = set(WORDS.findall(name.lower()))
    words |= {f"{word[:-3]}y" for word in words if word.endswith("ies")}
    return words | {word[:-1] for word in words if word.endswith("s")}


def _holds(table: str, row: Mapping[str, Any], name: str, value: Any, named: bool) -> bool:
    """Return whether a row holds the value of an argument: a text, a column of that name, or the id of a record.

    Args:
        table: The table of the row.
        row: The row.
        name: The name of the argument.
        value: The value.
        named: Whether the tool is named after the table, so that any number may be an id.
    """
    if isinstance(value, str):
        small = value.lower()
        texts = [str(held).lower() for held in row.values() if isinstance(held, str)]
        return small in texts or (len(small) >= SHORTEST and any(small in text for text in texts))
    for column, held in row.items():
        is_id = column == "id" and (named or name.removesuffix("_id") in forms_of(table))
        if held == value and (column == name or is_id):
            return True
    return False


def _plain(arguments: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and values of arguments, those in others included."""
    if isinstance(arguments, Mapping):
        for key, value in arguments.items():
            yield from _plain(value, str(key))
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _plain(value, name)
    elif isinstance(arguments, str | int | float) and not isinstance(arguments, bool) and arguments != "":
        yield name, arguments
