"""`agentworld collect` and `agentworld train`: a small world model from recorded sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from agentworld_gym.cli.common import EnvironmentName, examples, progress, spec_source, stdout
from agentworld_gym.errors import GeneratorError

ConfigOption = Annotated[str, typer.Option("--config", help="A configuration: the name of a shipped one, or a file.")]


def collect(
    env: EnvironmentName,
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="The file of sessions, one JSON object a line.")],
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="How many sessions the file shall hold.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all sessions.")] = 0,
    split: Annotated[
        Literal["train", "validation", "test"], typer.Option("--split", help="Which tasks to play.")
    ] = "train",
    config: ConfigOption = "tiny-terminal",
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that record.")] = 1,
) -> None:
    """Record sessions of a grounded world to train a world model on.

    A run that was stopped goes on where it was when it is started again.
    """
    from agentworld_gym.recipe.collect import collect as record
    from agentworld_gym.recipe.config import load_config
    from agentworld_gym.spec import load_spec

    spec, settings = load_spec(spec_source(env)), load_config(config)
    with progress(f"{spec.id}, {split}", episodes) as bar:
        task = bar.task_ids[0]
        added = record(
            spec,
            out,
            episodes,
            seed,
            config=settings.collect,
            split=split,
            workers=workers,
            progress=lambda count: bar.advance(task, count),
        )
        bar.update(task, completed=episodes)
    stdout().print(f"{out}: {added} sessions added, {episodes} asked for", markup=False, highlight=False)


def train(
    config: Annotated[str, typer.Argument(help="A configuration: the name of a shipped one, or a YAML file.")],
    out: Annotated[Path, typer.Option("--out", file_okay=False, help="The folder the model goes to.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", dir_okay=False, help="What `collect` recorded; else it is recorded here."),
    ] = None,
) -> None:
    """Train a small world model as a configuration says.

    Ctrl-C keeps the last checkpoint; the same command goes on from it.
    """
    try:
        from agentworld_gym.recipe.train import run
    except ImportError as error:
        raise GeneratorError(f"training needs pip install 'agentworld-gym[train]' ({error})") from error

    run(config, out, data=data)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "agentworld collect terminal --out runs/sessions.jsonl -n 60000 --workers 2",
            "agentworld collect terminal --out runs/test.jsonl -n 300 --split test",
        )
    )(collect)
    app.command(
        epilog=examples(
            "agentworld train tiny-terminal --out runs/tiny",
            "agentworld train my.yaml --out runs/mine --data runs/sessions.jsonl",
        )
    )(train)
