"""Drawing a text as a terminal would show it."""

from __future__ import annotations

from agentworld_gym.core.screens import Box
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.canvas import Canvas

COLUMNS, ROWS = 120, 40
CELL = (10, 22)
_MARGIN = 24
_BAR = 40


def draw(text: str) -> Canvas:
    """Draw the end of a text in a window of 120 columns; lines that are too long go on below."""
    lines: list[str] = []
    for line in text.expandtabs(4).split("\n"):
        lines += [line[start : start + COLUMNS] for start in range(0, len(line), COLUMNS)] or [""]
    lines = lines[-ROWS:]
    width, height = COLUMNS * CELL[0] + 2 * _MARGIN, ROWS * CELL[1] + 2 * _MARGIN + _BAR
    canvas = Canvas(width, height, style.TERMINAL)
    canvas.box(Box(0, 0, width, _BAR), style.NIGHT)
    for place, colour in enumerate((style.RED, style.AMBER, style.GREEN)):
        canvas.disc(Box(18 + 26 * place, 12, 16, 16), colour)
    for number, line in enumerate(lines):
        colour = style.AMBER if line.startswith("> ") else style.TERMINAL_INK
        canvas.cells(_MARGIN, _BAR + _MARGIN + number * CELL[1], line, CELL, colour)
    return canvas
