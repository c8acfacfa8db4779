"""How the tools of a task are called in a dialect: `<server>-<tool>`, or by the tool's own name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.domain.action_spec import ActionSpec


def called(name: str, spec: ActionSpec) -> str:
    """Return what a tool is called in a dialect.

    >>> from agentworld_gym.domain.spec import load_spec
    >>> [called("shop-get_order", load_spec(f"mcp:{dialect}").action) for dialect in ("toolathlon", "mcpmark")]
    ['shop-get_order', 'get_order']
    """
    return name.partition("-")[2] or name if spec.bare_tool_names else name


def renamed(tools: Sequence[Mapping[str, Any]], spec: ActionSpec) -> list[dict[str, Any]]:
    """Return tools under the names that they have in a dialect."""
    if not spec.bare_tool_names:
        return [dict(tool) for tool in tools]
    return [{**tool, "name": called(str(tool.get("name")), spec)} for tool in tools]


def full_names(tools: Sequence[Mapping[str, Any]], spec: ActionSpec) -> dict[str, str]:
    """Return the full name behind each name that a dialect shortens; the first of several tools of a name counts."""
    names: dict[str, str] = {}
    for tool in tools if spec.bare_tool_names else ():
        names.setdefault(called(str(tool.get("name")), spec), str(tool.get("name")))
    return names
