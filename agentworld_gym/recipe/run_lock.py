"""The lock on the folder of a run, so that two processes never write into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agentworld_gym.base.errors import TrainingError
from agentworld_gym.base.process.folder_lock import alone_in


@contextmanager
def sole_process(folder: Path, doing: str = "trains") -> Iterator[int]:
    """Be the only process that works in a folder.

    Args:
        folder: The folder, which is made where it is missing.
        doing: What such a process does, for the error.

    Yields:
        The file descriptor that holds the lock.

    Raises:
        TrainingError: Another process works in the folder.
    """
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(alone_in(folder))
        except BlockingIOError as error:
            raise TrainingError(f"{folder}: another process {doing} in this folder") from error
        yield lock
