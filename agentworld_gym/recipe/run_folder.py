"""The folder of a run: a lock, so that two processes never write into it, and the settings that it was made with."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.errors import SpecError, TrainingError


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


logger = logging.getLogger(__name__)

Completed = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""A function from settings to settings."""


def ensure_same_settings(
    path: Path, settings: Mapping[str, Any], free: Collection[str] = (), completed: Completed = dict
) -> None:
    """Write settings into a folder; where it holds earlier ones, they may differ only in the keys that are free.

    Differences in free keys are logged.

    Args:
        path: The YAML file that holds the settings.
        settings: The settings, as plain data.
        free: The dotted keys that may differ, such as `data.workers`, or `train` with all that is in it.
        completed: A function that adds to earlier settings the defaults of those that were not known then.

    Raises:
        SpecError: A setting differs that is not free; the error names the first one.
    """
    if path.is_file():
        before, after = _flat(completed(read_yaml(path))), _flat(settings)
        changed = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
        for key in changed:
            if not _is_free(key, free):
                raise SpecError(path, key, before.get(key), f"{after.get(key)!r}, or another folder")
        for key in changed:
            logger.info("%s: goes on with %s %r in place of %r", path.parent, key, after.get(key), before.get(key))
    write_atomically(path, yaml.safe_dump(dict(settings), sort_keys=False))


def _is_free(key: str, free: Collection[str]) -> bool:
    """Whether a key, or one that contains it, is among those that may differ.

    >>> _is_free("train.max_steps", ["train"]), _is_free("data.rows", ["data.workers"])
    (True, False)
    """
    parts = key.split(".")
    return any(".".join(parts[:count]) in free for count in range(1, len(parts) + 1))


def _flat(value: Any, key: str = "") -> dict[str, Any]:
    """Return nested plain data as a flat mapping by dotted key.

    >>> _flat({"model": {"path": None, "shape": {"vocab_size": 512}}})
    {'model.path': None, 'model.shape.vocab_size': 512}
    """
    if not isinstance(value, Mapping) or not value:
        return {key: value}
    return {name: item for inner in value for name, item in _flat(value[inner], f"{key}.{inner}".strip(".")).items()}
