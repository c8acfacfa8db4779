"""Checkpoints of a training run: each is one file, which is written whole or not at all."""

from __future__ import annotations

import logging
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import TrainingError

logger = logging.getLogger(__name__)

SUFFIX = ".pt"
PARTIAL = ".partial"


class Checkpoints:
    """The checkpoints of a run, in a folder, named by their step; only the last `keep` stay.

    Args:
        folder: The folder of the checkpoints, which is made when the first one is written.
        keep: The number of checkpoints that stay.
    """

    def __init__(self, folder: Path, keep: int = 1) -> None:
        self.folder, self.keep = folder, keep

    def paths(self) -> list[Path]:
        """Return the whole checkpoints, oldest first."""
        return sorted(path for path in self.folder.glob(f"*{SUFFIX}") if path.stem.isdigit())

    def write(self, step: int, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint, so that a crash leaves either nothing or the whole of it, and delete the oldest ones.

        Raises:
            TrainingError: The disk is full or not writable. Earlier checkpoints stay as they are.
        """
        import torch

        path = self.folder / f"{step:010}{SUFFIX}"
        partial = path.with_suffix(PARTIAL)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                torch.save(dict(state), file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
            _sync(self.folder)
        except (OSError, RuntimeError) as error:  # torch raises a RuntimeError for a failed write
            partial.unlink(missing_ok=True)
            kept = self.paths()
            last = f"the last whole checkpoint is {kept[-1]}" if kept else "there is no earlier checkpoint"
            raise TrainingError(f"{path}: the checkpoint cannot be written ({_reason(error)}); {last}") from error
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        for left in self.folder.glob(f"*{PARTIAL}"):
            left.unlink(missing_ok=True)
        return path

    def read(self) -> dict[str, Any] | None:
        """Read the newest checkpoint that is undamaged; None if there is no checkpoint. Tensors are read when they are
        used.

        Raises:
            TrainingError: There are checkpoints, and none of them can be read.
        """
        import torch

        paths = self.paths()
        for path in reversed(paths):
            try:
                _check(path)
                state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
                return state
            except Exception as error:  # a damaged file fails in many ways
                logger.warning("%s cannot be read (%s)", path, _reason(error))
        if paths:
            raise TrainingError(f"{self.folder}: none of the {len(paths)} checkpoints can be read")
        return None


def _check(path: Path) -> None:
    """Compare the parts of a file with their checksums, which mapping it into memory does not do.

    Raises:
        zipfile.BadZipFile: The file is damaged.
    """
    with zipfile.ZipFile(path) as file:
        damaged = file.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"{damaged} is damaged")


def _reason(error: BaseException) -> str:
    """Say in one line what went wrong, in the system's own words where there are any."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return cause.strerror or str(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error).split("\n", 1)[0]


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
