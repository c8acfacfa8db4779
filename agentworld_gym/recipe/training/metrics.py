"""The metrics of a run, as lines of JSON and for TensorBoard."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.errors import TrainingError

Metrics = dict[str, Any]
Progress = Callable[[Metrics], None]
"""A function that is called with each line of metrics; its `progress` runs from 0 to 1, and `left` is the remaining
time in seconds."""

METRICS = "metrics.jsonl"
TENSORBOARD = "tensorboard"


class StepMetrics(NamedTuple):
    """What one step of gradient descent measured, over all processes."""

    loss: float
    """The mean loss of the targets by their weights; NaN where no target has a weight."""

    observed_loss: float
    """The mean loss of the tokens of answers."""

    observed_accuracy: float
    """The share of the tokens of answers that the model finds likeliest."""

    gradient: float
    """The norm of the gradient before clipping; NaN where there is none."""

    tokens: float
    """The number of tokens, without padding."""

    cells: float
    """The number of tokens, with padding."""

    flops: float
    """The floating-point operations that the step cannot do without."""


class MetricsLog:
    """The file of a run's metrics, to which lines are added after a step; lines of an earlier run beyond that step are
    cut.

    Args:
        folder: The folder of the run.
        step: The last step whose lines stay.
        tensorboard: Whether to write for TensorBoard too, if it is installed.
    """

    def __init__(self, folder: Path, step: int, tensorboard: bool = True) -> None:
        path = folder / METRICS
        _cut(path, step)
        self._file = path.open("a", encoding="utf-8")
        self._writer: Any = _writer(folder / TENSORBOARD, step) if tensorboard else None

    def write(self, line: Metrics) -> None:
        """Add a line; its numbers appear in TensorBoard under the line's `step`.

        Raises:
            TrainingError: The file cannot be written.
        """
        rounded = {key: _plain(value) for key, value in line.items()}
        try:
            self._file.write(json.dumps(rounded) + "\n")
            self._file.flush()
        except OSError as error:
            raise TrainingError(f"{self._file.name}: metrics cannot be written ({error.strerror})") from error
        if self._writer is not None:
            for key, value in line.items():
                if key != "step" and isinstance(value, int | float):
                    self._writer.add_scalar(key, value, line["step"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing tries again to write what could not be written; the error that is being raised says so already.
        with nullcontext() if error is None else suppress(OSError):
            self._file.close()
        if self._writer is not None:
            self._writer.close()


def read_metrics(folder: Path) -> list[Metrics]:
    """Read the metrics of a run; a torn last line is left out."""
    path = folder / METRICS
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it: rounded, and null where it is not finite."""
    if not isinstance(value, float):
        return value
    return round(value, 6) if math.isfinite(value) else None


def _cut(path: Path, step: int) -> None:
    if not path.is_file():
        return
    kept = [json.dumps(line) + "\n" for line in read_metrics(path.parent) if line["step"] <= step]
    write_atomically(path, "".join(kept))


def _writer(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    make: Any = SummaryWriter  # untyped
    return make(str(folder), purge_step=step + 1)
