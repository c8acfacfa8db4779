"""The memory of an agent: a dictionary of notes that answers in fixed sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

EMPTY = "Memory is empty."
NOT_FOUND = "Key not found"
CLEARED = "Successfully cleared all memory."
_WITH_DICT = ("add", "update")
_WITH_KEYS = ("retrieve", "remove")


def operate(notes: dict[str, str], arguments: Mapping[str, Any]) -> str:
    """Carry out one operation on the notes, and return its answer.

    An item whose key the memory does not hold is left out, unless it is to be added.

    >>> notes = {}
    >>> operate(notes, {"operation": "add", "dict": {"depth": "112 m", "width": "2 km"}})
    "Successfully added items of ['depth', 'width'] to memory."
    >>> print(operate(notes, {"operation": "retrieve", "key_list": ["depth", "length"]}))
    depth: 112 m
    >>> operate(notes, {"operation": "remove", "key_list": ["length"]}), operate(notes, {"operation": "update"})
    ('Key not found', "Error: operation 'update' needs 'dict'.")
    """
    operation = arguments.get("operation")
    if operation == "retrieve_all":
        return _list_notes(notes, list(notes)) or EMPTY
    if operation == "remove_all":
        notes.clear()
        return CLEARED
    if operation in _WITH_DICT:
        items = _items(arguments.get("dict"))
        return (
            f"Error: operation '{operation}' needs 'dict'." if items is None else _store_notes(notes, operation, items)
        )
    if operation in _WITH_KEYS:
        keys = _keys(arguments.get("key_list"))
        if keys is None:
            return f"Error: operation '{operation}' needs 'key_list'."
        present = [key for key in dict.fromkeys(keys) if key in notes]
        if not present:
            return NOT_FOUND
        if operation == "retrieve":
            return _list_notes(notes, present)
        for key in present:
            del notes[key]
        return f"Successfully removed items of {present} from memory."
    return f"Error: unknown operation '{operation[:80] if isinstance(operation, str) else ''}'."


def _store_notes(notes: dict[str, str], operation: str, items: Mapping[str, str]) -> str:
    known = {key: text for key, text in items.items() if operation == "add" or key in notes}
    if not known:
        return NOT_FOUND
    notes.update(known)
    done = "added items of {} to memory" if operation == "add" else "updated items of {} in memory"
    return f"Successfully {done.format([*known])}."


def _list_notes(notes: Mapping[str, str], keys: Sequence[str]) -> str:
    return "\n".join(f"{key}: {notes[key]}" for key in keys)


def _items(given: Any) -> dict[str, str] | None:
    """Return the items to keep, each as text; None where there are none, or where one cannot be written."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(key, str) for key in given):
        return None
    try:
        return {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for key, value in given.items()
        }
    except (TypeError, ValueError, RecursionError):
        return None


def _keys(given: Any) -> Sequence[str] | None:
    is_list = isinstance(given, list | tuple) and given and all(isinstance(key, str) for key in given)
    return given if is_list else None
