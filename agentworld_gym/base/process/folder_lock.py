"""A lock on a folder, for work that two processes must not do in it at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """Hold a lock on a folder, which is made where it is missing; no file is written.

    The lock ends with the last process that holds its file descriptor, however that process ends.

    Yields:
        The file descriptor, for programs that shall hold the lock too.

    Raises:
        BlockingIOError: Another process holds the lock.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, alone_in(Path(folder)):
    ...     with alone_in(Path(folder)):
    ...         pass
    Traceback (most recent call last):
        ...
    BlockingIOError: [Errno 11] Resource temporarily unavailable
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield place
    finally:
        os.close(place)
