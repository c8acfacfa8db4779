"""The sums in the rows of a server, such as the total of an order: a change says that one follows, and not the amount.

What a tool sums up from other rows, whatever the call, follows from the rows of the state as what a list shows does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.domains.mcp.engine.structured_state import read_database, server_of
from agentworld_gym.kit.tables.statements import summed_up

SUMMED = "{=}"
"""The mark of a sum."""

_Cell = tuple[str, str, Any]
"""A table, a column, and the name of a row."""


def marked(before: StructuredState, after: StructuredState) -> StructuredState:
    """Return the state after a change with marks instead of sums that have changed.

    `summed` reads the very same state from it: what a sum comes to only without the marks, or as a value of another
    type, is not marked.

    Raises:
        LookupError, TypeError, ValueError, sqlite3.Error: One of them is no state of a server.
    """
    old = {table: {row["id"]: row for row in rows} for table, rows in before["rows"].items()}
    values = {
        (table, column, row["id"]): row.get(column)
        for table, column in server_of(before).service.summed
        for row in after["rows"][table]
        if row.get(column) != old[table].get(row["id"], {}).get(column)
    }
    while values:
        state = _with_cells(after, dict.fromkeys(values, SUMMED))
        try:
            sums = _sums(state, values)
        except sqlite3.IntegrityError:  # A column takes no mark.
            return after
        same = {cell: value for cell, value in values.items() if (type(sums[cell]), sums[cell]) == (type(value), value)}
        if len(same) == len(values):
            return state
        values = same
    return after


def summed(state: StructuredState) -> StructuredState:
    """Return a state with the sums of its rows instead of the marks.

    Raises:
        LookupError, TypeError, ValueError, sqlite3.Error: This is no state of a server.
    """
    cells = [
        (table, column, row["id"])
        for table, column in server_of(state).service.summed
        for row in state["rows"][table]
        if row.get(column) == SUMMED
    ]
    return _with_cells(state, _sums(state, cells))


def _sums(state: StructuredState, cells: Collection[_Cell]) -> dict[_Cell, Any]:
    """Return what other rows come to for some cells."""
    if not cells:
        return {}
    service = server_of(state).service
    with read_database(service, state["rows"]) as connection:
        return {
            (table, column, name): summed_up(connection, table, service.key(table), name, service.summed[table, column])
            for table, column, name in cells
        }


def _with_cells(state: StructuredState, cells: Mapping[_Cell, Any]) -> StructuredState:
    """Return a state with other values in some cells."""
    if not cells:
        return state
    rows = {
        table: [{key: cells.get((table, key, row["id"]), value) for key, value in row.items()} for row in rows]
        for table, rows in state["rows"].items()
    }
    return {**state, "rows": rows}
