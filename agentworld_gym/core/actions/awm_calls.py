"""Calls as the agents of Agent World Model write them: JSON between tags, also where it is not quite JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from agentworld_gym.base.errors import WorldNotConfigured, install

PREFIX = "mcp_tool_"
"""What stands before the names of the tools of a world; a call of such a name is one of the meta tool `call_tool`."""

_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


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
    r"""Return the name and the arguments of the first call in a text; None where there is none.

    A call of a tool of the world becomes one of `call_tool`, whose inner arguments may be an object or its text.

    >>> read_call('I look.\n<tool_call>\n{"name": "list_tools", "arguments": null}\n</tool_call>')
    ('list_tools', {})
    >>> read_call('<tool_call>{"name": "mcp_tool_get", "arguments": {"id": 1}}</tool_call>')
    ('call_tool', {'tool_name': 'mcp_tool_get', 'arguments': {'id': 1}})
    >>> read_call("There are two.") is None
    True
    """
    stripped = text.strip()
    blocks = _BLOCK.findall(text) or ([stripped] if stripped.startswith("{") else [])
    for call in map(loosely_read, blocks):
        one = call[0] if isinstance(call, list) and call else call
        if isinstance(one, dict) and isinstance(one.get("name", ""), str):
            return _as_meta_call(one.get("name", ""), one.get("arguments"))
    return None


def loosely_read(text: str) -> Any:
    """Read JSON; what is not quite JSON is repaired, and None is what cannot be.

    Where the library for it is missing, nothing is repaired.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        import json_repair

        return json.loads(json.dumps(json_repair.loads(text)))
    except (ImportError, ValueError, TypeError, RecursionError):
        return None


def _as_meta_call(name: str, arguments: Any) -> tuple[str, dict[str, Any]]:
    given = loosely_read(arguments) if isinstance(arguments, str) else arguments
    given = given if isinstance(given, dict) else {}
    if name.startswith(PREFIX):
        name, given = "call_tool", {"tool_name": name, "arguments": given}
    if name != "call_tool":
        return name, given
    called, inner = given.get("tool_name"), given.get("arguments")
    inner = loosely_read(inner) if isinstance(inner, str) else inner
    called = called if isinstance(called, str) else ""
    return name, {"tool_name": called, "arguments": inner if isinstance(inner, dict) else {}}
