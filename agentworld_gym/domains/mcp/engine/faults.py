"""Acts out the controls of the tool server: what they do to a call and to its answer."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.mcp.engine.tool import Tool, ToolRefusal

PAGE_ROWS = 5
"""The number of rows on a page."""

DELAY = 2
"""The number of calls after which the effect of an accepted call is visible."""


def transient_error(controls: Controls, call: int, tool: Tool) -> ToolRefusal | None:
    """Return the error of a service that is down for a moment, if the control strikes."""
    if not controls.strikes("intermittent-errors", call, tool.name):
        return None
    return ToolRefusal(503, "Service Unavailable: upstream timeout, please retry")


def forbidden(controls: Controls, tool: Tool, arguments: Mapping[str, Any]) -> ToolRefusal | None:
    """Return the error of a tool that asks for a justification, if the control strikes and none is given."""
    if not tool.writes or not controls.strikes("permission-denied", tool.name):
        return None
    reason = arguments.get("justification")
    if isinstance(reason, str) and reason.strip():
        return None
    return ToolRefusal(
        403, f"Forbidden: {tool.name} changes records of other users; repeat the call with a justification"
    )


def is_slow(controls: Controls, call: int, tool: Tool) -> bool:
    """Return whether a call is accepted and carried out later."""
    return tool.writes and controls.strikes("slow-service", call, tool.name)


def is_stale(controls: Controls, call: int, tool: Tool) -> bool:
    """Return whether a list shows what was there before the last write."""
    return tool.rows is not None and not tool.writes and controls.strikes("stale-data", call, tool.name)


def failing(controls: Controls, call: int, tool: Tool, arguments: Mapping[str, Any]) -> frozenset[int]:
    """Return the items of a batch that fail: some, but never all, and none of a single one."""
    items = arguments.get(tool.batch) if tool.batch else None
    if not isinstance(items, list) or len(items) < 2 or not controls.strikes("partial-failure", call, tool.name):
        return frozenset()
    draws = {index: controls.draw("partial-failure", call, tool.name, index) for index in range(len(items))}
    chosen = {index for index, draw in draws.items() if draw < 0.5} or {max(draws)}
    return frozenset(chosen - {min(chosen)} if len(chosen) == len(items) else chosen)


def blanked(controls: Controls, tool: Tool, data: Any) -> Any:
    """Return a list without some of the values that another tool also returns."""
    if not tool.optional or tool.rows is None or not controls.strength("incomplete-results"):
        return data
    rows = data[tool.rows]
    for row in rows:
        name = next(iter(row.values()), None)
        for column in tool.optional:
            if controls.strikes("incomplete-results", tool.name, name, column):
                row[column] = None
    return data


def page_start(controls: Controls, tool: Tool, arguments: Mapping[str, Any]) -> int | None:
    """Return the number of the row with which the answer to a call begins; None where it is not paged.

    Raises:
        ToolRefusal: the cursor is not valid.
    """
    cursor = arguments.get("cursor")
    if tool.rows is None or (cursor is None and not _is_paged(controls, tool, arguments)):
        return None
    return 0 if cursor is None else _offset(cursor)


def paged(tool: Tool, data: Any, start: int | None) -> Any:
    """Return one page of a list, with a cursor for the next page; all of it where there is no start."""
    if start is None or tool.rows is None:
        return data
    rows = data[tool.rows]
    page = rows[start : start + PAGE_ROWS]
    answer = {**data, tool.rows: page, "count": len(page)}
    if start + PAGE_ROWS < len(rows):
        answer["next_cursor"] = _cursor(start + PAGE_ROWS)
    return answer


def _is_paged(controls: Controls, tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether an answer is paged; the arguments decide, so that equal reads are equal."""
    if not controls.strength("pagination"):
        return False
    return controls.strikes("pagination", tool.name, json.dumps(arguments, sort_keys=True))


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"row:{start}".encode()).decode()


def _offset(cursor: Any) -> int:
    try:
        word, number = base64.urlsafe_b64decode(str(cursor)[:64].encode()).decode("ascii").split(":")
        if word == "row" and number.isdecimal():
            return int(number)
    except (binascii.Error, ValueError):
        pass
    raise ToolRefusal(400, "Invalid cursor")
