"""Pictures of what an observation shows; they are drawn from its text alone, so that a dream can be looked at too.

The pictures need the extra `render`.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from agentworld_gym.core.screens import Box, is_graphical, screen_of
from agentworld_gym.core.screens.sight import shows
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.canvas import Canvas, Pixels, RenderingUnavailable, pillow

MODAL = "\n### Modal state\n"
"""The heading that replaces a page while a dialog of the browser is open."""

_COLUMNS, _ROWS = 120, 40
_CELL = (10, 22)
_MARGIN = 24
_BAR = 40

__all__ = ["Pixels", "RenderingUnavailable", "from_png", "latest", "picture"]


def picture(domain: str, observation: str, scale: float = 1.0) -> Pixels:
    """Draw what a person would see, as an array (height, width, 3) of bytes.

    A desktop has 1920 by 1080 pixels, a phone 1080 by 2400, a web page 1280 by 800 or more. A text is 1200 pixels wide.

    Args:
        domain: The domain, such as `web`; a text domain is drawn as a terminal.
        observation: The text that the agent was shown.
        scale: The scale of the picture that is returned.

    Raises:
        RenderingUnavailable: Pillow is not installed.

    >>> picture("android", '[ 0] | android.widget.Button | text="OK" | bounds=[0,0][200,90]', 0.1).shape
    (240, 108, 3)
    """
    screen = screen_of(domain)
    if screen is not None and shows(domain, observation):
        return screen.draw(observation, scale)
    return _draw_text(observation).pixels(scale)


def from_png(data: bytes) -> Pixels:
    """Read a screenshot as an array (height, width, 3).

    Raises:
        RenderingUnavailable: Pillow is not installed.
    """
    pillow()
    from PIL import Image

    return np.asarray(Image.open(BytesIO(data)).convert("RGB"), np.uint8).copy()


def latest(domain: str, observations: Sequence[str]) -> str:
    """Return the last observation that shows a screen, with the dialog that has opened over it since, or the last
    one."""
    if is_graphical(domain):
        for observation in reversed(observations):
            if shows(domain, observation):
                _, opened, dialog = observations[-1].partition(MODAL)
                return observation if MODAL in observation else observation + opened + dialog
    return observations[-1]


def _draw_text(text: str) -> Canvas:
    """Draw the end of a text as a terminal would show it, 120 columns wide; longer lines go on below."""
    lines: list[str] = []
    for line in text.expandtabs(4).split("\n"):
        lines += [line[start : start + _COLUMNS] for start in range(0, len(line), _COLUMNS)] or [""]
    lines = lines[-_ROWS:]
    width, height = _COLUMNS * _CELL[0] + 2 * _MARGIN, _ROWS * _CELL[1] + 2 * _MARGIN + _BAR
    canvas = Canvas(width, height, style.TERMINAL)
    canvas.box(Box(0, 0, width, _BAR), style.NIGHT)
    for place, colour in enumerate((style.RED, style.AMBER, style.GREEN)):
        canvas.disc(Box(18 + 26 * place, 12, 16, 16), colour)
    for number, line in enumerate(lines):
        colour = style.AMBER if line.startswith("> ") else style.TERMINAL_INK
        canvas.cells(_MARGIN, _BAR + _MARGIN + number * _CELL[1], line, _CELL, colour)
    return canvas
