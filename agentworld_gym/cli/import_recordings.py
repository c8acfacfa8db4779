"""`agentworld import`: recordings of other systems as rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import FAILED, examples, printable, stdout
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.recipe.importers import ImportTally


def import_recordings(
    paths: Annotated[list[Path], typer.Argument(help="JSON lines, JSON, BrowserGym experiments, or folders of them.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", dir_okay=False, help="The file of rows, one JSON object a line; it appears once it is whole."
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="How the records are written: OpenAI Responses (responses), OpenAI chat messages with tool calls "
            "(chat), Harbor's trajectory.json (atif), spans of the conventions for generative AI (opentelemetry), "
            "steps of world-model-harness (harness), of BrowserGym and AgentLab (browsergym), rows of AgentWorldBench "
            "(agentworldbench), or a format of a domain; auto tells by the keys of each record.",
        ),
    ] = "auto",
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            help="The domain of the actions; by default it follows from the tools that were called.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        Literal["full", "compact"], typer.Option("--profile", help="How the messages of the rows are written.")
    ] = "full",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Read sessions that other systems recorded into the rows that training and evaluation read.

    What has no place in a row (reasoning, texts beside the calls, calls without a result, pictures …) is counted and
    named in a table. Exit 1 if no row came of it.
    """
    from agentworld_gym.base.documents.json_lines import JsonlWriter
    from agentworld_gym.cli.common import spec_source
    from agentworld_gym.recipe.importers import Importer, format_names

    if form not in format_names():
        raise SpecError("command line", "--format", form, f"one of {', '.join(format_names())}")
    for path in paths:
        if not path.exists():
            raise SpecError("command line", "PATHS", str(path), "a file or folder that is there")
    if out.exists() and not force:
        raise SpecError("command line", "--out", str(out), "a file that is not there yet, or --force")
    writable(out, "--out")
    importer = Importer(form, None if domain is None else spec_source(domain), profile)
    part = out.with_name(out.name + ".part")
    part.unlink(missing_ok=True)
    writer = JsonlWriter(part)
    try:
        for path in paths:
            for row in importer.rows(path):
                writer.write([row.model_dump(mode="json")])
        writer.close()
        if importer.tally.rows:
            part.replace(out)
    finally:
        writer.close()
        part.unlink(missing_ok=True)
    _report(importer.tally, out)
    if not importer.tally.rows:
        raise typer.Exit(FAILED)


def _report(tally: ImportTally, out: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    if tally.left:
        table = Table("no place in a row", "count", title="Left out")
        for what, count in sorted(tally.left.items()):
            table.add_row(Text(printable(what)), str(count))
        stdout().print(table)
    line = f"{out}: {tally.rows} rows, {tally.turns} turns, of {tally.records} records"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        name="import",
        epilog=examples(
            "agentworld import jobs/ --out rows.jsonl",
            "agentworld import sessions.jsonl --format chat --domain swe --out rows.jsonl",
            "agentworld import spans.jsonl --format opentelemetry --out rows.jsonl",
            "agentworld import ~/agentlab_results/my_study --format browsergym --out rows.jsonl",
        ),
    )(import_recordings)
