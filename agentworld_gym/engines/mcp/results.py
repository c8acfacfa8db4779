"""What a tool server answers: data as JSON on one line, errors in one envelope."""

from __future__ import annotations

import json
import math
import sqlite3
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class Refused(Exception):
    """A call is refused; nothing of it is stored.

    >>> str(Refused(404, "Order 9999 not found"))
    '{"status": "error", "code": 404, "message": "Order 9999 not found"}'
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(printed({"status": "error", "code": code, "message": message}))
        self.code, self.message = code, message


def printed(data: Any) -> str:
    """A tool's data as text; a text stays as it is.

    >>> printed({"name": "Zoë", "total": 39.9, "share": float("inf")})
    '{"name": "Zoë", "total": 39.9, "share": null}'
    """
    if isinstance(data, str):
        return data
    try:
        return _ENCODER.encode(data)
    except (ValueError, TypeError):
        return _ENCODER.encode(_plain(data))


def refusal(error: sqlite3.Error) -> Refused:
    """What a service says when its database refuses.

    >>> refusal(sqlite3.IntegrityError("UNIQUE constraint failed: customers.email")).code
    409
    """
    text = str(error)
    match error:
        case sqlite3.IntegrityError() if text.startswith(("UNIQUE", "FOREIGN KEY")):
            return Refused(409, f"Conflict: {text}")
        case sqlite3.IntegrityError():
            return Refused(422, f"Unprocessable Entity: {text}")
        case sqlite3.OperationalError() if "interrupted" in text:
            return Refused(503, "Service Unavailable: the query took too long")
        case sqlite3.OperationalError() if "full" in text:
            return Refused(507, "Insufficient Storage: the database is full")
        case sqlite3.DataError():
            return Refused(413, "Payload Too Large")
    return Refused(500, f"Internal Server Error: {text}")


def _plain(data: Any) -> Any:
    """What JSON can say of some data: no infinite numbers, and the text of what it does not know."""
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return data if data is None or isinstance(data, str | int) else str(data)
