"""A tool of a server (a name, a description, a JSON Schema and a callable on a database) and the form of results."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call knows beside its arguments: the time, who is signed in, and which items of a batch fail."""

    now: str
    """The time of the episode."""
    user: str
    """The user who is signed in."""
    failing: frozenset[int] = frozenset()
    """The positions of the items of a batch that fail."""


Call = Callable[[sqlite3.Connection, Mapping[str, Any], CallContext], Any]
"""The body of a tool, which returns a text, or data that is printed as JSON, and raises `ToolRefusal` to refuse a call.

It runs inside a transaction, which a refusal undoes. Arguments that the schema requires are present; the defaults of
the others are not filled in.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a server."""

    name: str
    """The name of the tool, which begins with the name of the server."""
    description: str
    """The description that agents read."""
    parameters: Mapping[str, Any]
    """The JSON Schema of the arguments."""
    call: Call
    """The body of the tool."""
    writes: bool = False
    """Whether a call can change the database."""
    rows: str | None = None
    """The key of the list that the tool returns, if it returns one."""
    optional: tuple[str, ...] = ()
    """Columns of that list that another tool also returns."""
    batch: str | None = None
    """The argument whose items are dealt with one by one, if there is one."""
    listed: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        listed = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "listed", listed)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class ToolRefusal(Exception):
    """A tool refuses a call, and nothing of the call is stored.

    >>> str(ToolRefusal(404, "Order 9999 not found"))
    '{"status": "error", "code": 404, "message": "Order 9999 not found"}'
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(printed({"status": "error", "code": code, "message": message}))
        self.code, self.message = code, message


def printed(data: Any) -> str:
    """Return a tool's data as JSON; a text is returned unchanged.

    >>> printed({"name": "Zoë", "total": 39.9, "share": float("inf")})
    '{"name": "Zoë", "total": 39.9, "share": null}'
    """
    if isinstance(data, str):
        return data
    try:
        return _ENCODER.encode(data)
    except (ValueError, TypeError):
        return _ENCODER.encode(_plain(data))


def refusal(error: sqlite3.Error) -> ToolRefusal:
    """Return the error of a service whose database refuses a statement.

    >>> refusal(sqlite3.IntegrityError("UNIQUE constraint failed: customers.email")).code
    409
    """
    text = str(error)
    match error:
        case sqlite3.IntegrityError() if text.startswith(("UNIQUE", "FOREIGN KEY")):
            return ToolRefusal(409, f"Conflict: {text}")
        case sqlite3.IntegrityError():
            return ToolRefusal(422, f"Unprocessable Entity: {text}")
        case sqlite3.OperationalError() if "interrupted" in text:
            return ToolRefusal(503, "Service Unavailable: the query took too long")
        case sqlite3.OperationalError() if "full" in text:
            return ToolRefusal(507, "Insufficient Storage: the database is full")
        case sqlite3.DataError():
            return ToolRefusal(413, "Payload Too Large")
    return ToolRefusal(500, f"Internal Server Error: {text}")


def _plain(data: Any) -> Any:
    """Return data that JSON can express: without infinite numbers, and with texts for values of other types."""
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return data if data is None or isinstance(data, str | int) else str(data)
