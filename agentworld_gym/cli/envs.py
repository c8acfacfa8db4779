"""`agentworld envs`: which environments there are, and who can play them."""

from __future__ import annotations

from typing import Annotated

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import complain, examples, stdout

WORLDS = {
    "auto": "$AGENTWORLD_WORLD where that is set, else grounded",
    "grounded": "real code in a sandbox, for the domains marked in the table",
    "chromium": "a real browser on generated sites, for web (extra: browser)",
    "tiny": "the bundled small world model of the domain, on this machine's CPU",
    "http://HOST:PORT/v1": "an OpenAI-compatible server such as vLLM's; several with commas between them",
    "vllm:MODEL": "vLLM in this process",
    "transformers:DIR": "a model in a local directory, run by transformers",
    "live:FILE": "your own system, as the file says; live:FILE+WORLD for a language world of its tasks",
    "awm:DIR": "the worlds of Agent World Model in this folder, for mcp",
    "scripted": "a function; by default it repeats the action",
    "record:PATH+WORLD": "any other world, with every transition recorded",
    "recorded:PATH": "what was recorded, without its world",
}
"""What `--world` accepts, with what it means."""


def envs(
    plain: Annotated[
        bool, typer.Option("--plain", help="Only the ids of the domains, one a line, for scripts.")
    ] = False,
) -> None:
    """List the environments, those of menus and of several agents too, and what `--world` accepts."""
    from rich.table import Column, Table

    from agentworld_gym.agents.teams.director import DIRECTOR, load_director
    from agentworld_gym.agents.teams.shipped import shipped_names
    from agentworld_gym.agents.teams.team import load_team
    from agentworld_gym.core.domain.spec import load_spec
    from agentworld_gym.core.engines.catalog import has_engine
    from agentworld_gym.core.registration import CUSTOM_ID, all_domains, menu_id_of
    from agentworld_gym.llm.bundled_models import bundled_models

    specs, models = [], bundled_models()
    for domain in all_domains():
        try:
            specs.append(load_spec(domain))
        except SpecError as error:
            complain(error)
    if plain:
        for spec in specs:
            typer.echo(spec.env_id)
        return
    # An id stays whole, as it is what a reader copies; without padding all columns fit into 80 characters.
    headings = (Column("id", no_wrap=True), "domain", "grounded", "tiny", "steps", "tasks")
    table = Table(*headings, title="Environments", padding=0)
    for spec in specs:
        tasks = f"{len(spec.tasks.families)} families" if spec.tasks.families else "hand-written"
        grounded = "yes" if has_engine(spec.id) else "no"
        tiny = next((name for name, model in models.items() if model.knows(spec)), "no")
        table.add_row(spec.env_id, spec.id, grounded, tiny, str(spec.limits.max_steps), tasks)
    table.add_row(CUSTOM_ID, "my.yaml", "no", "no", "", "your own")
    menus = Table("id", "domain", title="Menus and vectors (Stable-Baselines3)")
    for spec in specs:
        menus.add_row(menu_id_of(spec.env_id), spec.id)
    menus.add_row(menu_id_of(CUSTOM_ID), "my.yaml")
    together = Table("id", "domain", "agents", title="Many agents (PettingZoo)")
    for team in map(load_team, shipped_names("team")):
        together.add_row(team.env_id or team.id, team.domain, ", ".join(team.roles))
    for director in map(load_director, shipped_names("director")):
        together.add_row(director.env_id or director.id, director.domain, ", ".join([DIRECTOR, *director.solvers]))
    worlds = Table("world", "who plays", title="Worlds")
    for world, meaning in WORLDS.items():
        worlds.add_row(world, meaning)
    stdout().print(table, menus, together, worlds)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples("agentworld envs", "agentworld envs --plain"))(envs)
