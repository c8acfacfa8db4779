"""`agentworld own-history`: samples in which a language world reads its own answers, and learns the true ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    EnvironmentName,
    WorldOption,
    counted,
    counting,
    env_options,
    examples,
    stdout,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.samples import (
    OutOption,
    PoolSplitOption,
    PostShareOption,
    RowsArgument,
    StageOption,
    line_count,
    session_files,
    spare_sessions,
    stated_pool,
)
from agentworld_gym.errors import AgentWorldError, SpecError
from agentworld_gym.sessions.pools import PostPool

if TYPE_CHECKING:
    from agentworld_gym.sessions.row import Row
    from agentworld_gym.sessions.samples import Sample


@with_language_options
def own_history(
    env: EnvironmentName,
    rows: RowsArgument,
    out: OutOption,
    world: WorldOption = "tiny",
    corrections: Annotated[
        int, typer.Option("--corrections", min=0, help="Samples of turns that the world got wrong, a session.")
    ] = 2,
    stage: StageOption = None,
    split: PoolSplitOption = None,
    post_share: PostShareOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many sessions are played.")] = None,
    width: Annotated[int, typer.Option("--width", min=1, help="Sessions that are played at a time.")] = 64,
    **language: Any,
) -> None:
    """Let a language world play recorded sessions again, and make samples of what it read and should have written.

    Its own errors stand in the history, where they carry no loss. What is learned are the true observations. Exit 1 if
    no session was found, or the world answered nothing.
    """
    from agentworld_gym.options import EnvOptions
    from agentworld_gym.recipe.data.own_history import OwnHistory
    from agentworld_gym.sessions.rerendering import spec_source
    from agentworld_gym.sessions.row_reading import read_rows
    from agentworld_gym.sessions.samples import write_samples

    options = EnvOptions(**env_options(env, world=world, judge="none", **language))
    files = session_files(rows)
    spare_sessions(out)
    pool = stated_pool(PostPool, stage, split, post_share)
    with closing(options.runner()) as runner:
        try:
            own = OwnHistory(runner, corrections=corrections, wave=width)
        except SpecError as error:
            expected = f"{error.expected}, such as tiny or http://localhost:8000/v1"
            raise SpecError("command line", "--world", world, expected) from error

        def read() -> Iterator[Row]:
            for number, row in enumerate(chain.from_iterable(map(read_rows, files)), 1):
                show(number)
                if spec_source(row) == runner.spec.source and pool.holds(row):
                    yield row

        def made() -> Iterator[Sample]:
            yield from own.samples(islice(read(), limit))
            if not own.counts:
                raise AgentWorldError(
                    f"no session of {runner.spec.source} in stage {pool.stage}, split {pool.split} was found"
                )
            if not own.answered:
                raise AgentWorldError(f"the world answered nothing: {_told(own.counts)}")

        with counting("reading and playing", sum(map(line_count, files)), "sessions") as show:
            count = write_samples(out, made())
    line = f"{out}: {counted(count, 'sample')} of {_told(own.counts)}"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _told(counts: Counter[str]) -> str:
    """Return in words what became of sessions and their turns.

    >>> _told(Counter(sessions=2, right=9, wrong=1, malformed=1, unplayed=4))
    '2 sessions; turns: 9 right, 1 wrong, 1 malformed, 4 unplayed'
    """
    turns = [f"{number} {kind}" for kind, number in counts.items() if kind != "sessions"]
    return f"{counted(counts['sessions'], 'session')}; turns: {', '.join(turns) or 'none'}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        name="own-history",
        epilog=examples(
            "agentworld own-history terminal data/train.jsonl --out data/own.jsonl --world tiny",
            "agentworld own-history mcp data --out data/own.jsonl --world http://localhost:8000/v1 --limit 2000",
        ),
    )(own_history)
