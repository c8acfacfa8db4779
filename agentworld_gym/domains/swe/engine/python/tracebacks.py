"""Exceptions of a program with the frames they came through, independent of the sandbox that reports them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SIGN = "\x01"
REPEATED = 3
MAX_MESSAGE = 10_000
PHRASES = (
    (re.compile(r"day -?\d+ must be in range 1\.\.\d+ for month \d+ in year \d+"), "day is out of range for month"),
    (re.compile(r"^(min|max)\(\) iterable argument is empty"), r"\1() arg is an empty sequence"),
)
"""Messages of monty, as patterns, and CPython's words for them."""


class Frame(NamedTuple):
    """One step of a traceback: file, line from 1, function."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class ExceptionReport:
    """An exception: its class, its text, its frames (outermost first), and the report of a syntax error."""

    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    report: str = ""

    @property
    def line(self) -> str:
        """The last line of the traceback."""
        return f"{self.kind}: {self.message}" if self.message else self.kind


def decoded(kind: str, message: str, frames: Sequence[Frame]) -> ExceptionReport:
    """Return an exception whose text may carry a name of the sandbox's own: `SIGN name SIGN text`.

    >>> decoded("AssertionError", "\\x01Failed\\x01DID NOT RAISE", ()).line
    'Failed: DID NOT RAISE'
    """
    if message.startswith(SIGN) and message.count(SIGN) >= 2:
        _, kind, message = message.split(SIGN, 2)
    message = message[:MAX_MESSAGE]
    for pattern, words in PHRASES:
        message = pattern.sub(words, message)
    return ExceptionReport(kind, message, tuple(frames))


def traceback_text(exception: ExceptionReport, lines: Mapping[str, Sequence[str]]) -> str:
    """Format a traceback as the interpreter prints it; `lines` are the lines of the files, by path."""
    out = ["Traceback (most recent call last):"]
    last, count = None, 0
    for frame in (*exception.frames, None):
        if frame is not None and frame == last:
            count += 1
            if count >= REPEATED:
                continue
        elif count >= REPEATED:
            times = count - REPEATED + 1
            out.append(f"  [Previous line repeated {times} more time{'s' if times > 1 else ''}]")
        if frame is None:
            break
        if frame != last:
            last, count = frame, 0
        out.append(f'  File "{frame.path}", line {frame.line}, in {frame.function}')
        text = lines.get(frame.path, [])
        if 0 < frame.line <= len(text):
            out.append(f"    {text[frame.line - 1].strip()}")
    return "\n".join([*out, exception.report or exception.line]) + "\n"
