"""A desktop's model as plain JSON data and back: text fields, menu entries, tuples and sets keep their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.program import MenuEntry
from agentworld_gym.kit.gui import Field

_TUPLE, _SET, _FIELD, _ENTRY = "(tuple)", "(set)", "(field)", "(entry)"


def packed(value: Any) -> Any:
    """Return a value of a model as plain data.

    >>> packed({"message": ("menu", "app"), "query": Field("a")})
    {'message': {'(tuple)': ['menu', 'app']}, 'query': {'(field)': ['a', 1, 1, False]}}
    """
    if isinstance(value, Field):
        return {_FIELD: [value.value, value.cursor, value.anchor, value.multiline]}
    if isinstance(value, MenuEntry):
        return {_ENTRY: [packed(part) for part in value]}
    if isinstance(value, Mapping):
        return {key: packed(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {_TUPLE: [packed(item) for item in value]}
    if isinstance(value, set):
        return {_SET: sorted(value)}
    if isinstance(value, list):
        return [packed(item) for item in value]
    return value


def unpacked(value: Any) -> Any:
    """Return the value of a model that plain data stands for: the inverse of `packed`.

    >>> unpacked(packed({"locked": {"a"}, "path": ("x", [1])}))
    {'locked': {'a'}, 'path': ('x', [1])}
    """
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (kind, parts), *_ = value.items()
        if kind == _FIELD:
            return _field(*parts)
        if kind == _ENTRY:
            return MenuEntry(*map(unpacked, parts))
        if kind == _TUPLE:
            return tuple(map(unpacked, parts))
        if kind == _SET:
            return set(parts)
    return {key: unpacked(item) for key, item in value.items()}


def _field(value: str, cursor: int, anchor: int, multiline: bool) -> Field:
    """Return a text field; its text may be longer than what can be typed."""
    field = Field(multiline=multiline)
    field.value, field.cursor, field.anchor = value, cursor, anchor
    return field
