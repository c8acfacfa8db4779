"""Folders for what lies on a disk while a process runs. One whose process was killed is removed by a later start."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

PREFIX = "agentworld-live-"
"""How the names of these folders begin."""

LOCK = ".owner"
"""The file that the owner of a folder holds locked; the kernel frees it when the owner ends, however it ends."""


class OwnedFolder:
    """A folder among the temporary files, which is removed by `close`.

    Making one removes those of this user whose owners are gone.

    >>> with OwnedFolder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """

    def __init__(self) -> None:
        remove_left()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (self.path / LOCK).exists():  # Another start may have taken it for one that was left.
                break
            os.close(lock)
        self.close = weakref.finalize(self, _removed, self.path, lock, os.getpid())
        """Removes the folder, at the end of the process at the latest; a second call does nothing."""

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def _removed(folder: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # A fork of the owner has only the lock of it.
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def remove_left() -> None:
    """Remove the folders of this user that nobody holds."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as places:
        for place in places:
            if place.name.startswith(PREFIX):
                with suppress(OSError):
                    info = place.stat(follow_symlinks=False)
                    if stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid():
                        _remove_unless_held(Path(place.path))


def _remove_unless_held(folder: Path) -> None:
    """Remove a folder unless its lock is held.

    Raises:
        OSError: It has no lock, or that is held.
    """
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
