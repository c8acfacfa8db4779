"""The answer to a call as plain data: which tool shows what, so that its text follows from the rows of the database.

{"get_order": {"order_id": 1038}}      the result of a tool, with the values that it reads
{"list_orders": {"#": 5}}              a page of a list, which begins with this row
{"404": "Order 9999 not found"}        a refusal
"Unknown tool: shop-sing"              any other text
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.mcp.engine import faults
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.engine.sql_tools import SqlCall, Values, sql_value
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool, ToolRefusal, printed

_REFUSAL = re.compile("[45][0-9]{2}")
"""The code of a refusal."""

FIRST_ROW = "#"
"""The name of the number of the row with which a page begins."""

Said = str | dict[str, Any]
"""An answer as plain data."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call: the tool, the values that it was made from, and the first row of a page."""

    tool: Tool
    values: Values
    start: int | None = None

    @property
    def plain_data(self) -> Said | None:
        """The result as plain data; None where the body of the tool is no SQL, or where a value is no such data.

        A statement can make bytes, and a number or a word instead of a list argument.
        """
        call = self.tool.call
        if not isinstance(call, SqlCall):
            return None
        try:
            given = {
                name: json.loads(value) if name in call.structured and value is not None else value
                for name in sorted(call.read - {"now", "user"})
                if compact(value := self.values.get(name)) != compact(call.defaults.get(name))
            }
        except (TypeError, ValueError):
            return None
        if self.start is not None:
            given[FIRST_ROW] = self.start
        return {call.spec.name: given}


def refused(problem: Exception) -> Said:
    """Return a failed call as plain data.

    >>> refused(ToolRefusal(404, "Order 9999 not found"))
    {'404': 'Order 9999 not found'}
    """
    return {str(problem.code): problem.message} if isinstance(problem, ToolRefusal) else str(problem)


def text_of(
    service: Service, connection: sqlite3.Connection, context: CallContext, controls: Controls, said: Said
) -> str:
    """Return the text of an answer, as a client of the server reads it. Nothing is written.

    Args:
        service: The scenario.
        connection: Its database.
        context: The time of the episode, and who is signed in.
        controls: The faults in force; they leave values of lists out.
        said: The answer as plain data.

    Raises:
        AttributeError, LookupError, TypeError, ValueError, OverflowError, sqlite3.Error, Refused: There is no such
            answer.
    """
    if isinstance(said, str):
        return said
    ((name, given),) = said.items()
    if _REFUSAL.fullmatch(name):
        if not isinstance(given, str):
            raise TypeError(f"a refusal needs words, and not {given!r}")
        return str(ToolRefusal(int(name), given))
    result = _result(service, context, name, given)
    assert isinstance(result.tool.call, SqlCall)
    data = result.tool.call.answer(connection, result.values)
    return printed(faults.paged(result.tool, faults.blanked(controls, result.tool, data), result.start))


def _result(service: Service, context: CallContext, name: str, given: Mapping[str, Any]) -> CallResult:
    """Read a result.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: There is no such tool, its result reads no such value, or a
            page begins with no such row.
    """
    tool = service.tool(name)
    call = tool.call
    if not isinstance(call, SqlCall):
        raise LookupError(f"the body of {name} is no SQL")
    if unknown := given.keys() - call.read - {FIRST_ROW}:
        raise LookupError(f"the result of {name} reads no {sorted(unknown)[0]!r}")
    told = {key: sql_value(value) for key, value in given.items()}
    values = {**dict.fromkeys(call.read), **call.defaults, **told, "now": context.now, "user": context.user}
    start = values.pop(FIRST_ROW, None)
    if start is not None and (type(start) is not int or start < 0):
        raise ValueError(f"a page begins with the number of a row, and not {start!r}")
    return CallResult(tool, values, start)


def greeting(server: str, user: str, now: str) -> str:
    """Return the text that is shown before the first call.

    >>> greeting("shop", "ana", "2026-03-04T09:30:00Z")
    'Connected to server shop. Signed in as ana. Server time 2026-03-04T09:30:00Z.'
    """
    return f"Connected to server {server}. Signed in as {user}. Server time {now}."
