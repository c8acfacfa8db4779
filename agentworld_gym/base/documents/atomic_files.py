"""Writes files that are whole whenever they are there."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a crash leaves either an earlier one or the whole of this one.

    The folders above it are made. Two processes must not write the same file at a time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "runs" / "report.json", "{}")
    ...     [path.name for path in (Path(folder) / "runs").iterdir()]
    ['report.json']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
