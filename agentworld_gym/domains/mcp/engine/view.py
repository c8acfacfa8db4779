"""The view of a tool server: it prints the answer that a structured state says.

The engine computes what follows by its schema and its queries: the result of a tool, numbers that grow by an amount,
sums over other rows, the next number of a table, and defaults of columns. A model decides which tool answers with which
values, which rows change, and what is refused. Where its rows break a rule of the tables, a call that the server
refuses is refused in the server's words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import Entries, StructuredState, View
from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.mcp.engine.answer import text_of
from agentworld_gym.domains.mcp.engine.known_values import found_values, given_values
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.row_sums import marked, summed
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.engine.sql_tools import CallCondition, SqlCall, Values
from agentworld_gym.domains.mcp.engine.structured_state import read_database, server_of
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool, ToolRefusal
from agentworld_gym.kit.tables.concerned_rows import EVERY, Concern, ConcernedRow, Named, concerned_rows, named
from agentworld_gym.kit.tables.plain_rows import completed_row, predicted_rows

ITEMS = 4
"""The largest number of items of a list argument whose rows are described."""

predicted = partial(predicted_rows, "server")
"""Reads predicted rows."""

_NO_CONTROLS: dict[str, Any] = {"controls": {}, "control_seed": 0}


class ToolView(View):
    """Prints the answers of tool servers: the result of a tool follows from the rows, and what a call does to them not.

    >>> view = ToolView()
    >>> state = view.begin({"scenario": "shop", "size": "small", "seed": 1}, seed=0)
    >>> view.view({**state, "said": {"404": "Order 9999 not found"}})
    '{"status": "error", "code": 404, "message": "Order 9999 not found"}'
    """

    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a server at the start.

        Raises:
            AnswerError: The task has several servers.
            SpecError: The state of the task is wrong.
        """
        if "servers" in state:
            raise AnswerError(f"a structured state is that of one server, and the task has {len(state['servers'])}")
        with closing(ToolMachine.start(state, seed, Controls(controls or {}, control_seed))) as machine:
            return machine.visible_state()

    def view(self, shown: StructuredState) -> str:
        """Return the last answer of the server.

        Raises:
            AnswerError: This is no state of a server, or the server has answered nothing.
        """
        if "said" not in shown:
            raise AnswerError("the server answers nothing (a change says said/404 = ..., or said/TOOL = ...)")
        with predicted():
            service, context, controls = server_of(shown)
            with read_database(service, shown["rows"]) as connection:
                return text_of(service, connection, context, controls, shown["said"])

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of the rows, where most changes begin."""
        return ("rows",)

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return the state without the answer to the call before, for no answer depends on it.

        The call is not noted: which tool answers, and with what, is for the prediction to say.
        """
        return {key: value for key, value in shown.items() if key != "said"}

    def counts(self, shown: StructuredState, path: tuple[str, ...]) -> bool:
        """Whether the tools change a number by an amount, such as the balance of an account.

        >>> view = ToolView()
        >>> state = view.begin({"scenario": "bank", "size": "small", "seed": 1}, seed=0)
        >>> view.counts(state, ("rows", "accounts", "2001", "balance"))
        True
        """
        if len(path) != 4 or path[0] != "rows":
            return False
        with predicted():
            return (path[1], path[3]) in server_of(shown).service.counting

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after a call of a tool that only reads; None after any other action.

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted(), closing(ToolMachine.viewed(shown)) as machine:
            tool = machine.service.tools.get(str(action.get("name"))) if isinstance(action, dict) else None
            if tool is None or tool.writes:
                return None
            machine.act(action)
            return machine.visible_state()

    def refused(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after a call that the server refuses; None after any other call.

        >>> view = ToolView()
        >>> state = view.begin({"scenario": "shop", "size": "small", "seed": 1}, seed=0)
        >>> call = {"name": "shop-get_order", "arguments": {"order_id": 9999}}
        >>> view.view(view.refused(state, call))
        '{"status": "error", "code": 404, "message": "Order 9999 not found"}'

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted(), closing(ToolMachine.viewed({**shown, **_NO_CONTROLS})) as machine:
            machine.act(action)
            return {**shown, "said": machine.visible_state()["said"]} if machine.refused else None

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `ToolMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted(), closing(ToolMachine.viewed(shown)) as machine:
            return machine.state()

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return the rows that a call names, and the next numbers of the tables that it adds rows to.

        What the call does to them, and whether it is refused, is not said.

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted():
            service, context, _ = server_of(shown)
            return "\n".join(dict.fromkeys(row.line for row in _concerned(service, context, shown["rows"], action)))

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: what a call gives, and the columns of described rows.

        >>> view = ToolView()
        >>> state = view.begin({"scenario": "bank", "size": "small", "seed": 1}, seed=0)
        >>> given, found = view.named_values(state, {"name": "bank-close_account", "arguments": {"account_id": 2001}})
        >>> given["account_id"], given["today"], "accounts/2001/balance" in found
        (2001, '2026-04-15', True)

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted():
            service, context, _ = server_of(shown)
            rows = _concerned(service, context, shown["rows"], action)
            tool = _called(service, action)
            return given_values(service, context, action, tool, rows), found_values(service, tool, rows)

    def marked(self, shown: StructuredState, after: StructuredState) -> StructuredState:
        """Return the state after a change with marks instead of sums that have changed.

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted():
            return marked(shown, after)

    def summed(self, after: StructuredState) -> StructuredState:
        """Return a state with the sums of its rows instead of the marks.

        Raises:
            AnswerError: This is no state of a server.
        """
        with predicted():
            return summed(after)

    def completed(self, shown: StructuredState, path: tuple[str, ...], entries: Entries, entry: Any) -> Any:
        """Return a row that is added, with the next number of its table and the defaults of its columns.

        >>> view = ToolView()
        >>> state = view.begin({"scenario": "bank", "size": "small", "seed": 1}, seed=0)
        >>> view.completed(state, ("rows", "disputes"), [{"id": 3}], {"transaction_id": 5001})
        {'id': 4, 'transaction_id': 5001, 'status': 'open'}

        Raises:
            AnswerError: This is no state of a server.
        """
        if len(path) != 2 or path[0] != "rows" or not isinstance(entry, dict):
            return entry
        with predicted():
            service = server_of(shown).service
            columns, _ = service.keys[path[1]]
            return completed_row(columns, path[1] in service.numbered, service.defaults[path[1]], entries, entry)


class _Reader:
    """Reads a database; what cannot be read has no rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return all rows of a query."""
        try:
            cursor = self._connection.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except (sqlite3.Error, OverflowError):
            return []

    def first(self, sql: str, values: Mapping[str, Any]) -> Any:
        """Return the first value of the first row; None where there is none."""
        return next((value for row in self.rows(sql, values) for value in row.values()), None)


def _called(service: Service, action: Any) -> Tool | None:
    """Return the tool of a call whose body is SQL; None where there is none."""
    tool = service.tools.get(str(action.get("name"))) if isinstance(action, dict) else None
    return tool if tool is not None and isinstance(tool.call, SqlCall) else None


def _concerned(service: Service, context: CallContext, rows: Mapping[str, Any], action: Any) -> list[ConcernedRow]:
    """Return what a call names."""
    tool = _called(service, action)
    arguments = action.get("arguments") or {} if tool is not None else None
    if tool is None or not isinstance(tool.call, SqlCall) or not isinstance(arguments, dict):
        return []
    with read_database(service, rows) as connection:
        reader, concerns = _Reader(connection), _concerns(tool.call, arguments, context)
        try:
            return [row for concern in concerns for row in concerned_rows(reader, service.keys, concern)]
        except ToolRefusal:  # No row has a number that the database cannot hold.
            return []


def _concerns(call: SqlCall, arguments: Mapping[str, Any], context: CallContext) -> Iterator[Concern]:
    """Yield what a call reads and writes: in its own statements, and for each of the first items of its list."""
    values = call.values(arguments, context)
    lists = {name: value for name, value in arguments.items() if isinstance(value, list)}
    own = [*_checked(call.checks), *named((*call.spec.run, *call.spec.then))]
    yield Concern(own, values, lists)
    if call.each is None:
        return
    statements = [*_checked(call.each.checks), *named(call.each.run)]
    for item in lists.get(call.each.over, ())[:ITEMS]:
        scope: Values = {**values, **call.each.values(item)}
        yield Concern(statements, scope, lists)


def _checked(checks: Sequence[CallCondition]) -> Iterator[Named]:
    """Yield the statements of checks; what a check has to find is known to all after it."""
    yield from (Named(EVERY if check.spec.missing is not None else "", check.sql) for check in checks)
