"""Writes many grown worlds into one folder, so that a run that was stopped can go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agentworld_gym.synth.grow.world import LEVELS, dumped, grown_files, grown_tasks, task_data


@dataclass(frozen=True)
class Planting:
    """What to grow."""

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


def grow_worlds(planting: Planting, out: Path) -> Iterator[tuple[Path, bool]]:
    """Write worlds into a folder; those that are there already stay as they are.

    A world is called by its scenario and its seed, as `shop_7`, and so is its server. It is written beside its place
    and then moved there, so that what has a name is whole, whenever a run stops.

    Args:
        planting: What to grow.
        out: The folder; it is made if it is missing.

    Yields:
        The folder of each world, and whether it was grown in this run.

    Raises:
        SpecError: There is no such scenario or family.
    """
    for seed in planting.seeds:
        folder = out / f"{planting.scenario}_{seed}"
        missing = not folder.is_dir()
        if missing:
            partial = out / f".{folder.name}.partial"
            try:
                _write(planting, seed, partial / folder.name)
                os.replace(partial / folder.name, folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        yield folder, missing


def _write(planting: Planting, seed: int, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    grown_files(planting.scenario, seed).write(folder)
    tasks = folder / "tasks"
    tasks.mkdir()
    for task in grown_tasks(planting.scenario, folder, seed, planting.tasks, planting.families, planting.levels):
        (tasks / f"{task.id}.yaml").write_text(dumped(task_data(task)), encoding="utf-8")
