"""The lock on the folder of a run, so that two processes never write into it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentworld_gym.base.errors import TrainingError


@contextmanager
def sole_process(folder: Path, doing: str = "trains") -> Iterator[int]:
    """Be the only process that works in a folder; no file is written.

    The lock ends with the last process that holds its file descriptor, however that process ends.

    Args:
        folder: The folder, which is made where it is missing.
        doing: What such a process does, for the error.

    Yields:
        The file descriptor, for programs that shall hold the lock too.

    Raises:
        TrainingError: Another process works in the folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, sole_process(Path(folder)):
    ...     with sole_process(Path(folder)):
    ...         pass
    Traceback (most recent call last):
        ...
    agentworld_gym.base.errors.TrainingError: ...: another process trains in this folder
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TrainingError(f"{folder}: another process {doing} in this folder") from error
        yield place
    finally:
        os.close(place)
