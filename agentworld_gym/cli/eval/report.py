"""`agentworld eval report`: results on one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentworld_gym.cli.common import examples, stdout
from agentworld_gym.cli.eval.output import (
    existing_file,
)
from agentworld_gym.cli.outputs import writable


def report(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results of `agentworld eval`, as JSON.")],
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="Where the page goes.")] = Path("evaluation.html"),
) -> None:
    """Put results on one HTML page of tables and plots, which needs no other file."""
    from agentworld_gym.evaluation.report import read_result, write_page

    loaded = [read_result(existing_file(path, "a result of `agentworld eval`")) for path in results]
    write_page(writable(out, "--out"), loaded)
    stdout().print(str(out), markup=False, highlight=False, soft_wrap=True)


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(epilog=examples("agentworld eval report fidelity.json transfer.json --out page.html"))(report)
