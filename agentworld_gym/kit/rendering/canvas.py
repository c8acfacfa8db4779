"""A picture that is being drawn: boxes, shadows and texts, in whole pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import AgentWorldError, install
from agentworld_gym.core.screens import Box
from agentworld_gym.kit.rendering.style import BLACK, INK, Colour, fitted, font, plain, width_of, wrapped

Pixels = NDArray[np.uint8]
Align = Literal["left", "centre", "right"]


class RenderingUnavailable(AgentWorldError):
    """Pictures need Pillow, which is not installed."""


def pillow() -> None:
    """Check that Pillow is installed.

    Raises:
        RenderingUnavailable: it is not installed.
    """
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise RenderingUnavailable(f"pictures need Pillow: {install('render')}") from error


class Canvas:
    """A picture that is being drawn.

    Raises:
        RenderingUnavailable: Pillow is not installed.
    """

    def __init__(self, width: int, height: int, background: Colour) -> None:
        pillow()
        from PIL import Image, ImageDraw

        self.width, self.height = width, height
        self.image = Image.new("RGB", (width, height), background)
        self.draw = ImageDraw.Draw(self.image)

    def pixels(self, scale: float = 1.0) -> Pixels:
        """Return the picture as an array (height, width, 3)."""
        from PIL import Image

        image = self.image
        if scale != 1.0:
            size = max(1, round(self.width * scale)), max(1, round(self.height * scale))
            image = image.resize(size, Image.Resampling.LANCZOS)
        return np.asarray(image, np.uint8).copy()

    def gradient(self, box: Box, colours: Sequence[Colour]) -> None:
        """Fill the picture with colours that flow from the top left to the bottom right."""
        from PIL import Image

        x, y, width, height = self._inside(box)
        if width <= 0 or height <= 0:
            return
        way = np.add.outer(np.linspace(0, 0.62, height), np.linspace(0, 0.38, width))
        stops = np.linspace(0, 1, len(colours))
        parts = [np.interp(way, stops, [colour[channel] for colour in colours]) for channel in range(3)]
        self.image.paste(Image.fromarray(np.stack(parts, -1).astype(np.uint8)), (x, y))

    def veil(self, box: Box, colour: Colour, strength: float) -> None:
        """Lay a colour over what is there."""
        from PIL import Image

        x, y, width, height = self._inside(box)
        if width > 0 and height > 0:
            there = self.image.crop((x, y, x + width, y + height))
            self.image.paste(Image.blend(there, Image.new("RGB", there.size, colour), strength), (x, y))

    def shadow(self, box: Box, radius: int = 12, depth: int = 14, strength: float = 0.4) -> None:
        """Draw a soft shadow around and below a box."""
        from PIL import Image, ImageDraw, ImageFilter

        room = 2 * depth
        outer = Box(box.x - room, box.y - room, box.width + 2 * room, box.height + 2 * room)
        x, y, width, height = self._inside(outer)
        if width <= 0 or height <= 0:
            return
        mask = Image.new("L", (width, height))
        left, top = box.x - x, box.y - y + depth // 3
        corners = (left, top, left + box.width, top + box.height)
        ImageDraw.Draw(mask).rounded_rectangle(corners, radius, fill=int(255 * strength))
        mask = mask.filter(ImageFilter.BoxBlur(depth * 0.6))
        self.image.paste(BLACK, (x, y), mask)

    def box(
        self, box: Box, fill: Colour | None = None, radius: int = 0, outline: Colour | None = None, width: int = 1
    ) -> None:
        """Draw a rectangle, rounded or not."""
        if box.width < 1 or box.height < 1:
            return
        corners = (box.x, box.y, box.x + box.width - 1, box.y + box.height - 1)
        radius = min(radius, box.width // 2, box.height // 2)
        self.draw.rounded_rectangle(corners, radius, fill=fill, outline=outline, width=width)

    def top_box(self, box: Box, fill: Colour, radius: int) -> None:
        """Draw a rectangle whose upper corners are rounded."""
        if box.width < 1 or box.height < 1:
            return
        corners = (box.x, box.y, box.x + box.width - 1, box.y + box.height - 1)
        self.draw.rounded_rectangle(corners, radius, fill=fill, corners=(True, True, False, False))

    def line(self, points: Sequence[tuple[float, float]], colour: Colour, width: int = 1) -> None:
        """Draw straight lines from point to point."""
        self.draw.line([(x, y) for x, y in points], fill=colour, width=width, joint="curve")

    def disc(self, box: Box, fill: Colour | None = None, outline: Colour | None = None, width: int = 1) -> None:
        """Draw an ellipse that fills a box."""
        if box.width > 0 and box.height > 0:
            corners = (box.x, box.y, box.x + box.width - 1, box.y + box.height - 1)
            self.draw.ellipse(corners, fill=fill, outline=outline, width=width)

    def text(self, x: float, y: float, text: str, size: int, colour: Colour = INK, *, bold: bool = False) -> None:
        """Draw a line of text whose vertical middle is at `y`."""
        self._write((x, y), text, size, colour, "lm", bold)

    def words(
        self,
        box: Box,
        text: str,
        size: int,
        colour: Colour = INK,
        *,
        align: Align = "left",
        bold: bool = False,
        underline: bool = False,
    ) -> None:
        """Draw a line of text in the middle of a box's height, and cut it where it does not fit."""
        fitting = fitted(text, size, box.width)
        if not fitting:
            return
        room = box.width - width_of(fitting, size)
        x = box.x + (0 if align == "left" else room if align == "right" else room // 2)
        y = box.y + box.height / 2
        self._write((x, y), fitting, size, colour, "lm", bold)
        if underline:
            below = y + size * 0.45
            self.line([(x, below), (x + width_of(fitting, size), below)], colour, max(1, size // 16))

    def paragraph(
        self, box: Box, text: str, size: int, colour: Colour = INK, *, leading: float = 1.35, bold: bool = False
    ) -> int:
        """Draw lines of text from the top of a box to its bottom; return how many pixels they take."""
        step = int(size * leading)
        lines = wrapped(text, size, box.width, max(box.height // step, 1))
        for number, line in enumerate(lines):
            self._write((box.x, box.y + number * step + step / 2), line, size, colour, "lm", bold)
        return len(lines) * step

    def cells(self, x: int, y: int, text: str, cell: tuple[int, int], colour: Colour = INK) -> None:
        """Draw a line of text in cells of one width, as a terminal shows it."""
        wide, high = cell
        size = int(high * 0.72)
        for place, letter in enumerate(text):
            if letter != " ":
                self._write((x + place * wide + wide / 2, y + high / 2), letter, size, colour, "mm", False)

    def _write(self, place: tuple[float, float], text: str, size: int, colour: Colour, anchor: str, bold: bool) -> None:
        options: dict[str, Any] = {"stroke_width": max(size / 64, 0.35), "stroke_fill": colour} if bold else {}
        self.draw.text(place, plain(text), font=font(size), fill=colour, anchor=anchor, **options)

    def _inside(self, box: Box) -> Box:
        left, top = max(box.x, 0), max(box.y, 0)
        right, bottom = min(box.x + box.width, self.width), min(box.y + box.height, self.height)
        return Box(left, top, right - left, bottom - top)
