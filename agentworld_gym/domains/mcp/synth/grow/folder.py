"""Writes many grown worlds into one folder, so that a run that was stopped can go on."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agentworld_gym.domains.mcp.synth.grow.growth import read_growth
from agentworld_gym.domains.mcp.synth.grow.world import LEVELS, dumped, grown_files, grown_tasks, task_data

PARTIAL = ".partial"
"""The end of the name of a folder in which a world is being written."""


@dataclass(frozen=True)
class GrowConfig:
    """The settings of a run: which worlds grow, and which tasks they get."""

    scenario: str
    """The scenario from which the worlds grow."""
    seeds: tuple[int, ...]
    """The seeds of the worlds."""
    tasks: int = 12
    """The number of tasks of each world."""
    families: tuple[str, ...] = ()
    """The families of the tasks; all of the scenario if there are none."""
    levels: tuple[int, ...] = LEVELS
    """The levels of the tasks."""


def grow_worlds(config: GrowConfig, out: Path) -> Iterator[tuple[Path, bool]]:
    """Write worlds into a folder; those that are there already stay as they are.

    A world is called by its scenario and its seed, as `shop_7`, and so is its server. It is written beside its place
    and then moved there, so that what has a name is whole, whenever a run stops. Several runs may write into one folder
    at a time; the first of them to finish a world gives it its name.

    Args:
        config: What to grow.
        out: The folder; it is made if it is missing.

    Yields:
        The folder of each world, and whether it was grown in this run.

    Raises:
        SpecError: There is no such scenario or family.
    """
    read_growth(config.scenario)
    out.mkdir(parents=True, exist_ok=True)
    with _entered(out):
        for seed in config.seeds:
            folder = out / f"{config.scenario}_{seed}"
            yield folder, not folder.is_dir() and _grown(config, seed, folder)


@contextmanager
def _entered(out: Path) -> Iterator[None]:
    """Hold a lock that all runs in a folder share; whoever is alone there removes what stopped runs left half written.

    The lock is on the folder itself, so that no file stays behind.
    """
    place = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            for left in out.glob(f".*{PARTIAL}"):
                shutil.rmtree(left)
        fcntl.flock(place, fcntl.LOCK_SH)
        yield
    finally:
        os.close(place)


def _grown(config: GrowConfig, seed: int, folder: Path) -> bool:
    """Write a world, and return whether it took its place: another run may have finished the same world before."""
    with TemporaryDirectory(prefix=f".{folder.name}.", suffix=PARTIAL, dir=folder.parent) as partial:
        whole = Path(partial) / folder.name
        _write(config, seed, whole)
        try:
            os.replace(whole, folder)
        except OSError:
            if not folder.is_dir():
                raise
            return False
    return True


def _write(config: GrowConfig, seed: int, folder: Path) -> None:
    grown_files(config.scenario, seed).write(folder)
    tasks = folder / "tasks"
    tasks.mkdir()
    for task in grown_tasks(config.scenario, folder, seed, config.tasks, config.families, config.levels):
        (tasks / f"{task.id}.yaml").write_text(dumped(task_data(task)), encoding="utf-8")
