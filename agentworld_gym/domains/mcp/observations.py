"""How the answers of tools are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.screens.observations import Observations, Translation, json_value


class ToolObservations(Observations):
    """The answers of tools, in which the order of keys and the spacing of JSON mean nothing.

    >>> ToolObservations().normalised('{"b": 1,"a":2}')
    '{"a": 2, "b": 1}'
    """

    def is_whole(self, text: str, first: str, asks: bool) -> bool:
        """Whether what begins as JSON is JSON."""
        return not text.lstrip().startswith(("{", "[")) or json_value(text) is not None

    def normalised(self, text: str) -> str:
        """Return JSON with sorted keys, and any other text as `Observations` do."""
        value = json_value(text)
        if value is None:
            return super().normalised(text)
        return json.dumps(value[0], sort_keys=True, ensure_ascii=False)


_NAMES = re.compile(r"calling tool|Unknown tool")

MCPMARK = Translation(lambda shown, _: shown, _NAMES)
"""The dialect of MCPMark."""

AWM = Translation(lambda shown, _: shown.removeprefix("Error: "), _NAMES)
"""The dialect of Agent World Model."""


def asks(action: Any, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a call only reads: its tool says so (`readOnlyHint`), or else its name does.

    >>> asks({"name": "shop-get_order"}, ()), asks({"name": "shop-cancel_order"}, ())
    (True, False)
    """
    if not isinstance(action, Mapping):
        return False
    name = str(action.get("name"))
    for tool in tools:
        told = (tool.get("annotations") or {}).get("readOnlyHint") if tool.get("name") == name else None
        if told is not None:
            return bool(told)
    return name.rpartition("-")[2].startswith(("get_", "list_", "search_", "find_", "read_", "describe_", "count_"))
