"""Every notebook runs from its first cell to its last and shows plots: with small sizes here, as written when slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))

SMALLER = {
    "first_steps": {"range(16)": "range(2)"},
    "is_the_dream_true": {
        'record("terminal", 16,': 'record("terminal", 2,',
        'record("terminal", 48,': 'record("terminal", 4,',
        "range(48)": "range(4)",
        "DRAWS = 8": "DRAWS = 2",
    },
    "train_with_stable_baselines3": {"STEPS = 14_336": "STEPS = 1024", "range(100)": "range(8)"},
    "train_with_trl": {
        "range(1000, 1240)": "range(1000, 1016)",
        "range(45)": "range(3)",
        "count=40": "count=4",
        "max_steps=8": "max_steps=1",
    },
    "what_the_world_sees": {"range(36)": "range(6)", ">= 4": ">= 1"},
}
"""Of each notebook, the sizes that take the time, and smaller ones; the cells stay the same."""

QUICK = ("first_steps",)
"""The notebooks that run in seconds; the others run when slow tests are asked for."""


def run(notebook: Any, folder: Path) -> None:
    """Run a notebook in a folder; some output must be a picture."""
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_shows_plots(path: Path, tmp_path: Path) -> None:
    run(nbformat.read(path, as_version=4), tmp_path)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem) for path in NOTEBOOKS],
)
def test_notebook_runs_with_small_sizes(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for size, smaller in SMALLER[path.stem].items():
        assert any(size in cell.source for cell in code), f"no cell has {size}"
        for cell in code:
            cell.source = cell.source.replace(size, smaller)
    run(notebook, tmp_path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
