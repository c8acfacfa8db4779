"""The dialects of tool servers in the first one."""

from __future__ import annotations

import re

from agentworld_gym.screens.translation import Translation

_NAMES = re.compile(r"calling tool|Unknown tool")

MCPMARK = Translation(lambda shown, _: shown, _NAMES)
"""The dialect of MCPMark."""

AWM = Translation(lambda shown, _: shown.removeprefix("Error: "), _NAMES)
"""The dialect of Agent World Model."""
