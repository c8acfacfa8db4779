"""Calls between tags, `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, also where the JSON is not quite JSON."""

from __future__ import annotations

import json
import re
from typing import Any

_BLOCK = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


def read_tagged_call(text: str) -> tuple[str, dict[str, Any]] | None:
    r"""Return the name and the arguments of the first call in a text; None where there is none.

    The text may be the JSON of a call without tags. The arguments may be an object or its JSON text; others count as
    none.

    >>> read_tagged_call('I look.\n<tool_call>\n{"name": "list_tools", "arguments": null}\n</tool_call>')
    ('list_tools', {})
    >>> read_tagged_call("There are two.") is None
    True
    """
    stripped = text.strip()
    blocks = _BLOCK.findall(text) or ([stripped] if stripped.startswith("{") else [])
    for call in map(read_loose_json, blocks):
        one = call[0] if isinstance(call, list) and call else call
        if isinstance(one, dict) and isinstance(one.get("name", ""), str):
            arguments = one.get("arguments")
            given = read_loose_json(arguments) if isinstance(arguments, str) else arguments
            return one.get("name", ""), given if isinstance(given, dict) else {}
    return None


def read_loose_json(text: str) -> Any:
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
