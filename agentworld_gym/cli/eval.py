"""`agentworld eval`: how good a world model is."""

from __future__ import annotations

import typer

from agentworld_gym.cli import eval_bench, eval_worlds
from agentworld_gym.cli.common import Commands

evaluations = typer.Typer(cls=Commands, name="eval", no_args_is_help=True, help="Say how good a world model is.")
for module in (eval_bench, eval_worlds):
    module.register(evaluations)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(evaluations)
