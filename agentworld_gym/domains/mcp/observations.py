"""How the answers of tools are compared."""

from __future__ import annotations

import json
import re

from agentworld_gym.core.screens.observations import Observations, Translation, json_value


class ToolObservations(Observations):
    """The answers of tools, in which the order of keys and the spacing of JSON mean nothing.

    >>> ToolObservations().normalised('{"b": 1,"a":2}')
    '{"a": 2, "b": 1}'
    """

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
