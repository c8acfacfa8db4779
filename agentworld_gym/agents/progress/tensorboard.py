"""A tally in TensorBoard, by its event files alone: neither torch nor TensorFlow is needed."""

from __future__ import annotations

import time
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Self

from agentworld_gym.agents.progress.tally import Tally
from agentworld_gym.base.errors import SpecError, install
from agentworld_gym.base.process.pacing import paced

try:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer import event_file_writer
except ImportError as error:
    raise ImportError(f"progress in TensorBoard needs tensorboard: {install('tensorboard')}") from error

EVERY_S = 2.0
"""The seconds between two points of a curve."""


class TensorBoardProgress:
    """Writes the figures of a tally over its steps.

    Args:
        folder: The folder of the event files.
        tally: What is counted.
        seconds: The seconds between two points.

    Raises:
        SpecError: Nothing can be written into the folder.
    """

    def __init__(self, folder: str | PathLike[str], tally: Tally, seconds: float = EVERY_S) -> None:
        self._tally = tally
        self._due = paced(seconds)
        try:
            # wandb puts a class of its own into the module, while it follows.
            self._writer: Any = event_file_writer.EventFileWriter(fspath(folder))
        except OSError as error:
            expected = f"a folder that can be written ({error.strerror})"
            raise SpecError("options", "tensorboard", fspath(folder), expected) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()
        self._writer.close()

    def show(self) -> None:
        """Write a point, if it is time."""
        if self._due():
            self._write()

    def _write(self) -> None:
        values = [Summary.Value(tag=name, simple_value=value) for name, value in self._tally.scalars().items()]
        self._writer.add_event(Event(wall_time=time.time(), step=self._tally.steps, summary=Summary(value=values)))
