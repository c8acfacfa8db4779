"""`agentworld demo`: the tour from prompts to a trained agent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentworld_gym.cli.common import examples
from agentworld_gym.cli.outputs import writable


def demo(
    report: Annotated[Path, typer.Option("--report", dir_okay=False, help="Where the HTML report goes.")] = Path(
        "report.html"
    ),
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Training steps of the agent; fewer for a quick look.")
    ] = None,
    episodes: Annotated[
        int, typer.Option("--episodes", min=1, help="Unseen tasks the agent is tested on, in each world.")
    ] = 120,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the training.")] = 0,
) -> None:
    """Show every domain, step two worlds side by side, train an agent, evaluate it, write a report.

    It steps the terminal through the bundled small world model and through the grounded one, and tests the agent on
    unseen tasks in both. It takes about 4 to 10 minutes on two idle cores. Ctrl-C ends the training early, and the rest
    goes on.
    """
    from agentworld_gym.cli.demo import run

    run(writable(report, "--report"), steps=steps, seed=seed, episodes=episodes)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples("agentworld demo", "agentworld demo --steps 20000 --report quick.html"))(demo)
