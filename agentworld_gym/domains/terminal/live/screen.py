"""The screen of a real terminal, and the text that a capture shows of it.

Lines that went on at the margin are one line in a capture, as tmux joins them. A program that takes the whole screen,
such as an editor, is shown as it stands.
"""

from __future__ import annotations

import re
from collections import deque
from copy import copy
from typing import Any, NamedTuple

import pyte
from pyte import modes

from agentworld_gym.domains.terminal.engine.screen import COLUMNS, MAX_CHARS, ROWS

_OTHER_SCREEN = frozenset((47, 1047, 1049))
"""The private modes in which a program has a screen of its own."""

_MOST_ROWS = 1000
"""How many rows above the screen are kept."""

_MOST_FED = 1 << 17
"""How many bytes of one flood are drawn: its start and its end."""


class _Row(NamedTuple):
    text: str
    goes_on: bool


class _Screen(pyte.Screen):
    """A screen that knows which rows go on, what has scrolled off, and where a capture begins."""

    def __init__(self, columns: int, rows: int) -> None:
        self.above: deque[_Row] = deque(maxlen=_MOST_ROWS)
        self.gone = 0
        """How many rows have scrolled off."""
        self.start = 0
        """The row with which a capture begins, counted from the first one ever."""
        self.goes_on: dict[int, bool] = {}
        """Whether a row of the screen goes on in the next one."""
        self._drawing = False
        self.usual: tuple[dict[int, Any], Any, dict[int, bool]] | None = None
        """The usual screen, while a program has one of its own."""
        super().__init__(columns, rows)

    def row(self, y: int) -> _Row:
        """Return a row of the screen."""
        line = self.buffer[y]
        return _Row("".join(line[x].data for x in range(self.columns)), self.goes_on.get(y, False))

    def draw(self, data: str) -> None:
        self._drawing = True
        try:
            super().draw(data)
        finally:
            self._drawing = False
        if self.usual is None:
            self.start = min(self.start, self.gone + self.cursor.y)

    def linefeed(self) -> None:
        self.goes_on[self.cursor.y] = self._drawing
        super().linefeed()

    def index(self) -> None:
        whole = self.margins is None or (self.margins.top == 0 and self.margins.bottom == self.lines - 1)
        if self.cursor.y == self.lines - 1 and whole and self.usual is None:
            self.above.append(self.row(0))
            self.gone += 1
            self.goes_on = {y - 1: on for y, on in self.goes_on.items() if y}
        super().index()

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        super().erase_in_display(how, *args, **kwargs)
        if how in (2, 3) or (how == 0 and not self.cursor.y and not self.cursor.x):
            self.goes_on.clear()
            if self.usual is None:
                self.start = self.gone

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        super().erase_in_line(how, private)
        if how != 1:
            self.goes_on.pop(self.cursor.y, None)

    def set_mode(self, *given: int, **kwargs: Any) -> None:
        super().set_mode(*given, **kwargs)
        if kwargs.get("private") and _OTHER_SCREEN.intersection(given) and self.usual is None:
            self.usual = (dict(self.buffer), copy(self.cursor), self.goes_on)
            self.buffer.clear()
            self.goes_on = {}

    def reset_mode(self, *given: int, **kwargs: Any) -> None:
        super().reset_mode(*given, **kwargs)
        if kwargs.get("private") and _OTHER_SCREEN.intersection(given):
            self.leave()

    def leave(self) -> None:
        """Go back to the usual screen."""
        if self.usual is not None:
            rows, self.cursor, self.goes_on = self.usual
            self.usual, self.margins = None, None
            self.buffer.clear()
            self.buffer.update(rows)

    def report_device_status(self, mode: int = 0, **kwargs: Any) -> None:
        """Answer nothing: what a program asks of the terminal is not told."""

    def report_device_attributes(self, mode: int = 0, **kwargs: Any) -> None:
        """Answer nothing."""


class LiveScreen:
    r"""What a terminal shows.

    >>> screen = LiveScreen()
    >>> screen.feed(b"$ echo " + b"x" * 80 + b"\r\n")
    >>> screen.capture() == "$ echo " + "x" * 80
    True
    >>> screen.begin_capture()
    >>> screen.feed(b"hi\r\n\x1b[?1049h\x1b[Hwhole\x1b[?1049lbye")
    >>> screen.capture()
    'hi\nbye'
    """

    def __init__(self) -> None:
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        """Draw what a terminal printed; of a flood the start and the end."""
        if len(data) > _MOST_FED:
            head, tail = data[: _MOST_FED // 4], data[-3 * _MOST_FED // 4 :]
            data = head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
        try:
            self._stream.feed(data)
        except Exception:  # pyte fails on some malformed sequences, and its reader cannot go on then.
            self._stream = pyte.ByteStream(self._screen)

    @property
    def whole(self) -> bool:
        """Whether a program has a screen of its own."""
        return self._screen.usual is not None

    @property
    def application_keys(self) -> bool:
        """Whether the program wants the sequences of a keypad for the arrow keys."""
        return (1 << 5) in self._screen.mode

    def leave_whole(self) -> None:
        """Go back to the usual screen, as after the end of a program that was killed."""
        self._screen.leave()
        self._screen.margins = None
        self._screen.reset_mode(modes.IRM)

    def begin_capture(self) -> None:
        """Let the next captures begin with the line of the cursor."""
        screen, y = self._screen, self._screen.cursor.y
        if self.whole:
            return
        while y and screen.goes_on.get(y - 1):
            y -= 1
        screen.start = screen.gone + y

    def capture(self) -> str:
        """Return what is shown since the line with which the capture begins, without white space at the ends."""
        screen = self._screen
        rows = [screen.row(y) for y in range(screen.lines)]
        if self.whole:
            lines = [row.text.rstrip() for row in rows]
        else:
            first = screen.gone - len(screen.above)
            lines, open_line = [], ""
            for row in [*screen.above, *rows][max(screen.start - first, 0) :]:
                open_line += row.text
                if not row.goes_on:
                    lines.append(open_line.rstrip())
                    open_line = ""
            lines.append(open_line.rstrip())
        while lines and not lines[-1]:
            lines.pop()
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", "\n".join(lines[-ROWS:])[-MAX_CHARS:])
