"""The tools of a world as its clients here can use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.base.documents.plain_yaml import MAX_DEPTH
from agentworld_gym.core.actions.usable_tools import usable_tools

PATTERNS = ("pattern", "patternProperties")
"""The keys of a JSON Schema that hold regular expressions."""


class ClientTools(NamedTuple):
    """The tools of a world."""

    tools: tuple[dict[str, Any], ...]
    """Those that can be called."""

    left_out: dict[str, str]
    """Those that cannot, with the reason."""

    checked: frozenset[str]
    """The tools whose patterns only the server can read; it has to check all arguments of their calls itself."""


def client_tools(told: Sequence[Any]) -> ClientTools:
    r"""Return the tools that a server told of, and whose words nobody vouches for.

    Patterns are those of Python there, and of ECMAScript here. A tool with a pattern that cannot be read here loses its
    patterns.

    >>> number = {"type": "string", "pattern": r"\d+\Z"}
    >>> found = client_tools([{"name": "get", "parameters": {"properties": {"number": number}}}])
    >>> found.tools[0]["parameters"]["properties"], found.checked
    ({'number': {'type': 'string'}}, frozenset({'get'}))
    """
    known = {tool["name"] for tool in usable_tools(told).tools}
    told = [tool if _name_of(tool) in known else _without_patterns(tool) for tool in told]
    tools, left_out = usable_tools(told)
    return ClientTools(tools, left_out, frozenset(tool["name"] for tool in tools) - known)


def _name_of(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, Mapping) else None


def _without_patterns(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_without_patterns(item, depth + 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept = {key: item for key, item in value.items() if key not in PATTERNS or _is_name(key, item)}
    return {key: _without_patterns(item, depth + 1) for key, item in kept.items()}


def _is_name(key: str, value: Any) -> bool:
    """Return whether a key is the name of an argument: a schema stands behind it, and no pattern."""
    return key == "pattern" and isinstance(value, Mapping | bool)
