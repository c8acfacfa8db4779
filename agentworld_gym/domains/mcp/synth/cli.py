"""`agentworld synth`: makes tool worlds with a language model, and checks those that are there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.base.errors import MissingFile, WorldNotConfigured
from agentworld_gym.cli.common import (
    Commands,
    counted,
    counting,
    examples,
    pairs,
    printable,
    stderr,
    stdout,
    tokens_text,
)
from agentworld_gym.cli.outputs import writable_out

if TYPE_CHECKING:
    from rich.table import Table

    from agentworld_gym.domains.mcp.synth.backends.backend import Backend
    from agentworld_gym.domains.mcp.synth.check.examination import Examined
    from agentworld_gym.domains.mcp.synth.report import GenerationPrices, SynthReport

synth_app = typer.Typer(cls=Commands, name="synth", no_args_is_help=True, help="Make tool worlds, and check them.")

PromptPrice = Annotated[float, typer.Option("--price-in", min=0, help="The price of a million tokens of prompts.")]
AnswerPrice = Annotated[float, typer.Option("--price-out", min=0, help="The price of a million tokens of answers.")]


@synth_app.command(
    epilog=examples(
        "agentworld synth make --out runs/worlds --generator http://localhost:8000/v1 --worlds 20",
        "agentworld synth make --out runs/worlds --generator http://localhost:8000/v1 --worlds 20 --resume",
        'agentworld synth make --out runs/clinics --generator vllm:Qwen/Qwen3-32B --backend awm --about "health care"',
    )
)
def make(
    out: Annotated[Path, typer.Option("--out", file_okay=False, callback=writable_out, help="The folder of the run.")],
    generator: Annotated[
        str, typer.Option("--generator", help="Who writes the worlds: a server's URL, vllm:MODEL, transformers:DIR.")
    ],
    worlds: Annotated[int, typer.Option("--worlds", "-n", min=1, help="How many worlds are begun.")] = 10,
    tasks: Annotated[int, typer.Option("--tasks", min=1, max=50, help="How many tasks each is asked for.")] = 10,
    backend: Annotated[
        Literal["declarative", "awm"],
        typer.Option("--backend", help="Tools as YAML and SQL, or as AWM's FastAPI code, which runs in a sandbox."),
    ] = "declarative",
    about: Annotated[str | None, typer.Option("--about", help="What the worlds shall be about, in words.")] = None,
    tables: Annotated[int, typer.Option("--tables", min=1, help="The fewest tables of a world.")] = 3,
    tools: Annotated[int, typer.Option("--tools", min=2, help="The fewest tools of a world.")] = 6,
    tries: Annotated[int, typer.Option("--tries", min=1, help="How often each answer is asked for.")] = 5,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="How many worlds are made side by side.")] = 16,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            "--sampling", metavar="KEY=VALUE", help="How the generator samples, such as max_tokens=8192; repeatable."
        ),
    ] = None,
    engine: Annotated[
        list[str] | None, typer.Option("--engine", metavar="KEY=VALUE", help="An option of the generator's engine.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder, with the same settings.")
    ] = False,
    price_in: PromptPrice = 0.0,
    price_out: AnswerPrice = 0.0,
) -> None:
    """Make worlds stage by stage; every answer is checked by running it, and errors go back to the generator.

    A run that was stopped, even by a kill, goes on where it was with --resume. Exit 1 if no world was made, or if some
    wait for the generator.
    """
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.core.domain.spec import SamplingSpec
    from agentworld_gym.domains.mcp.synth.config import SynthConfig
    from agentworld_gym.domains.mcp.synth.pipeline import WORLDS, Synthesis
    from agentworld_gym.domains.mcp.synth.report import GenerationPrices
    from agentworld_gym.llm.generators import open_generator

    chosen = {"max_tokens": 16_384, **(pairs(sampling, "--sampling") or {})}
    how = validated(SamplingSpec, chosen, "--sampling").sampling()
    config = SynthConfig(
        backend=backend,
        worlds=worlds,
        tasks=tasks,
        fewest_tables=tables,
        fewest_tools=tools,
        tries=tries,
        about=about,
    )
    with (
        closing(_backend(backend)) as form,
        closing(open_generator(generator, **(pairs(engine, "--engine") or {}))) as who,
    ):
        run = Synthesis(who, form, out, config, how, parallel=parallel)
        with counting("making", worlds, "worlds") as show:
            done = itertools.count(1)
            report = run.run(resume, lambda _: show(next(done)))
    _tell(report, GenerationPrices(prompt=price_in, completion=price_out))
    stdout().print(f"Worlds: {out / WORLDS}", markup=False, highlight=False, soft_wrap=True)
    if report.unfinished or not report.made:
        raise typer.Exit(1)


@synth_app.command(epilog=examples("agentworld synth report runs/worlds --price-in 0.5 --price-out 2"))
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="The folder of a run.")],
    price_in: PromptPrice = 0.0,
    price_out: AnswerPrice = 0.0,
) -> None:
    """Show the tries, the success, the tokens and the cost of each stage of a run that is over or was stopped.

    The size of its worlds stands beside those of AWM's paper.
    """
    from agentworld_gym.base.documents.strict import read_yaml, validated
    from agentworld_gym.domains.mcp.synth.pipeline import REPORT
    from agentworld_gym.domains.mcp.synth.report import GenerationPrices, SynthReport

    if not (folder / REPORT).is_file():
        raise MissingFile(folder / REPORT, "the report of a run of `agentworld synth make`")
    found = validated(SynthReport, read_yaml(folder / REPORT), folder / REPORT)
    _tell(found, GenerationPrices(prompt=price_in, completion=price_out))


@synth_app.command(
    epilog=examples(
        "agentworld synth check runs/worlds", "agentworld synth check my/clinic", "agentworld synth check awm/outputs"
    )
)
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", file_okay=False, help="A scenario, scenarios, AWM's files, or a run.")
    ],
) -> None:
    """Check worlds by running all of them: tables, keys, tools, solutions and verifiers; print what fails.

    Exit 1 if anything does.
    """
    from agentworld_gym.domains.mcp.synth.check.examination import alike_worlds
    from agentworld_gym.domains.mcp.synth.check.folders import examine

    worlds = list(examine(folder))
    stdout().print(_checked(worlds))
    broken = [f"{world.name}: {problem}" for world in worlds for problem in world.problems] + alike_worlds(worlds)
    for line in broken:
        stdout().print(printable(line), style="red", markup=False, highlight=False, soft_wrap=True)
    if broken:
        raise typer.Exit(1)


def _backend(name: Literal["declarative", "awm"]) -> Backend:
    from agentworld_gym.core.engines import EngineError

    if name == "declarative":
        from agentworld_gym.domains.mcp.synth.backends.declarative import DeclarativeBackend

        return DeclarativeBackend()
    from agentworld_gym.domains.mcp.synth.backends.awm import AwmBackend

    try:
        return AwmBackend()
    except EngineError as error:
        raise WorldNotConfigured(f"--backend awm cannot run here: {error}") from error


def _checked(worlds: Sequence[Examined]) -> Table:
    from rich.table import Table

    table = Table("world", "tables", "tools answer", "tasks hold", "problems")
    for world in worlds:
        unproved = f", {world.unproved} unproved" if world.unproved else ""
        tools, tasks = f"{world.answered} of {world.tools}", f"{world.held} of {world.tasks}{unproved}"
        table.add_row(printable(world.name), str(world.tables), tools, tasks, str(len(world.problems)))
    return table


def _tell(found: SynthReport, prices: GenerationPrices) -> None:
    console = stdout()
    console.print(_stages(found, prices))
    console.print(_sizes(found))
    for line in _lines(found, prices):
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    for reasons, style in ((found.given_up, "yellow"), (found.unfinished, "red")):
        for name, reason in reasons.items():
            stderr().print(printable(f"{name}: {reason}"), style=style, markup=False, highlight=False, soft_wrap=True)


def _stages(found: SynthReport, prices: GenerationPrices) -> Table:
    from rich.table import Table

    priced = bool(found.cost(prices))
    table = Table("stage", "made", "at first", "tries", "tokens in", "tokens out", *(["cost"] if priced else []))
    for stage in found.stages:
        spent = [f"{prices.cost(stage.prompt_tokens, stage.completion_tokens) or 0:.4f}"] if priced else []
        made, tries = f"{stage.made} of {stage.asked}", f"{stage.mean_tries:.2f}"
        tokens = (tokens_text(stage.prompt_tokens), tokens_text(stage.completion_tokens))
        table.add_row(stage.stage, made, str(stage.first), tries, *tokens, *spent)
    return table


def _sizes(found: SynthReport) -> Table:
    from rich.table import Table

    from agentworld_gym.domains.mcp.synth.report import PAPER

    table = Table("", "here", "in the paper of AWM")
    here = {"worlds": len(found.made), "tables": found.tables, "tools": found.tools, "tasks": found.tasks}
    for name, value in here.items():
        table.add_row(name if name == "worlds" else f"{name} a world", f"{value:g}", f"{PAPER[name]:g}")
    return table


def _lines(found: SynthReport, prices: GenerationPrices) -> Iterator[str]:
    waiting = f", {counted(len(found.unfinished), 'world')} waiting" if found.unfinished else ""
    yield f"{counted(found.begun, 'world')} begun, {len(found.made)} made, {len(found.given_up)} given up{waiting}"
    spent = found.cost(prices)
    if spent is None and (prices.prompt or prices.completion):
        yield "cost: unknown, because the server does not tell of its tokens"
    if spent:
        each = f", {spent / len(found.made):.4f} a world" if found.made else ""
        yield f"cost: {spent:.4f}{each}"


@synth_app.command(
    epilog=examples(
        "agentworld synth grow shop --seed 7 --out grown",
        "agentworld synth grow bank --count 200 --split train --out grown/train",
        "agentworld synth grow hr --count 20 --family settle_leave --level 1 --out grown",
    )
)
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


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(synth_app)
