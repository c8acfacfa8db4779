"""`agentworld eval`: how good a world model is."""

from __future__ import annotations

import typer

from agentworld_gym.cli.common import Commands
from agentworld_gym.cli.eval import bench, fidelity, report, transfer

evaluations = typer.Typer(cls=Commands, name="eval", no_args_is_help=True, help="Say how good a world model is.")
for module in (bench, fidelity, transfer, report):
    module.register(evaluations)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(evaluations)
