"""A tally on standard error: a bar and a line of figures that stay in place, or plain lines where it is no terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from agentworld_gym.process.pacing import SECONDS, paced
from agentworld_gym.progress.tally import Tally


class TerminalProgress:
    """Shows a tally while a run lasts, and a last line at its end.

    Args:
        what: The name of the run.
        tally: What is counted.
        console: Where it is shown; None takes standard error.
        seconds: The seconds between two plain lines.
    """

    def __init__(self, what: str, tally: Tally, console: Console | None = None, seconds: float = SECONDS) -> None:
        self._what, self._tally = what, tally
        self._console = console or Console(stderr=True)
        self._due = paced(seconds)
        self._live: Live | None = None
        if self._console.is_terminal:
            name = TextColumn("{task.description}")
            known = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"))
            open_ended = (name, TextColumn("{task.completed} episodes"), TimeElapsedColumn())
            columns = open_ended if tally.total is None else (*known, TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console)
            self._task = self._bar.add_task(what, total=tally.total)
            self._live = Live(get_renderable=self._drawn, console=self._console)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        else:
            self._say()

    def show(self) -> None:
        """Print a plain line where that is due; on a terminal the figures are drawn anew by themselves."""
        if self._live is None and self._due():
            self._say()

    def _say(self) -> None:
        of = "" if self._tally.total is None else f" of {self._tally.total}"
        text = f"{self._what}: {self._tally.episodes}{of} {self._tally.unit}, {figures(self._tally)}"
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _drawn(self) -> Group:
        # What was over before the run began does not enter the time left.
        move = self._bar.update if self._bar.tasks[0].completed else self._bar.reset
        move(self._task, completed=self._tally.episodes, total=self._tally.total)
        return Group(self._bar.get_renderable(), Text(figures(self._tally), style="dim"))


def figures(tally: Tally) -> str:
    """Say in a line what a run came to.

    >>> tally = Tally(window=50)
    >>> tally.ended(success=True, gain=0.9, steps=4, parts={"checks": 1.0, "step_cost": -0.1})
    >>> figures(tally).rpartition(", ")[0]
    'success 1.00 of 1, return +0.90 (checks +1.00, step_cost -0.10), last 50 episodes, 4 steps'
    """
    parts = []
    if tally.success is not None:
        parts.append(f"success {tally.success:.2f} of {tally.tested}")
    if tally.gain is not None:
        named = ", ".join(f"{name} {value:+.2f}" for name, value in tally.parts.items())
        parts.append(f"return {tally.gain:+.2f}{f' ({named})' if named else ''}")
    if tally.window is not None:
        parts.append(f"last {tally.window} episodes")
    if tally.steps != tally.episodes:
        parts.append(f"{tally.steps:,} steps")
    if tally.note:
        parts.append(tally.note)
    if tally.failures:
        parts.append("failures: " + ", ".join(f"{number} {kind}" for kind, number in tally.failures.most_common()))
    steps, tokens = tally.rates()
    # A run that counts for itself counts pieces of work, and no steps in them.
    unit = tally.unit if 0 < tally.steps == tally.episodes else "steps"
    parts.append(f"{tokens:,.0f} tokens/s" if tally.tokens else f"{steps:,.1f} {unit}/s")
    return ", ".join(parts)
