"""The screens of phones: lists of elements in several dialects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.core.screens.observations import Translation
from agentworld_gym.core.screens.screen import Screen
from agentworld_gym.domains.android import screen_texts as android


class PhoneScreen(Screen):
    """Lists of elements with indices and bounds."""

    stand_in = "0"
    example = '{"action_type": "click", "index": @{Button \'Save\'}}'
    frame = (1080, 2400)
    numbers_things = True

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
