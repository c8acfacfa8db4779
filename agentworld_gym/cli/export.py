"""`agentworld export`: recorded sessions as data to train agents on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.cli.common import FAILED, counted, counting, examples, printable, stdout
from agentworld_gym.cli.outputs import writable_folder

if TYPE_CHECKING:
    from agentworld_gym.recipe.export.agent_session import ExportTally


def export(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUNS...", help="Sessions that `collect` or `import` wrote, traces of runs, or folders of them."
        ),
    ],
    form: Annotated[
        Literal["chat", "tools", "prompt-completion", "prompt-only", "preference", "minari", "parquet"],
        typer.Option(
            "--format",
            help="chat: messages; tools: messages with calls of tools; prompt-completion: a line a turn; "
            "prompt-only: a line a task, for GRPO; preference: pairs of a better and a worse action, proven on forks "
            "of the grounded world; minari: texts and menus as Minari datasets; parquet: chat for Hugging Face's "
            "datasets.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="A folder that is not there yet, or is empty; it appears once it is whole."),
    ],
    only: Annotated[
        Literal["success", "all"], typer.Option("--only", help="Sessions that solved their task, or all.")
    ] = "success",
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=1, help="Processes that make the lines; the files are the same whatever their number."
        ),
    ] = 1,
) -> None:
    """Write recorded sessions as data to train agents on: the agent is the assistant, and its messages are learned.

    There is a file for each split. Actions are in the dialect in which the session was recorded, and there is no
    thinking. Sessions are read a few at a time, so that files may be larger than memory. What is left out is counted
    and named. Exit 1 if nothing is left.
    """
    from agentworld_gym.recipe.export.exporting import export as write
    from agentworld_gym.recipe.export.reading import recordings, session_count

    files = recordings(runs)
    writable_folder(out, "--out")
    with counting("reading", sum(map(session_count, files)), "sessions") as show:
        tally = write(files, form, out, only, show, workers)
    _report(tally)
    unit = "episode" if form == "minari" else "pair" if form == "preference" else "line"
    line = f"{out}: {counted(tally.written, unit)} of {counted(tally.kept, 'session')}, {tally.read} read"
    if not tally.kept:
        line = f"Nothing to write of {counted(tally.read, 'session')}"
        line += "; --only all takes those without success" if only == "success" and tally.left["no success"] else ""
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)
    if not tally.kept:
        raise typer.Exit(FAILED)


def _report(tally: ExportTally) -> None:
    from rich.table import Table
    from rich.text import Text

    if tally.left:
        table = Table("sessions left out", "count")
        for reason, count in sorted(tally.left.items()):
            table.add_row(Text(printable(reason)), str(count))
        stdout().print(table)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld export data --format chat --out sft",
            "agentworld export data/train.jsonl runs/today --format tools --only all --out calls",
            "agentworld export data --format preference --out pairs --workers 2",
            "agentworld export data --format prompt-only --only all --out prompts",
            "agentworld export data --format minari --out minari",
        )
    )(export)
