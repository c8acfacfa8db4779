"""The form of a tool's result: data as JSON on one line, and one envelope for errors."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import Any

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
