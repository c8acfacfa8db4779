"""Small pictures for names: the name of a button, a file or an app decides its drawing."""

from __future__ import annotations

import re

from agentworld_gym.core.screens import Box
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.drawings import DRAWINGS, WORDS
from agentworld_gym.kit.rendering.style import WHITE, Colour, tile_colour

_KNOWN = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in WORDS)


def drawing_of(name: str) -> str | None:
    """Return the drawing that a name has, or None.

    >>> drawing_of("Navigate up"), drawing_of("budget-2025.ods"), drawing_of("Blorp")
    ('back', 'sheet', None)
    """
    return next((drawing for pattern, drawing in _KNOWN if pattern.search(name)), None)


def glyph(canvas: Canvas, box: Box, drawing: str, colour: Colour) -> None:
    """Draw a glyph by its name, as large as a box allows."""
    side = min(box.width, box.height)
    left, top = box.x + (box.width - side) / 2, box.y + (box.height - side) / 2
    pen = max(round(side * 0.09), 2)
    for stroke in DRAWINGS[drawing]:
        kind, *digits = stroke.split()
        points = [int(number) * side / 100 for number in digits]
        pairs = [(left + x, top + y) for x, y in zip(points[::2], points[1::2], strict=True)]
        if kind == "line":
            canvas.line(pairs, colour, pen)
        elif kind == "area":
            canvas.draw.polygon(pairs, fill=colour)
        else:
            (x0, y0), (x1, y1) = pairs
            inner = Box(round(x0), round(y0), max(round(x1 - x0), 2), max(round(y1 - y0), 2))
            if kind == "box":
                canvas.box(inner, colour)
            elif kind == "frame":
                canvas.box(inner, None, max(side // 16, 1), colour, pen)
            elif kind == "disc":
                canvas.disc(inner, colour)
            else:
                canvas.disc(inner, None, colour, pen)


def tile(canvas: Canvas, box: Box, name: str, *, round_: bool = False) -> None:
    """Draw the icon of an app: a coloured square or disc, with a drawing or the first letter of a name."""
    side = min(box.width, box.height)
    square = Box(box.x + (box.width - side) // 2, box.y + (box.height - side) // 2, side, side)
    canvas.box(square, tile_colour(name), side // 2 if round_ else side // 4)
    drawing = drawing_of(name)
    if drawing is not None:
        margin = int(side * 0.24)
        inner = Box(square.x + margin, square.y + margin, side - 2 * margin, side - 2 * margin)
        glyph(canvas, inner, drawing, WHITE)
    else:
        letter = next((letter for letter in name if letter.isalnum()), "?").upper()
        canvas.words(square, letter, int(side * 0.5), WHITE, align="centre", bold=True)
