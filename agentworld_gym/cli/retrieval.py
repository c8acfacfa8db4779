"""`agentworld index`: recorded steps that a world model can be shown."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from agentworld_gym.cli.common import counted, counting, examples, stdout
from agentworld_gym.cli.outputs import writable_out
from agentworld_gym.cli.samples import RowsArgument, line_count, session_files


def index(
    rows: RowsArgument,
    out: Annotated[
        Path, typer.Option("--out", file_okay=False, callback=writable_out, help="The folder of the index.")
    ],
    split: Annotated[
        Literal["train", "validation", "test", "all"], typer.Option("--split", help="Which tasks' sessions to take.")
    ] = "train",
) -> None:
    """Write an index over recorded steps; it replaces an earlier one in that folder.

    A world model is then shown those most like its next step: --retrieval DIR. They never come from the task that it
    plays.
    """
    from agentworld_gym.llm.retrieval.build import build_index
    from agentworld_gym.llm.rows.row_reading import read_rows

    files = session_files(rows)
    with counting("indexing", sum(map(line_count, files)), "sessions") as show:
        sessions = chain.from_iterable(map(read_rows, files))
        found = build_index(sessions, out, None if split == "all" else split, show)
    line = f"{out}: {counted(found.steps, 'step')} of {counted(found.sessions, 'session')}, {', '.join(found.domains)}"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld index data --out runs/index",
            "agentworld rollout terminal --world http://localhost:8000/v1 --retrieval runs/index",
        )
    )(index)
