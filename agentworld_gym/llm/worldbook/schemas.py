"""JSON Schemas of values that were seen, and how they are written for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

JsonType = Literal["string", "integer", "number", "boolean", "object", "array", "null"]

_DEEPEST = 6
_MOST_KEYS = 40
"""How many keys an object has at most whose keys are names of fields; one with more is a table of its own."""


def json_type(value: Any) -> JsonType:
    """Return what JSON Schema calls the type of a value.

    >>> [json_type(value) for value in ("a", 1, 1.5, True, {}, [], None)]
    ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']
    """
    match value:
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "number"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
    return "null"


def schema_of(values: Sequence[Any], depth: int = 0) -> dict[str, Any]:
    """Return a JSON Schema that all values fit. A key is required that every object has.

    >>> schema_of([{"path": "a", "lines": 3}, {"path": "b"}])["required"]
    ['path']
    """
    kinds: list[str] = list(dict.fromkeys(map(json_type, values)))
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    schema: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    objects = [value for value in values if isinstance(value, Mapping)]
    names = list(dict.fromkeys(name for one in objects for name in one))
    if names and len(names) <= _MOST_KEYS and depth < _DEEPEST:
        parts = {name: [one[name] for one in objects if name in one] for name in names}
        schema["properties"] = {name: schema_of(part, depth + 1) for name, part in parts.items()}
        if required := [name for name in names if len(parts[name]) == len(objects)]:
            schema["required"] = required
    items = [item for value in values if isinstance(value, list | tuple) for item in value]
    if items and depth < _DEEPEST:
        schema["items"] = schema_of(items, depth + 1)
    return schema


def sketch(schema: Mapping[str, Any]) -> str:
    """Write what a schema admits, as a person would.

    >>> sketch(schema_of([[{"name": "Emma", "age": 3}], []]))
    '[{name: string, age: integer}]'
    """
    if properties := schema.get("properties"):
        return f"{{{', '.join(f'{name}: {sketch(inner)}' for name, inner in properties.items())}}}"
    if items := schema.get("items"):
        return f"[{sketch(items)}]"
    kinds = schema.get("type", "any")
    return kinds if isinstance(kinds, str) else " | ".join(kinds)
