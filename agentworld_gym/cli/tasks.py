"""`agentworld tasks`: check task files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import USAGE, Commands, complain, counted, examples, stdout

tasks = typer.Typer(cls=Commands, no_args_is_help=True, help="Check tasks of your own.")


@tasks.callback()
def _group() -> None:
    """Keep `check` a command of its own."""


@tasks.command(
    epilog=examples("agentworld tasks check early.yaml --env android", "agentworld tasks check tasks/*.yaml")
)
def check(
    files: Annotated[list[Path], typer.Argument(help="YAML files, each with one task.")],
    env: Annotated[
        str | None,
        typer.Option("--env", metavar="ENV", help="The domain of the files that do not name theirs, or a spec."),
    ] = None,
) -> None:
    """Validate task files; exit 2 if one is broken.

    Keys, actions, locators, controls and the state are read. In a domain with a grounded world the expert has to solve
    the task, and an agent that finishes at once must not. No judge is asked: whoever acts or answers passes a rubric.
    The first mistake of each file is printed with key, value and what was expected.
    """
    from agentworld_gym.agents.policies.task_check import check_task

    errors = 0
    for file in files:
        try:
            found = check_task(file, _domain(file, env))
        except SpecError as error:
            errors += 1
            complain(error)
            continue
        played = (
            "no expert was played" if found.steps is None else f"the expert solves it in {counted(found.steps, 'step')}"
        )
        stdout().print(f"{file}: ok, {played}", highlight=False, markup=False, soft_wrap=True)
    if errors:
        raise typer.Exit(USAGE)


def _domain(file: Path, env: str | None) -> str:
    """Return the domain of a task file: the one that it names, or else the given one.

    Raises:
        SpecError: There is neither, or the file cannot be read.
    """
    from agentworld_gym.base.documents.strict import read_yaml
    from agentworld_gym.cli.common import spec_source

    data = read_yaml(file, "a YAML file with a task")
    named = data.get("domain") if isinstance(data, Mapping) else None
    if env is not None:
        return spec_source(env)
    if not isinstance(named, str):
        raise SpecError(file, "domain", named, "the id of a domain, or --env ENV beside the file")
    return spec_source(named)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(tasks, name="tasks")
