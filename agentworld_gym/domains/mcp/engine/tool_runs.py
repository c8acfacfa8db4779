"""Runs a tool on a database, within the bounds of one call and in a transaction of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.domains.mcp.engine.results import ToolRefusal, refusal
from agentworld_gym.domains.mcp.engine.sql_tools import Called, SqlCall
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool
from agentworld_gym.kit.tables.database import Database


def run_tool(
    database: Database, tool: Tool, arguments: Mapping[str, Any], context: CallContext, end: str | None = None
) -> Called:
    """Call a tool; a tool that may write runs in a transaction that ends with the given statement.

    Raises:
        ToolRefusal, UnreadableAction: the tool, the database or the code of the tool refuses, and nothing is changed.
    """
    connection = database.connection
    database.refresh()
    try:
        if end is not None:
            connection.execute("BEGIN")
        called = _body(tool, connection, arguments, context)
        if tool.rows is not None and not isinstance(called.data[tool.rows], list):
            raise TypeError(f"{tool.rows} is no list")
        if end is not None:
            connection.execute(end)
    except sqlite3.Error as error:
        raise refusal(error) from error
    except (ToolRefusal, UnreadableAction):
        raise
    except Exception as error:  # the code of a tool may raise anything, and the SDK's server prints it like this
        raise UnreadableAction(f"Error calling tool '{tool.name}': {printable(str(error))}") from error
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return called


def _body(tool: Tool, connection: sqlite3.Connection, arguments: Mapping[str, Any], context: CallContext) -> Called:
    if isinstance(tool.call, SqlCall):
        return tool.call.run(connection, arguments, context)
    return Called(tool.call(connection, arguments, context), {})


def printable(text: str) -> str:
    """Return the start of a text without characters that UTF-8 cannot encode."""
    return text[:200].encode("utf-8", "replace").decode()
