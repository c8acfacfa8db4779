"""Tells tools that can be called from those that cannot: one odd tool of a server shall not stop the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.base.documents.plain_yaml import check_plain
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.toolset import CompiledSchema, first_line

MAX_REASON = 300
"""The characters of why a tool cannot be used."""


class UsableTools(NamedTuple):
    """Tools that can be called, and those that were left out."""

    tools: tuple[dict[str, Any], ...]
    """The tools that can be called, in their order."""

    left_out: dict[str, str]
    """The tools that cannot be used, with the reason."""

    def describe_left_out(self, place: str) -> str:
        """Return a sentence that counts and names what was left out.

        Args:
            place: Whose tools they are.

        >>> usable_tools([{"name": "a"}, {"name": "b", "parameters": 5}]).describe_left_out("shop")
        'shop: 1 of 2 tools are left out: b (its parameters are 5, expected a JSON Schema of an object)'
        """
        return tools_left_out(place, self.left_out, len(self.tools) + len(self.left_out))


def tools_left_out(place: str, left_out: Mapping[str, str], count: int) -> str:
    """Return a sentence that counts and names tools that were left out.

    Args:
        place: Whose tools they are.
        left_out: The tools that were left out, with the reason.
        count: How many tools there were.
    """
    named = "; ".join("{} ({})".format(name, reason.partition("\n")[0]) for name, reason in left_out.items())
    return f"{place}: {len(left_out)} of {count} tools are left out: {named}"


def usable_tools(tools: Sequence[Any]) -> UsableTools:
    """Tell the tools that can be called from those that cannot, whatever a server or a file says of them.

    Args:
        tools: What was said of the tools: `name`, `description`, and the JSON Schema of the arguments as `parameters`.

    >>> usable_tools([{"name": "add"}, {"name": "odd", "parameters": {"required": "a"}}]).left_out
    {'odd': 'its parameters are no JSON Schema: "a" is not of type "array"'}
    """
    kept: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for number, tool in enumerate(tools):
        given = tool.get("name") if isinstance(tool, Mapping) else None
        named = isinstance(given, str) and given != ""
        name = str(given) if named else f"number {number}"
        reason = _problem(tool) if named else "it has no name"
        if name in kept or name in left_out:
            reason = reason or "another tool has its name"
            name = f"{name} (number {number})"
        if reason:
            left_out[name] = reason[:MAX_REASON]
        else:
            kept[name] = dict(tool)
    return UsableTools(tuple(kept.values()), left_out)


def _problem(tool: Mapping[str, Any]) -> str:
    """Return why a tool cannot be used; an empty text if it can."""
    schema = tool.get("parameters")
    schema = {} if schema is None else schema
    if not isinstance(schema, Mapping):
        return f"its parameters are {json.dumps(schema, default=str)[:80]}, expected a JSON Schema of an object"
    if not isinstance(tool.get("description", ""), str | None):
        return "its description is no text"
    try:
        check_plain(dict(tool))
        json.dumps(tool, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        return f"JSON cannot tell it: {first_line(error)}"
    try:
        CompiledSchema({"type": "object", **schema}, "tool", "parameters")
    except SpecError as error:
        return f"its parameters are no JSON Schema: {first_line(error.__cause__ or error)}"
    if schema.get("type", "object") != "object":
        return f"its parameters are of type {json.dumps(schema['type'])}, expected an object"
    return ""
