"""`agentworld index`: recorded steps that a world model can be shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.cli.common import examples, progress, stdout
from agentworld_gym.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.recipe.rows import Row

ROWS = "*.jsonl"


def index(
    rows: Annotated[list[Path], typer.Argument(metavar="ROWS...", help="Files of recorded sessions, or folders.")],
    out: Annotated[Path, typer.Option("--out", file_okay=False, help="The folder of the index.")],
    split: Annotated[
        Literal["train", "validation", "test", "all"], typer.Option("--split", help="Which tasks' sessions to take.")
    ] = "train",
) -> None:
    """Write an index over recorded steps, in the place of an earlier one in that folder.

    A world model is then shown those most like its next step: --retrieval DIR.
    """
    from agentworld_gym.retrieval.build import build_index

    files = _files(rows)
    with progress("indexing", sum(_lines(file) for file in files)) as bar:
        found = build_index(
            _read(files),
            out,
            None if split == "all" else split,
            lambda done: bar.update(bar.task_ids[0], completed=done),
        )
    line = f"{out}: {found.steps} steps of {found.sessions} sessions, {', '.join(found.domains)}"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob(ROWS)) if path.is_dir() else [path]
        if not inside or not inside[0].is_file():
            raise SpecError("command line", "ROWS", str(path), "a file of rows, or a folder that holds some")
        found += inside
    return found


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _read(files: list[Path]) -> Iterator[Row]:
    from agentworld_gym.recipe.rows import read_rows

    for file in files:
        yield from read_rows(file)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld index data --out runs/index",
            "agentworld rollout terminal --world http://localhost:8000/v1 --retrieval runs/index",
        )
    )(index)
