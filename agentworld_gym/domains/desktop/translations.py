"""The dialect of AutoGLM-OS in the first one of the desktop."""

from __future__ import annotations

import re

from agentworld_gym.screens import desktop
from agentworld_gym.screens.translation import Translation

_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"

AUTOGLM = Translation(
    lambda shown, _: desktop.seven_columns(shown),
    re.compile(rf"(?:\\t|\t){{2}}|\b(?:{_FLAGS}|expanded|disabled|class)\b"),
)
"""The dialect of AutoGLM-OS."""
