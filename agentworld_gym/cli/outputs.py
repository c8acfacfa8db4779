"""Checks before the work of a command that it can write its output."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

from agentworld_gym.base.errors import SpecError


def writable(path: Path, option: str) -> Path:
    """Check that a command will be able to write a file at its end, and return the path.

    The folders above the file are made. A file that is there stays as it is.

    Args:
        path: The path of the file.
        option: The option by which the path was given.

    Raises:
        SpecError: Nothing can be written there.

    >>> writable(Path("/dev/null/report.html"), "--out")
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: command line: --out: got '/dev/null/report.html', expected ...
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path.parent):
            pass
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to replace it")
    except OSError as error:
        expected = f"a file that can be written ({error.strerror})"
        raise SpecError("command line", option, str(path), expected) from error
    return path


def writable_folder(path: Path, option: str) -> Path:
    """Check that a folder can be made, or written into if it is there, and return its path; nothing is made.

    Args:
        path: The path of the folder.
        option: The option by which the path was given.

    Raises:
        SpecError: Nothing can be written there.

    >>> writable_folder(Path("/dev/null/a"), "--out")
    Traceback (most recent call last):
    agentworld_gym.base.errors.SpecError: command line: --out: got '/dev/null/a', expected a folder that can be written
    """
    nearest = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise SpecError("command line", option, str(path), "a folder that can be written")
    return path


def writable_out(path: Path | None) -> Path | None:
    """Check the folder of an option `--out`, whose callback this is.

    Raises:
        SpecError: Nothing can be written there.
    """
    return None if path is None else writable_folder(path, "--out")
