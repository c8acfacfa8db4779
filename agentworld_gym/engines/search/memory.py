"""The memory of an agent: a dictionary of notes that answers in fixed sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EMPTY = "Memory is empty."
_WITH_KEY = ("add", "update", "retrieve", "remove")
_WITH_VALUE = ("add", "update")


def operate(notes: dict[str, str], arguments: Mapping[str, Any]) -> str:
    """Carry out one operation on the notes, and return the new notes and the answer.

    >>> notes = {}
    >>> operate(notes, {"operation": "add", "key": "depth", "value": "112 m"})
    "Key 'depth' added to memory."
    >>> operate(notes, {"operation": "retrieve_all"}), operate(notes, {"operation": "remove"})
    ('depth: 112 m', "Error: operation 'remove' needs 'key'.")
    """
    operation, key, value = (arguments.get(name) for name in ("operation", "key", "value"))
    if operation == "retrieve_all":
        return "\n".join(f"{key}: {value}" for key, value in notes.items()) or EMPTY
    if operation == "remove_all":
        notes.clear()
        return "All keys removed from memory."
    if not isinstance(operation, str) or operation not in _WITH_KEY:
        return f"Error: unknown operation '{operation[:80] if isinstance(operation, str) else ''}'."
    if not isinstance(key, str) or not key:
        return f"Error: operation '{operation}' needs 'key'."
    if operation in _WITH_VALUE and not isinstance(value, str):
        return f"Error: operation '{operation}' needs 'value'."
    if operation == "add":
        if key in notes:
            return f"Error: Key '{key}' already exists. Use update to change it."
        notes[key] = str(value)
        return f"Key '{key}' added to memory."
    if key not in notes:
        return f"Error: Key '{key}' not found in memory."
    if operation == "update":
        notes[key] = str(value)
        return f"Key '{key}' updated in memory."
    if operation == "remove":
        del notes[key]
        return f"Key '{key}' removed from memory."
    return notes[key]
