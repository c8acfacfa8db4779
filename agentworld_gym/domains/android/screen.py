"""The screens of phones: lists of elements in several dialects."""

from __future__ import annotations

import json
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
from agentworld_gym.domains.android import screen_texts as android

_TYPES: Mapping[str, str] = {"tap": "click", "long press": "long_press", "double tap": "double_tap"}


class PhoneScreen(Screen):
    """Lists of elements with indices and bounds."""

    stand_in = "0"
    example = '{"action_type": "click", "index": @{Button \'Save\'}}'
    frame = (1080, 2400)
    numbers_things = True
    gestures = tuple(_TYPES)
    keys = MappingProxyType(
        {
            "Back": '{"action_type": "navigate_back"}',
            "Home": '{"action_type": "navigate_home"}',
            "Enter": '{"action_type": "keyboard_enter"}',
            "Scroll down": '{"action_type": "scroll", "direction": "down"}',
            "Scroll up": '{"action_type": "scroll", "direction": "up"}',
            "Swipe left": '{"action_type": "swipe", "direction": "left"}',
            "Wait": '{"action_type": "wait"}',
        }
    )

    def read(self, observation: str) -> list[ScreenNode]:
        """Return the elements, whatever the dialect."""
        return android.read(observation)

    def targets(self, parsed: Any) -> Iterator[str | tuple[int, int]]:
        """Yield the index or the point of an action."""
        if not isinstance(parsed, dict):
            return
        if "index" in parsed:
            yield str(parsed["index"])
        elif all(isinstance(parsed.get(key), int) for key in "xy"):
            yield parsed["x"], parsed["y"]

    def is_readable(self, observation: str) -> bool:
        """Whether every line behind the head is an element."""
        lines = {node.line for node in self.read(observation)}
        rows = observation.rstrip("\n").split("\n")
        return all(number in lines for number in range(android.head_of(observation), len(rows)))

    def places(self, observation: str) -> list[Place]:
        """Return the elements at their places."""
        return [replace(place, writes=place.node.role == "EditText") for place in super().places(observation)]

    def gesture(self, name: str, place: Place | None, x: int, y: int) -> str | None:
        """Return a touch of the element by its index, or else of the point."""
        if place is None or place.node.handle is None:
            return json.dumps({"action_type": _TYPES[name], "x": x, "y": y})
        return json.dumps({"action_type": _TYPES[name], "index": place.node.handle})

    def write(self, place: Place | None, text: str) -> str | None:
        """Return the action that types a text."""
        where = {} if place is None else {"index": place.node.handle}
        return json.dumps({"action_type": "input_text", "text": text, **where}, ensure_ascii=False)

    def draw(self, observation: str, scale: float) -> NDArray[np.uint8]:
        """Draw a phone, 1080 by 2400 pixels; see `Screen.draw`."""
        from agentworld_gym.domains.android.picture.screen import draw

        return draw(self.read(observation)).pixels(scale)

    def draw_as_text(self, observation: str, width: int) -> str:
        """Draw the phone with characters."""
        from agentworld_gym.domains.android.picture.text import draw_phone

        return draw_phone(self.read(observation), width)

    def is_blank(self, observation: str) -> bool:
        """Whether only the head of a screen is shown."""
        return android.head_of(observation) > 0


_FLAGS = r"checked|selected|focused|editable|clickable|scrollable"
_BESIDE = r'"(?:\\?\ )?(?:desc|hint)=|hint='
"""A description beside a text, or the hint of a field."""


def _translate(shown: str, _: Any) -> str:
    return android.in_androidworld(shown)


def _readings(translated: str, _: Any) -> tuple[str, ...]:
    return android.readings(translated)


DROIDRUN = Translation(_translate, re.compile(rf"{_BESIDE}|bounds=|\b(?:{_FLAGS})\b"), _readings)
"""The dialect of DroidRun."""

DROIDBOT = Translation(_translate, re.compile(_BESIDE), _readings)
"""The dialect of DroidBot."""
