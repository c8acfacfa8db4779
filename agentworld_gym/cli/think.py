"""`agentworld think`: samples with thinking, for supervised fine-tuning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import Commands, counted, counting, examples, pair, stdout
from agentworld_gym.cli.samples import (
    OutOption,
    PoolSplitOption,
    PostShareOption,
    RenderFormOption,
    RenderProfileOption,
    RowsArgument,
    StageOption,
    session_files,
    spare_sessions,
    stated_pool,
)
from agentworld_gym.llm.rows.pools import PostPool

if TYPE_CHECKING:
    from agentworld_gym.llm.rows.row import Row
    from agentworld_gym.recipe.thinking import Queries, RejectionReport

TurnsOption = Annotated[int, typer.Option("--turns", min=1, help="How many turns of each session.")]
RewordedOption = Annotated[
    bool,
    typer.Option(
        "--reworded/--as-written", help="Draw each system prompt from its ten wordings, or keep it as written."
    ),
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="At most so many sessions are read.")]

think = typer.Typer(cls=Commands, no_args_is_help=True, help="Samples with thinking, for supervised fine-tuning.")


@dataclass(frozen=True)
class _Sessions:
    """The rows of some files, up to a number; iterating again reads them again."""

    files: tuple[Path, ...]
    limit: int | None

    def __iter__(self) -> Iterator[Row]:
        from itertools import chain, islice

        from agentworld_gym.llm.rows.row_reading import read_rows

        return islice(chain.from_iterable(map(read_rows, self.files)), self.limit)


def _queries(
    rows: list[Path],
    out: Path,
    stage: Any,
    split: Any,
    post_share: float | None,
    profile: Any,
    form: Any,
    turns: int,
    reworded: bool,
    limit: int | None,
) -> Queries:
    from agentworld_gym.recipe.data.filters import Filters
    from agentworld_gym.recipe.thinking import Queries

    sessions = _Sessions(tuple(session_files(rows)), limit)
    spare_sessions(out)
    pool = stated_pool(PostPool, stage, split, post_share)
    return Queries(sessions, (pool,), profile, form, reworded, turns, Filters())


@think.command(
    epilog=examples(
        "agentworld think engine data/train.jsonl --out data/sft.jsonl",
        "agentworld think engine data --out data/sft.jsonl --form change --turns 2 --stage all",
    )
)
def engine(
    rows: RowsArgument,
    out: OutOption,
    stage: StageOption = None,
    split: PoolSplitOption = None,
    post_share: PostShareOption = None,
    profile: RenderProfileOption = None,
    form: RenderFormOption = None,
    turns: TurnsOption = 1,
    reworded: RewordedOption = True,
    limit: LimitOption = None,
) -> None:
    """Samples whose thinking is written by the engines, which know why the state changed."""
    from agentworld_gym.llm.rows.samples import write_samples
    from agentworld_gym.recipe.thinking import engine_samples

    queries = _queries(rows, out, stage, split, post_share, profile, form, turns, reworded, limit)
    count = write_samples(out, engine_samples(queries))
    stdout().print(f"{out}: {counted(count, 'sample')}", markup=False, highlight=False, soft_wrap=True)


@think.command(
    epilog=examples(
        "agentworld think reject data/train.jsonl --out data/picked.jsonl --generator http://localhost:8000/v1 "
        "--judge http://localhost:8001/v1",
        "agentworld think reject data --out picked.jsonl --generator vllm:Qwen/Qwen3-4B --judge "
        "http://localhost:8001/v1#judge --rollouts 5 --minimum 4.5 --sampling max_tokens=8192",
    )
)
def reject(
    rows: RowsArgument,
    out: OutOption,
    generator: Annotated[
        str, typer.Option("--generator", help="Who rolls out: vllm:MODEL, a server's URL, transformers:DIR.")
    ],
    judge: Annotated[str, typer.Option("--judge", help="Who scores the rollouts; best another model.")],
    rollouts: Annotated[int, typer.Option("--rollouts", min=1, help="Rollouts of each query.")] = 3,
    minimum: Annotated[
        float, typer.Option("--minimum", min=1, max=5, help="The least mean score of the best rollout, 1 to 5.")
    ] = 4.0,
    thinking: Annotated[
        bool, typer.Option("--thinking/--no-thinking", help="Take only rollouts that think before they answer, or any.")
    ] = True,
    wave: Annotated[int, typer.Option("--wave", min=1, help="Queries at a time.")] = 64,
    sampling: Annotated[
        list[str] | None,
        typer.Option(
            "--sampling", metavar="KEY=VALUE", help="How the generator samples, such as max_tokens=8192; repeatable."
        ),
    ] = None,
    stage: StageOption = None,
    split: PoolSplitOption = None,
    post_share: PostShareOption = None,
    profile: RenderProfileOption = None,
    form: RenderFormOption = None,
    turns: TurnsOption = 1,
    reworded: RewordedOption = True,
    limit: LimitOption = None,
) -> None:
    """Samples picked by a judge among several rollouts of a generator.

    A run that was stopped, even by a kill, goes on where it was when it is started again.
    """
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.core.domain.spec import SamplingSpec
    from agentworld_gym.llm.generators import open_generator
    from agentworld_gym.llm.judging.judge import BENCH_SAMPLING, Judge
    from agentworld_gym.llm.rows.samples import write_samples
    from agentworld_gym.recipe.thinking import RejectionConfig, RejectionSampling

    queries = _queries(rows, out, stage, split, post_share, profile, form, turns, reworded, limit)
    chosen = dict(pair(text, "--sampling") for text in sampling or ())
    how = validated(SamplingSpec, chosen, "--sampling").sampling()
    config = RejectionConfig(rollouts=rollouts, minimum=minimum, thinking=thinking, wave=wave)
    world, critic = open_generator(generator), open_generator(judge)
    try:
        scorer, log = Judge(critic, BENCH_SAMPLING, handle=judge), out.with_suffix(".log.jsonl")
        picking = RejectionSampling(queries, world, how, scorer, log, config)
        with counting("rollouts", queries.at_most(), "queries") as show:
            report = picking.run(show)
        count = write_samples(out, picking.samples())
    finally:
        critic.close()
        world.close()
    stdout().print(f"{out}: {counted(count, 'sample')}", markup=False, highlight=False, soft_wrap=True)
    for line in _report_lines(report):
        stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _report_lines(report: RejectionReport) -> Iterable[str]:
    share = report.outcomes["kept"] / report.queries if report.queries else 0.0
    yield f"{report.queries} queries, {share:.0%} kept: " + _counts(report.outcomes)
    if report.failures:
        yield "failures: " + _counts(report.failures)
    for name, tokens in (("generator", report.generator), ("judge", report.judge)):
        yield f"tokens of the {name}: " + _counts(tokens)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(think, name="think")
