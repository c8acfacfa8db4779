"""Screens of other dialects in the first dialect of their domain, in which checks are written, as far as they tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentworld_gym.screens import desktop
from agentworld_gym.screens.android import translation

_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"


@dataclass(frozen=True, slots=True)
class Translation:
    """How the observations of a dialect are read in the first dialect, and what they do not tell."""

    translate: Callable[[str], str]
    """The function that writes an observation in the first dialect, as far as it tells."""

    untold: re.Pattern[str]
    """The words of a pattern that asks for what the dialect never shows."""

    readings: Callable[[str], tuple[str, ...]] = lambda translated: (translated,)
    """The function that returns what a translated observation may stand for, where the dialect leaves it open."""


_BESIDE = r'"(?:\\?\ )?(?:desc|hint)=|hint='
"""A description beside a text, or the hint of a field."""

FIRST_DIALECTS: Mapping[tuple[str, str], Translation] = {
    ("desktop", "autoglm"): Translation(
        desktop.seven_columns, re.compile(rf"(?:\\t|\t){{2}}|\b(?:{_FLAGS}|expanded|disabled|class)\b")
    ),
    ("android", "droidrun"): Translation(
        translation.in_androidworld, re.compile(rf"{_BESIDE}|bounds=|\b(?:{_FLAGS})\b"), translation.readings
    ),
    ("android", "droidbot"): Translation(translation.in_androidworld, re.compile(_BESIDE), translation.readings),
}
"""The translations by domain and dialect."""
