"""A run on standard error: a bar and a line of figures that stay in place, or plain lines where it is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from agentworld_gym.base.process.pacing import SECONDS, paced


class RunProgress(Protocol):
    """What can be shown while it lasts: a `Tally`, or a `Meter` of work that counts for itself."""

    @property
    def share(self) -> float | None:
        """How much of the run is over, from 0 to 1; None where that is not known."""
        ...

    @property
    def place(self) -> str:
        """Where the run is, such as `3 of 10 episodes`."""
        ...

    @property
    def figures(self) -> str:
        """What the run came to so far, in a line; it may be empty."""
        ...


class TerminalProgress:
    """Shows a run while it lasts, and a last line at its end.

    A run that breaks before anything is over leaves no line above the message of its error.

    Args:
        what: The name of the run.
        run: What is shown.
        console: Where it is shown; None takes standard error.
        seconds: The seconds between two plain lines.
        clock: The clock, in seconds.
    """

    def __init__(
        self,
        what: str,
        run: RunProgress,
        console: Console | None = None,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._run = what, run
        self._console = console or Console(stderr=True)
        self._due = paced(seconds)
        self._clock = clock
        self._first: tuple[float, float] | None = None
        self._live: Live | None = None
        if self._console.is_terminal:
            bar = [] if run.share is None else [BarColumn()]
            place, left = TextColumn("{task.fields[place]}"), TextColumn("{task.fields[left]}")
            columns = (TextColumn("{task.description}"), *bar, place, TimeElapsedColumn(), left)
            self._bar = Progress(*columns, console=self._console)
            self._task = self._bar.add_task(what, total=None, place="", left="")
            self._live = Live(get_renderable=self._drawn, console=self._console)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        broken = kind is not None and self._first is None
        if self._live is not None:
            self._live.transient = broken
            self._live.stop()
        elif not broken:
            self._say()

    def show(self) -> None:
        """Print a plain line where that is due; on a terminal the figures are drawn anew by themselves."""
        if self._first is None and self._run.share != 0:
            self._first = self._clock(), self._run.share or 0.0
        if self._live is None and self._due():
            self._say()

    def _say(self) -> None:
        parts = [self._run.place, self._run.figures, self._left()]
        text = f"{self._what}: {', '.join(part for part in parts if part)}"
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _left(self) -> str:
        """Say how long the run will go on; what was over when it was first shown does not enter."""
        share = self._run.share
        if share is None or self._first is None or share <= self._first[1]:
            return ""
        began, before = self._first
        seconds = (self._clock() - began) * (1 - share) / (share - before)
        return f"left {timedelta(seconds=round(seconds))}"

    def _drawn(self) -> Group:
        share = self._run.share
        total = None if share is None else 1.0
        self._bar.update(self._task, completed=share or 0.0, total=total, place=self._run.place, left=self._left())
        line = self._run.figures
        return Group(self._bar.get_renderable(), *([Text(line, style="dim")] if line else []))


@dataclass
class Meter:
    """What `TerminalProgress` shows of work that counts for itself.

    >>> meter = Meter(total=200, unit="sessions")
    >>> meter.reached(50)
    >>> meter.share, meter.place
    (0.25, '50 of 200 sessions')
    """

    total: int = 0
    """How much there is to do."""

    unit: str = ""
    """The word for what is counted."""

    share: float = 0.0
    """How much is done, from 0 to 1."""

    place: str = ""
    """Where the work is, in a few words."""

    figures: str = ""
    """What it came to so far, in a line."""

    def reached(self, done: int) -> None:
        """Take over a count."""
        self.share = done / self.total if self.total else 1.0
        self.place = f"{done:,} of {self.total:,} {self.unit}"
