"""`agentworld synth grow`: worlds that grow from a shipped scenario, as a seed varies names, rows and policies."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Literal

import typer

from agentworld_gym.cli.common import counted, counting, examples, stdout
from agentworld_gym.cli.outputs import writable_out


def grow(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Where they grow from: bank, hr, office, shop, tracker.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            file_okay=False,
            callback=writable_out,
            help="The folder in which each world gets a folder, such as shop_7; worlds that are there stay "
            "as they are.",
        ),
    ],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the first world; the others count up.")] = 0,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many worlds there shall be.")] = 1,
    split: Annotated[
        Literal["train", "validation", "test"] | None,
        typer.Option(
            "--split",
            help="Take only seeds of this split: train, validation (8, 18, …) or test (9, 19, …); without "
            "it, all seeds.",
        ),
    ] = None,
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="How many tasks each world has.")] = 12,
    families: Annotated[
        list[str] | None, typer.Option("--family", help="Only tasks of this family; may be given several times.")
    ] = None,
    levels: Annotated[
        list[int] | None, typer.Option("--level", min=1, max=3, help="Only this level; may be given several times.")
    ] = None,
) -> None:
    """Grow worlds of tool servers from a shipped scenario, without any model.

    Names, rows and policies follow from a seed. A run that was stopped goes on when it is given again.
    """
    from agentworld_gym.core.domain.task import split_of
    from agentworld_gym.domains.mcp.synth.grow.folder import GrowConfig, grow_worlds

    seeds = (one for one in itertools.count(seed) if split in (None, split_of(one)))
    config = GrowConfig(scenario, tuple(itertools.islice(seeds, count)), tasks, tuple(families or ()), _levels(levels))
    grown = 0
    with counting("growing", count, "worlds") as show:
        for done, (_, missing) in enumerate(grow_worlds(config, out), 1):
            grown += missing
            show(done)
    kept = count - grown
    there = f"; {counted(kept, 'world')} {'was' if kept == 1 else 'were'} there" if kept else ""
    stdout().print(f"Grew {counted(grown, 'world')} in {out}{there}", markup=False, highlight=False, soft_wrap=True)


def _levels(levels: list[int] | None) -> tuple[int, ...]:
    return tuple(dict.fromkeys(levels or (1, 2, 3)))


EPILOG = examples(
    "agentworld synth grow shop --seed 7 --out grown",
    "agentworld synth grow bank --count 200 --split train --out grown/train",
    "agentworld synth grow hr --count 20 --family settle_leave --level 1 --out grown",
)


def add_to(group: typer.Typer) -> None:
    """Add the command to the group `synth`."""
    group.command(epilog=EPILOG)(grow)
