"""The text that a capture of the screen shows of everything that was printed."""

from __future__ import annotations

import re

import pyte

ROWS = 40
COLUMNS = 80
MAX_CHARS = 16_000

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


def capture(text: str) -> str:
    """Return the last 40 lines of what was printed, without white space at the ends of lines.

    Lines are not wrapped. Text with control sequences is drawn by a terminal emulator (pyte).

    >>> capture("a  \\nb\\n"), capture("one\\rtwo"), capture("x\\x1b[31my\\x1b[0m")
    ('a\\nb', 'two', 'xy')
    """
    text = text[-40 * MAX_CHARS :]
    if _CONTROL.search(text):
        text = _emulated(text)
    lines = _TRAILING.sub("", text).rstrip().split("\n")
    return "\n".join(lines[-ROWS:])[-MAX_CHARS:]


def _emulated(text: str) -> str:
    tail = "\n".join(text.split("\n")[-ROWS:])[-MAX_CHARS:]
    width = max(COLUMNS, *(len(line) for line in tail.split("\n")))
    screen = pyte.Screen(min(width, 2_000), ROWS)
    stream = pyte.Stream(screen)
    try:
        stream.feed(tail.replace("\x00", "").replace("\n", "\r\n"))
        return "\n".join(line.rstrip() for line in screen.display)
    except Exception:  # pyte fails on some malformed sequences; such a screen shows the text without them
        return _CONTROL.sub("", tail)
