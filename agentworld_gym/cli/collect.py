"""`agentworld collect`: recorded sessions of grounded worlds, with a data card."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError, install
from agentworld_gym.cli.common import (
    DialectOption,
    FamilyOption,
    LevelOption,
    TensorBoardOption,
    WandbOption,
    counted,
    examples,
    pairs,
    source_in_dialect,
    stderr,
    stdout,
)
from agentworld_gym.cli.on_ray import RayOption, on_ray
from agentworld_gym.cli.outputs import writable_folder


def collect(
    domains: Annotated[
        list[str], typer.Argument(metavar="ENV...", help="Domains (terminal mcp), ids or specs; they take turns.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="A folder, which gets a file of rows for each split and a data card; or one file that "
            "ends with .jsonl.",
        ),
    ],
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="How many sessions there shall be.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all sessions.")] = 0,
    split: Annotated[
        Literal["train", "validation", "test"], typer.Option("--split", help="Which tasks to play.")
    ] = "train",
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            help="Take the `collect` part of a configuration, which says who plays what: a shipped one's "
            "name, or a file.",
        ),
    ] = None,
    dialect: DialectOption = None,
    profile: Annotated[
        Literal["full", "compact"] | None,
        typer.Option(
            "--profile",
            help="Prompts; full, if no configuration says otherwise. `train`, and `eval bench` of a small "
            "model of your own, want compact.",
        ),
    ] = None,
    world: Annotated[
        str | None,
        typer.Option(
            "--world",
            help="grounded; live:FILE for your own system, or awm:DIR for a folder of AWM's worlds (mcp), whose tasks "
            "have no families, levels, splits and controls.",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="Who plays instead of all policies, as in `agentworld rollout --policy`: a language model such as "
            "http://localhost:8000/v1, or any other agent.",
        ),
    ] = None,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            "--sampling", metavar="KEY=VALUE", help="How --agent samples, such as temperature=0.7; repeatable."
        ),
    ] = None,
    families: FamilyOption = None,
    levels: LevelOption = None,
    controls_share: Annotated[
        float | None, typer.Option("--controls-share", min=0, max=1, help="Share of sessions with controls in force.")
    ] = None,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="DOMAIN=VARIANT",
            help="The variant of a domain's engine, such as swe=monty; repeatable.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="Processes that record.",
            show_default="1, or with --ray one for each node that has a CPU",
        ),
    ] = None,
    ray: RayOption = False,
    width: Annotated[
        int, typer.Option("--width", min=1, help="Sessions that --agent plays at a time, in each worker.")
    ] = 16,
    form: Annotated[
        Literal["jsonl", "parquet"], typer.Option("--format", help="Parquet comes beside the JSONL file.")
    ] = "jsonl",
    shard: Annotated[
        int | None,
        typer.Option(
            "--shard",
            min=1,
            help="Sessions in each Parquet file, such as train-00000.parquet; without it there is one file.",
        ),
    ] = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
    card: Annotated[
        bool, typer.Option("--card/--no-card", help="Describe the folder in a README.md with pictures.")
    ] = True,
) -> None:
    """Record sessions of grounded worlds, to train or to evaluate a world model on.

    Each session is one row. A session depends on the seed and its number alone, so that any number of workers writes
    the same file, and so do the nodes of a cluster, some of which may be lost. A run that was stopped, even by a kill,
    goes on where it was when it is started again.

    Each worker plays one session after the other, as a grounded world answers at once; with --agent it plays --width
    sessions at a time. Language worlds are no source of recordings: `rollout --out` keeps what they play.
    """
    from agentworld_gym.agents.collect.config import CollectConfig
    from agentworld_gym.agents.collect.data_card.card import write_card
    from agentworld_gym.agents.collect.recording_file import collect as record
    from agentworld_gym.agents.progress import live
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.core.domain.spec import load_spec
    from agentworld_gym.llm.rows.parquet import write_parquet, write_shards
    from agentworld_gym.llm.rows.row_reading import read_rows
    from agentworld_gym.recipe.config_files import load_collect

    if out.suffix == ".parquet":
        raise SpecError("command line", "--out", str(out), "a folder, or a .jsonl file; --format parquet adds Parquet")
    single = out.suffix == ".jsonl"
    file = out if single else out / f"{split}.jsonl"
    table = file.with_suffix(".parquet")
    tabled = form == "parquet" or shard is not None or table.exists()
    if tabled and find_spec("pyarrow") is None:
        raise AgentWorldError(f"{table}: Parquet needs pyarrow: {install('data')}")
    specs = [load_spec(source) for source in dict.fromkeys(source_in_dialect(name, dialect) for name in domains)]
    asked: dict[str, Any] = {"profile": profile, "families": families, "controls_share": controls_share}
    asked |= {"world": world, "agent": agent, "levels": dict.fromkeys(levels, 1.0) if levels else None}
    base = CollectConfig() if config is None else load_collect(config)
    if engines:
        asked["engines"] = {**base.engines, **(pairs(engines, "--engine") or {})}
    if sampling:
        if agent is None and base.agent is None:
            raise SpecError("command line", "--sampling", " ".join(sampling), "--agent, the model that samples")
        asked["agent_sampling"] = {**base.agent_sampling.model_dump(), **(pairs(sampling, "--sampling") or {})}
    overrides = {key: value for key, value in asked.items() if value is not None}
    settings = validated(CollectConfig, {**base.model_dump(), **overrides}, "command line")
    writable_folder(file.parent, "--out")
    named = f"{' '.join(spec.source for spec in specs)}, {split}"
    with live(named, episodes, tensorboard=tensorboard, wandb=wandb) as tally:

        def count(row: Mapping[str, Any]) -> None:
            tally.ended(row["success"], row["score"] or 0.0, len(row["actions"]))

        def begin(held: int) -> None:
            tally.before = min(held, episodes) - tally.episodes

        try:
            elsewhere = on_ray(workers, 1 if settings.agent is None else width) if ray else None
            added = record(specs, file, episodes, seed, settings, split, workers or 1, begin, count, width, elsewhere)
        except KeyboardInterrupt:
            said = f"{file} keeps what is recorded; the same command goes on with it."
            stderr().print(said, markup=False, highlight=False, soft_wrap=True)
            raise
    written = [f"{file}: {counted(added, 'session')} added, {episodes} asked for"]
    if shard is not None:
        shards = write_shards(file, shard)
        written.append(f"{table.with_stem(f'{table.stem}-*')}: {counted(len(shards), 'file')} of {shard} sessions each")
    elif tabled:
        written.append(f"{table}: {counted(write_parquet(read_rows(file), table), 'session')}")
    if card and not single:
        pictures = "" if find_spec("matplotlib") else f"; pictures need {install('data')}"
        written.append(f"{write_card(out)}: the data card{pictures}")
    for line in written:
        stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld collect terminal mcp search swe --out data -n 1000 --workers 2",
            "agentworld collect mcp --out data -n 200 --split test --controls-share 0.3 --format parquet",
            "agentworld collect mcp --world awm:worlds --out data -n 500",
            "agentworld collect mcp --agent http://localhost:8000/v1 --width 64 --out data -n 500",
            "agentworld collect swe --dialect claude-code --out data -n 200",
            "agentworld collect swe --engine swe=monty --out data -n 8000",
            "agentworld collect mcp --world live:my.yaml --ray --workers 64 --shard 10000 --out data -n 1000000",
            "agentworld collect terminal --config terminal-state --out runs/sessions.jsonl -n 60000",
        )
    )(collect)
