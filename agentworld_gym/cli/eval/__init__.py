"""`agentworld eval`: how good a world model is, or an agent."""

from __future__ import annotations

import typer

from agentworld_gym.cli.common import Commands
from agentworld_gym.cli.eval import agent, bench, fidelity, report, transfer

evaluations = typer.Typer(
    cls=Commands, name="eval", no_args_is_help=True, help="Say how good a world model is, or an agent."
)
for module in (agent, bench, fidelity, transfer, report):
    module.register(evaluations)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(evaluations)
