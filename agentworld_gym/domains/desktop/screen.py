"""The screens of the desktop: tables of the accessibility tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.core.screens.observations import Translation
from agentworld_gym.core.screens.place import Place
from agentworld_gym.core.screens.screen import Screen
from agentworld_gym.domains.desktop import screen_texts as desktop

_CALLS: Mapping[str, str] = {"click": "click", "double click": "doubleClick", "right click": "rightClick"}
_TYPED = frozenset(("entry", "text", "terminal", "table-cell", "combo-box", "spin-button"))
"""The roles of elements that take what is typed."""

_POSITION = re.compile(r"(?:\(|coordinates=\[)\s*(?:x\s*=\s*)?(-?[0-9]{1,5})\s*,\s*(?:y\s*=\s*)?(-?[0-9]{1,5})\b")


class DesktopScreen(Screen):
    """Tables of elements with their places, at which code points."""

    stand_in = "1, 1"
    example = "pyautogui.click(@{push-button 'Save'})"
    frame = (1920, 1080)
    numbers_things = True
    gestures = tuple(_CALLS)
    keys = MappingProxyType(
        {
            "Enter": "pyautogui.press('enter')",
            "Escape": "pyautogui.press('esc')",
            "Tab": "pyautogui.press('tab')",
            "Scroll down": "pyautogui.scroll(-5)",
            "Scroll up": "pyautogui.scroll(5)",
            "Save": "pyautogui.hotkey('ctrl', 's')",
            "Close window": "pyautogui.hotkey('alt', 'f4')",
        }
    )

    def read(self, observation: str) -> list[ScreenNode]:
        """Return the rows of the table."""
        return desktop.read(observation)

    def targets(self, parsed: Any) -> Iterator[str | tuple[int, int]]:
        """Yield the points in the code."""
        for x, y in _POSITION.findall(parsed if isinstance(parsed, str) else ""):
            yield int(x), int(y)

    def is_readable(self, observation: str) -> bool:
        """Whether every line behind the header is a row."""
        lines = {node.line for node in self.read(observation)}
        rows = observation.rstrip("\n").split("\n")
        return all(number in lines for number in range(int(rows[0].startswith("tag\t")), len(rows)))

    def places(self, observation: str) -> list[Place]:
        """Return the elements at their places."""
        found = super().places(observation)
        return [replace(place, writes=place.node.role in _TYPED) for place in found]

    def gesture(self, name: str, place: Place | None, x: int, y: int) -> str | None:
        """Return a click at exactly that point, whatever is there."""
        return f"pyautogui.{_CALLS[name]}({x}, {y})"

    def write(self, place: Place | None, text: str) -> str | None:
        """Return the code that types a text, after a click where a place is named."""
        typed = f"pyautogui.write({text!r})"
        return typed if place is None else "pyautogui.click({}, {})\n{}".format(*place.box.centre, typed)

    def draw(self, observation: str, scale: float) -> NDArray[np.uint8]:
        """Draw a desktop, 1920 by 1080 pixels; see `Screen.draw`."""
        from agentworld_gym.domains.desktop.picture.screen import draw

        return draw(self.read(observation)).pixels(scale)

    def draw_as_text(self, observation: str, width: int) -> str:
        """Draw the windows with characters."""
        from agentworld_gym.domains.desktop.picture.text import draw_desktop

        return draw_desktop(self.read(observation), width)


_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"

AUTOGLM = Translation(
    lambda shown, _: desktop.seven_columns(shown),
    re.compile(rf"(?:\\t|\t){{2}}|\b(?:{_FLAGS}|expanded|disabled|class)\b"),
)
"""The dialect of AutoGLM-OS."""
