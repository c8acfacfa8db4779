"""AWM's two meta tools: an agent lists the tools of a world, and calls one by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from agentworld_gym.domains.mcp.awm.engine.server import AwmAnswer

PREFIX = "mcp_tool_mcp_server_"
"""What AWM's agents read before the name of each tool; a name without it, or with a part of it, is understood too."""

PREFIXES = (PREFIX, "mcp_tool_")

META_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "list_tools",
        "description": "List the tools of this environment, with what they do and which arguments they take.",
        "parameters": {"type": "object", "properties": {}},
    },
    {
        "name": "call_tool",
        "description": "Call one tool of this environment.",
        "parameters": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string", "description": "The name of the tool, as list_tools gives it."},
                "arguments": {
                    "type": ["string", "object"],
                    "description": "The arguments of the tool as a JSON object, or as the text of one.",
                    "default": "{}",
                },
            },
            "required": ["tool_name"],
        },
    },
)


Texts = Literal["own", "awm"]
"""Whose texts an agent reads: those of this package, or those that AWM's agents were trained on."""


def meta_call(
    name: str, arguments: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], texts: Texts = "own"
) -> tuple[str, dict[str, Any]] | AwmAnswer:
    """Return the tool and the arguments that a call of a meta tool asks for, or the answer to it.

    >>> meta_call("call_tool", {"tool_name": "mcp_tool_add", "arguments": '{"a": 1}'}, [])
    ('add', {'a': 1})
    """
    if name == "list_tools":
        return AwmAnswer(listed(tools) if texts == "own" else listed_as_in_awm(tools), False)
    if name != "call_tool":
        return AwmAnswer(f"Unknown tool: {name}", True)
    called, given = arguments.get("tool_name"), arguments.get("arguments") or {}
    if not isinstance(called, str):
        return AwmAnswer("Input validation error: 'tool_name' is a required property", True)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            return AwmAnswer(f"Input validation error: 'arguments' is no JSON object ({error})", True)
    if not isinstance(given, dict):
        return AwmAnswer("Input validation error: 'arguments' is no JSON object", True)
    prefix = next((prefix for prefix in PREFIXES if called.startswith(prefix)), "")
    return called[len(prefix) :], given


def listed(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a list of tools.

    >>> schema = {"properties": {"a": {"type": "integer"}}}
    >>> print(listed([{"name": "add", "description": "Add.", "parameters": schema}]))
    1 tools
    <BLANKLINE>
    1. mcp_tool_mcp_server_add
       Add.
       - a: integer (optional)
    """
    return "\n\n".join([f"{len(tools)} tools", *(_entry(number, tool) for number, tool in enumerate(tools, 1))])


def _entry(number: int, tool: Mapping[str, Any]) -> str:
    lines = str(tool.get("description") or "").partition("\n\n### Responses:")[0].splitlines()
    parameters = list(_parameters(tool.get("parameters") or {}, "   "))
    return "\n".join([f"{number}. {PREFIX}{tool['name']}", *(f"   {line}".rstrip() for line in lines), *parameters])


def _parameters(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, inner in _properties(schema):
        need = "required" if name in (schema.get("required") or ()) else "optional"
        text = f"{indent}- {name}: {inner.get('type', 'any')} ({need})"
        text += f": {inner['description']}" if inner.get("description") else ""
        text += f" Default: {json.dumps(inner['default'])}." if inner.get("default") is not None else ""
        text += f" One of {json.dumps(inner['enum'])}." if inner.get("enum") else ""
        yield text
        if inner.get("type") == "object":
            yield from _parameters(inner, indent + "  ")
        elif inner.get("type") == "array" and isinstance(inner.get("items"), Mapping):
            yield from _parameters(inner["items"], indent + "  ")


def _properties(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the properties of a schema with their own; one that is no more than true or false says nothing."""
    for name, inner in (schema.get("properties") or {}).items():
        yield name, inner if isinstance(inner, Mapping) else {}


def listed_as_in_awm(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a list of tools as AWM's agents read it: with the examples of answers, and line by line alike.

    >>> schema = {"properties": {"a": {"type": "integer", "default": 2}}, "required": ["a"]}
    >>> for line in listed_as_in_awm([{"name": "add", "description": "Add.", "parameters": schema}]).splitlines()[3:]:
    ...     print(line)
    1. mcp_tool_mcp_server_add
       Description: Add.
       Parameters:
          - a: integer (required)
            Default: 2
    """
    lines = [f"Available MCP Tools ({len(tools)} tools):", "=" * 80, ""]
    for number, tool in enumerate(tools, 1):
        first, *more = (line.strip() for line in str(tool.get("description") or "").split("\n"))
        lines += [f"{number}. {PREFIX}{tool['name']}", f"   Description: {first}"]
        lines += [f"   {line}" for line in more if line]
        parameters = list(_parameters_as_in_awm(tool.get("parameters") or {}, " " * 6))
        lines += ["   Parameters:", *parameters] if parameters else ["   Parameters: None"]
        lines.append("")
    return "\n".join(lines).strip()


def _parameters_as_in_awm(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, inner in _properties(schema):
        need = "required" if name in (schema.get("required") or ()) else "optional"
        yield f"{indent}- {name}: {inner.get('type', 'unknown')} ({need})"
        if inner.get("description"):
            yield f"{indent}  Description: {inner['description']}"
        if inner.get("default") is not None:
            yield f"{indent}  Default: {inner['default']}"
        if inner.get("enum"):
            yield f"{indent}  Allowed values: {inner['enum']}"
        if inner.get("type") == "object" and inner.get("properties"):
            yield f"{indent}  Properties:"
            yield from _parameters_as_in_awm(inner, indent + " " * 4)
