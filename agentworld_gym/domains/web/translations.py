"""The dialect of BrowserGym in the first one of the web."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentworld_gym.screens.bid_trees import as_snapshot
from agentworld_gym.screens.translation import Translation
from agentworld_gym.screens.web import QUIET_TOOLS


def _readings(translated: str, call: Any) -> tuple[str, ...]:
    is_quiet = isinstance(call, Mapping) and call.get("name") in QUIET_TOOLS
    return () if is_quiet or not translated.startswith("### ") else (translated,)


BROWSERGYM = Translation(
    lambda shown, _: as_snapshot(shown),
    re.compile(r"/url|/placeholder|level=|cursor=|\bgeneric\b|Playwright code|Console|Events|Open tabs|Result"),
    _readings,
)
"""The dialect of BrowserGym."""
