"""Observations of other dialects in the first dialect of their domain, in which checks are written, as far as they
tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.screens import claude_code, desktop
from agentworld_gym.screens.android import translation
from agentworld_gym.screens.bid_trees import as_snapshot
from agentworld_gym.screens.web import QUIET_TOOLS

_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"


@dataclass(frozen=True, slots=True)
class Translation:
    """How the observations of a dialect are read in the first dialect, and what they do not tell."""

    translate: Callable[[str, Any], str]
    """The function that writes what an action showed in the first dialect, as far as it tells; it takes the observation
    and the action as its parser read it."""

    untold: re.Pattern[str]
    """The words of a pattern that asks for what the dialect never shows."""

    readings: Callable[[str, Any], tuple[str, ...]] = lambda translated, _: (translated,)
    """The function that returns what a translated observation of an action may stand for, where the dialect leaves it
    open. There is nothing where it does not tell what the first dialect would show."""


def _phone(shown: str, _: Any) -> str:
    return translation.in_androidworld(shown)


def _phone_readings(translated: str, _: Any) -> tuple[str, ...]:
    return translation.readings(translated)


def _page_readings(translated: str, call: Any) -> tuple[str, ...]:
    is_quiet = isinstance(call, Mapping) and call.get("name") in QUIET_TOOLS
    return () if is_quiet or not translated.startswith("### ") else (translated,)


def _report_readings(translated: str, call: Any) -> tuple[str, ...]:
    return (translated,) if claude_code.is_report(translated, call) else ()


_BESIDE = r'"(?:\\?\ )?(?:desc|hint)=|hint='
"""A description beside a text, or the hint of a field."""

_NEVER = re.compile(r"(?!)")

FIRST_DIALECTS: Mapping[tuple[str, str], Translation] = {
    ("desktop", "autoglm"): Translation(
        lambda shown, _: desktop.seven_columns(shown),
        re.compile(rf"(?:\\t|\t){{2}}|\b(?:{_FLAGS}|expanded|disabled|class)\b"),
    ),
    ("android", "droidrun"): Translation(_phone, re.compile(rf"{_BESIDE}|bounds=|\b(?:{_FLAGS})\b"), _phone_readings),
    ("android", "droidbot"): Translation(_phone, re.compile(_BESIDE), _phone_readings),
    ("web", "browsergym"): Translation(
        lambda shown, _: as_snapshot(shown),
        re.compile(r"/url|/placeholder|level=|cursor=|\bgeneric\b|Playwright code|Console|Events|Open tabs|Result"),
        _page_readings,
    ),
    ("swe", "claude-code"): Translation(claude_code.as_report, _NEVER, _report_readings),
    ("mcp", "mcpmark"): Translation(lambda shown, _: shown, re.compile(r"calling tool|Unknown tool")),
    ("mcp", "awm"): Translation(
        lambda shown, _: shown.removeprefix("Error: "), re.compile(r"calling tool|Unknown tool")
    ),
}
"""The translations by domain and dialect."""
