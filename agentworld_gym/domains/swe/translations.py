"""The dialect of Claude Code in the first one of repositories."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.screens import claude_code
from agentworld_gym.screens.translation import Translation


def _readings(translated: str, call: Any) -> tuple[str, ...]:
    return (translated,) if claude_code.is_report(translated, call) else ()


CLAUDE_CODE = Translation(claude_code.as_report, re.compile(r"(?!)"), _readings)
"""The dialect of Claude Code."""
