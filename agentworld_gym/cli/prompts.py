"""`agentworld prompts`: the official texts of a world model, fetched into the cache."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from agentworld_gym.cli.common import Commands, examples, stderr, stdout

prompts = typer.Typer(cls=Commands, no_args_is_help=True, help="Fetch the official prompts of a world model.")


@prompts.callback()
def _group() -> None:
    """Keep the only command a command of the group."""


@prompts.command(epilog=examples("agentworld prompts get qwen-agentworld"))
def get(
    name: Annotated[Literal["qwen-agentworld"], typer.Argument(metavar="NAME", help="The model: qwen-agentworld.")],
    address: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="URL",
            help="The address of a mirror of the commit's files, where GitHub cannot be reached.",
        ),
    ] = None,
) -> None:
    """Put the official prompts into the cache and print their folder; what is there already is not fetched again.

    Then `language={"prompts": "official"}` and `--judge-prompts official` take them. $AGENTWORLD_CACHE names another
    folder for the cache.
    """
    from agentworld_gym.llm.prompting.official_fetching import ADDRESS, fetch_official

    console = stderr()
    folder = fetch_official(
        address or ADDRESS, lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
    )
    stdout().print(str(folder), markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(prompts, name="prompts")
