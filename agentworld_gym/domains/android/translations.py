"""The dialects of phones in the first one."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.screens.android import translation
from agentworld_gym.screens.translation import Translation

_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"
_BESIDE = r'"(?:\\?\ )?(?:desc|hint)=|hint='
"""A description beside a text, or the hint of a field."""


def _translate(shown: str, _: Any) -> str:
    return translation.in_androidworld(shown)


def _readings(translated: str, _: Any) -> tuple[str, ...]:
    return translation.readings(translated)


DROIDRUN = Translation(_translate, re.compile(rf"{_BESIDE}|bounds=|\b(?:{_FLAGS})\b"), _readings)
"""The dialect of DroidRun."""

DROIDBOT = Translation(_translate, re.compile(_BESIDE), _readings)
"""The dialect of DroidBot."""
