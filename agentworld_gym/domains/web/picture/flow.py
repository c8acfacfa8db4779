"""The flow of a page: lines of words and boxes that break where the page ends, as a browser lays them out."""

from __future__ import annotations

from collections.abc import Callable

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.boxes import union
from agentworld_gym.kit.rendering.canvas import Canvas

GAP = 8
Draw = Callable[[Box], None]


class PageCanvas(Canvas):
    """A page that is being drawn, which remembers where its elements are."""

    def __init__(self, width: int, height: int, background: style.Colour) -> None:
        super().__init__(width, height, background)
        self.places: dict[ScreenNode, Box] = {}
        self.dialog_buttons: dict[str, Box] = {}
        """The buttons of a dialog of the browser itself, by their names."""
        self.owner: ScreenNode | None = None
        """The element that is being drawn, of those that an action can name."""

    def remember(self, owner: ScreenNode, box: Box) -> None:
        """Remember that a box belongs to an element, beside the boxes that do so already."""
        before = self.places.get(owner)
        self.places[owner] = box if before is None else union([before, box])


class PageColumn:
    """A column of a page that is filled from its top; `y` is where the next block begins."""

    def __init__(
        self, canvas: PageCanvas, x: int, y: int, width: int, size: int = 16, colour: style.Colour = style.INK
    ) -> None:
        self.canvas, self.x, self.y, self.width = canvas, x, y, max(width, 40)
        self.size, self.colour = size, colour
        self._line: list[tuple[int, int, int, Draw, ScreenNode | None]] = []
        self._used = 0

    def put(self, width: int, height: int, draw: Draw, gap: int = GAP) -> None:
        """Place a box in the line, or in the next line if it does not fit."""
        width = min(width, self.width)
        if self._line and self._used + width > self.width:
            self.end()
        self._line.append((self._used, width, height, draw, self.canvas.owner))
        self._used += width + gap

    def words(
        self,
        text: str,
        colour: style.Colour | None = None,
        *,
        bold: bool = False,
        underline: bool = False,
        size: int | None = None,
    ) -> None:
        """Write a text into the line and break it between words."""
        size, ink = size or self.size, colour or self.colour
        space = max(size // 4, 3)
        if self._line and text[:1] in tuple(",.;:)"):
            self._used -= GAP
        for number, line in enumerate(text.split("\n")):
            if number:
                self.end()
            words = line.split()
            for place, word in enumerate(words):

                def draw(box: Box, word: str = word, last: bool = place + 1 == len(words)) -> None:
                    self.canvas.words(box, word, size, ink, bold=bold)
                    if underline:
                        y, end = box.y + box.height // 2 + size // 2, box.x + box.width + (0 if last else space)
                        self.canvas.line([(box.x, y), (end, y)], ink)

                wide = style.width_of(word, size) + 1
                while wide > self.width and len(word) > 1:
                    word = style.fitted(word, size, self.width)
                    wide = self.width
                self.put(wide, int(size * 1.5), draw, space)
        self._used += GAP - space if self._line else 0

    def end(self) -> None:
        """Close the line; its boxes stand in the middle of its height."""
        if not self._line:
            return
        height = max(high for _, _, high, _, _ in self._line)
        for left, width, high, draw, owner in self._line:
            box = Box(self.x + left, self.y + (height - high) // 2, width, high)
            draw(box)
            if owner is not None:
                self.canvas.remember(owner, box)
        self.y += height + 4
        self._line, self._used = [], 0

    def skip(self, pixels: int) -> None:
        """Close the line and leave room below it."""
        self.end()
        self.y += pixels

    def inner(
        self, left: int = 0, right: int = 0, size: int | None = None, colour: style.Colour | None = None
    ) -> PageColumn:
        """Return a narrower column that begins here; `take` goes on below it."""
        self.end()
        return PageColumn(
            self.canvas, self.x + left, self.y, self.width - left - right, size or self.size, colour or self.colour
        )

    def take(self, inner: PageColumn, below: int = 0) -> None:
        """Go on below a column."""
        inner.end()
        self.y = max(self.y, inner.y) + below
