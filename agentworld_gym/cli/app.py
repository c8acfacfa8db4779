"""The command line `agentworld`: look at environments, play them, roll agents out, collect, train and serve.

Exit codes: 0 all went well, 1 the run failed, 2 the command, a spec or an option is wrong, 130 stopped by Ctrl-C. What
was recorded before a stop stays readable.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Annotated

import typer

from agentworld_gym.cli import (
    collect,
    cost,
    envs,
    eval,
    export,
    import_recordings,
    live,
    lock,
    models,
    play,
    prompts,
    retrieval,
    rollout,
    samples,
    serve,
    specs,
    tasks,
    think,
    trace,
    train,
    worldbook,
)
from agentworld_gym.cli.adopt import command as adopt
from agentworld_gym.cli.common import Commands
from agentworld_gym.cli.demo import command as demo
from agentworld_gym.core.registration import Domain, all_domains, resolved, shipped_domains

__all__ = ["app", "main"]

app = typer.Typer(
    name="agentworld",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Gymnasium environments played by language world models.",
    epilog="Every command has its own help: agentworld play --help",
)


def _version(wanted: bool) -> None:
    if wanted:
        from agentworld_gym import __version__

        typer.echo(f"agentworld {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take the options of the program itself."""


for module in (
    envs,
    specs,
    tasks,
    play,
    rollout,
    collect,
    train,
    eval,
    export,
    import_recordings,
    live,
    adopt,
    lock,
    cost,
    samples,
    think,
    retrieval,
    worldbook,
    serve,
    models,
    prompts,
    demo,
    trace,
):
    module.register(app)


def add_commands(app: typer.Typer, domains: Iterable[Domain]) -> None:
    """Add the commands that domains bring.

    Those of an installed package that cannot be loaded are left out with a warning, so that they cost nobody the other
    ones.
    """
    for domain in domains:
        for reference in domain.commands:
            try:
                resolved(reference)(app)
            except Exception as error:
                if domain.id in shipped_domains():
                    raise
                said = f"the commands of the domain {domain.id} are left out, as they cannot be loaded: {error}"
                warnings.warn(said, RuntimeWarning, stacklevel=2)


add_commands(app, all_domains().values())


def main() -> None:
    """Run the command line. Standard error shows what a local model does for minutes."""
    told = logging.getLogger("agentworld_gym.llm.generators.transformers")
    told.addHandler(logging.StreamHandler())
    told.setLevel(logging.INFO)
    app()
