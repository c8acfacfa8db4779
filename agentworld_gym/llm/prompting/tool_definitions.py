"""The tools of an episode for a world model, laid out as in the rows of AgentWorldBench.

The rows show flat parameters alone. What a JSON Schema says beyond type and description stands in short sentences
behind the description, and the keys of an object inside a parameter stand in a list below it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

DEEPEST = 8
"""How many levels of keys inside a parameter are listed."""

_BOUNDS = {
    "minimum": "At least {}.",
    "exclusiveMinimum": "More than {}.",
    "maximum": "At most {}.",
    "exclusiveMaximum": "Less than {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
    "pattern": "Pattern: `{}`.",
    "format": "Format: {}.",
}


def tool_definitions(tools: Sequence[Mapping[str, Any]]) -> str:
    """Write numbered definitions of tools, with one blank line between two of them.

    >>> path = {"type": "string", "description": "Where it lies."}
    >>> schema = {"properties": {"path": path, "limit": {"type": "integer", "minimum": 1}}, "required": ["path"]}
    >>> print(tool_definitions([{"name": "read_file", "description": "Reads a file.", "parameters": schema}]))
    ### 1. read_file
    #### **Description**:
    Reads a file.
    <BLANKLINE>
    #### **Parameters**:
    - **path** `string` (REQUIRED): Where it lies.
    - **limit** `integer` (Optional): At least 1.
    """
    return "\n\n".join(_definition(number, tool) for number, tool in enumerate(tools, 1))


def _definition(number: int, tool: Mapping[str, Any]) -> str:
    schema = tool.get("parameters")
    parameters = parameters_of(schema) if isinstance(schema, Mapping) else ""
    description = str(tool.get("description") or "(none)").strip()
    return "\n".join(
        [
            f"### {number}. {tool.get('name')}",
            "#### **Description**:",
            description,
            "",
            "#### **Parameters**:",
            parameters or "(none)",
        ]
    )


def parameters_of(schema: Mapping[str, Any]) -> str:
    """Write the parameters that a JSON Schema describes, one a line; empty where it describes none.

    >>> parameters_of({"properties": {"path": {"type": "string"}}, "required": ["path"]})
    '- **path** `string` (REQUIRED)'
    """
    choice = _choice(schema)
    return "\n".join([*_parameters(schema, 0), *([choice] if choice else [])])


def _parameters(schema: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield one line for each key of an object, and below it those of the objects that it holds."""
    properties, required = schema.get("properties"), schema.get("required")
    if depth > DEEPEST or not isinstance(properties, Mapping):
        return
    for name, value in properties.items():
        inner: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        need = "REQUIRED" if isinstance(required, Sequence) and name in required else "Optional"
        told = _describe_schema(inner)
        yield f"{'  ' * depth}- **{name}** `{_type(inner)}` ({need}){': ' + told if told else ''}"
        for part in (inner, inner.get("items")):
            if isinstance(part, Mapping):
                yield from _parameters(part, depth + 1)


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    if isinstance(kind, Sequence) and kind:
        return " | ".join(map(str, kind))
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, Sequence) and branches:
            return " | ".join(dict.fromkeys(_type(one) for one in branches if isinstance(one, Mapping)))
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values:
        names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
        return " | ".join(dict.fromkeys(names.get(type(value), "object") for value in values))
    return "object" if "properties" in schema else "any"


def _describe_schema(schema: Mapping[str, Any]) -> str:
    """Return the description of a schema as it stands, and behind it what else the schema says."""
    description = str(schema.get("description") or "").strip()
    sentences = list(_sentences(schema))
    return (
        " ".join([_ended(description), *sentences]) if description and sentences else description or " ".join(sentences)
    )


def _ended(text: str) -> str:
    return text if text[-1] in ".!?:)" else text + "."


def _sentences(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for all that a schema says beside type and description."""
    items = schema.get("items")
    if isinstance(items, Mapping):
        inner = _describe_schema(items)
        yield _ended(f"Each item: `{_type(items)}`{', ' + inner if inner else ''}")
    if schema.get("enum"):
        yield f"One of: {', '.join(map(_json, schema['enum']))}."
    if "const" in schema:
        yield f"Always {_json(schema['const'])}."
    for key, words in _BOUNDS.items():
        if key in schema:
            yield words.format(schema[key])
    if "default" in schema:
        yield f"Default: {_json(schema['default'])}."


def _choice(schema: Mapping[str, Any]) -> str:
    """Return what alternative sets of required keys say; empty where there are none."""
    for key, words in (("anyOf", "At least one of"), ("oneOf", "Exactly one of")):
        branches = schema.get(key)
        if isinstance(branches, Sequence):
            sets = [one["required"] for one in branches if isinstance(one, Mapping) and one.get("required")]
            if sets:
                return f"{words} these is needed: {', '.join(' with '.join(names) for names in sets)}."
    return ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
