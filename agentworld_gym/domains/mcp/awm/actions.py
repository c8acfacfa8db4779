"""The actions of the agents of Agent World Model: calls between tags, those of its meta tools, and answers."""

from __future__ import annotations

import json
from typing import Any

from agentworld_gym.base.errors import WorldNotConfigured, install
from agentworld_gym.core.actions.syntaxes import ActionSyntax, read_json
from agentworld_gym.core.actions.tagged_calls import read_loose_json, read_tagged_call
from agentworld_gym.core.actions.toolset import Toolset

PREFIX = "mcp_tool_"
"""What stands before the names of the tools of a world; a call of such a name is one of the meta tool `call_tool`."""


def require_repair() -> None:
    """Make sure that loosely written JSON can be read.

    Raises:
        WorldNotConfigured: The library for it is missing; the message says what to install.
    """
    try:
        import json_repair  # noqa: F401
    except ImportError as error:
        raise WorldNotConfigured(f"dialect='awm' repairs broken JSON with json-repair: {install('awm')}") from error


def read_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of the first call in a text; None where there is none.

    A call of a tool of the world becomes one of `call_tool`, whose inner arguments may be an object or its text.

    >>> read_call('<tool_call>{"name": "mcp_tool_get", "arguments": {"id": 1}}</tool_call>')
    ('call_tool', {'tool_name': 'mcp_tool_get', 'arguments': {'id': 1}})
    >>> read_call("There are two.") is None
    True
    """
    call = read_tagged_call(text)
    if call is None:
        return None
    name, given = call
    if name.startswith(PREFIX):
        name, given = "call_tool", {"tool_name": name, "arguments": given}
    if name != "call_tool":
        return name, given
    called, inner = given.get("tool_name"), given.get("arguments")
    inner = read_loose_json(inner) if isinstance(inner, str) else inner
    called = called if isinstance(called, str) else ""
    return name, {"tool_name": called, "arguments": inner if isinstance(inner, dict) else {}}


def read(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read a call between tags."""
    call = read_call(text)
    if call is None:
        return None
    name, arguments = call
    return tools.call(name, read_json(json.dumps(arguments, ensure_ascii=False), "'arguments'"))


def read_answer(text: str, _tools: Toolset | None = None) -> dict[str, Any] | None:
    """Read any text without a call, and that is no JSON object, as an answer that ends the episode.

    >>> read_answer("There are two.")
    {'name': 'finish', 'arguments': {'answer': 'There are two.'}}
    """
    if text.lstrip().startswith("{") or read_call(text) is not None:
        return None
    return {"name": "finish", "arguments": {"answer": text}}


CALL = ActionSyntax(
    read, 'a call <tool_call>{"name": ..., "arguments": {...}}</tool_call>', calls_tools=True, own_only=True
)
"""The syntax `awm_call`."""

ANSWER = ActionSyntax(read_answer, "an answer", own_only=True, takes="text")
"""The syntax `final_answer`."""
