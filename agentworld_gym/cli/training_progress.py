"""What `agentworld train` shows on standard error while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.text import Text

from agentworld_gym.agents.progress import Meter, TerminalProgress
from agentworld_gym.cli.common import printable

if TYPE_CHECKING:
    from agentworld_gym.recipe.training.metrics import Metrics


class TrainingProgress(logging.Handler):
    """The one live line of a training run: what is being done before the first metrics, and then the metrics.

    The logs of the recipe and of collecting, and the number of recorded sessions, say what is being done. The last line
    of the logs is live until something else is, and then stands above it. Where the console is no terminal, all are
    plain lines.

    Args:
        stage: The name of the stage.
        episodes: How many sessions are recorded first, if any are.
        console: Where it is shown.
    """

    def __init__(self, stage: str, episodes: int, console: Console) -> None:
        super().__init__(logging.INFO)
        self._stage, self._console = stage, console
        self._shown = ExitStack()
        self._doing = ""
        self._sessions, self._budget = Meter(episodes, "sessions"), Meter()
        self._recording: TerminalProgress | None = None
        self._training: TerminalProgress | None = None
        self._latest: dict[str, Any] = {}
        self._logs = [logging.getLogger(f"agentworld_gym.{room}") for room in ("recipe", "agents.collect")]

    def __enter__(self) -> Self:
        self._levels_before = [log.level for log in self._logs]
        for log in self._logs:
            log.addHandler(self)
            log.setLevel(logging.INFO)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for log, level in zip(self._logs, self._levels_before, strict=True):
            log.removeHandler(self)
            log.setLevel(level)
        self._shown.__exit__(kind, error, trace)
        self._end_line()

    def emit(self, record: logging.LogRecord) -> None:
        """Show what was logged."""
        text = printable(record.getMessage())
        if self._recording or self._training or not self._console.is_terminal:
            self._say(text)
            return
        self._end_line()
        self._doing = text
        self._shown.enter_context(self._console.status(Text(text)))

    def recorded(self, done: int) -> None:
        """Show how many sessions are recorded, from the first count to the last."""
        if self._recording is None:
            if done >= self._sessions.total:
                return
            self._end_line()
            self._sessions.reached(done)
            self._recording = TerminalProgress("recording", self._sessions, self._console)
            self._shown.enter_context(self._recording)
        self._sessions.reached(done)
        self._recording.show()
        if done >= self._sessions.total:
            self._end_line()
            self._recording = None

    def measured(self, metrics: Metrics) -> None:
        """Show a line of metrics."""
        if self._training is None:
            self._end_line()
            self._training = TerminalProgress(f"training, {self._stage}", self._budget, self._console)
            self._shown.enter_context(self._training)
        self._latest.update({key: value for key, value in metrics.items() if value is not None})
        self._budget.share, self._budget.figures = self._latest["progress"], figures(self._latest)
        self._budget.place = f"{self._budget.share:.1%} of the budget"
        self._training.show()

    def _end_line(self) -> None:
        """Let the line that is live stand as it is."""
        self._shown.close()
        if self._doing:
            self._say(self._doing)
        self._doing = ""

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def figures(metrics: Mapping[str, Any]) -> str:
    """Say in a line what a run came to.

    >>> figures({"step": 120, "loss": 3.2114, "progress": 0.25, "tokens_per_second": 1234.5, "gradient": 0.5})
    'step 120, loss 3.211, 1,234 tokens/s'
    """
    names = [key for key in ("loss", "reward", "validation_exact") if key in metrics]
    parts = [f"step {metrics['step']}", *(f"{key.replace('_', ' ')} {metrics[key]:.3f}" for key in names)]
    if "tokens_per_second" in metrics:
        parts.append(f"{metrics['tokens_per_second']:,.0f} tokens/s")
    return ", ".join(parts)
