"""`agentworld samples`: samples for training, made of recorded sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import counted, counting, examples, pair, stdout
from agentworld_gym.cli.outputs import writable
from agentworld_gym.core.domain.spec import Form
from agentworld_gym.llm.rows.pools import POST_SHARE, SessionPool

if TYPE_CHECKING:
    from agentworld_gym.llm.rows.row import Row
    from agentworld_gym.llm.rows.tokenization import SampleTokenizer
    from agentworld_gym.recipe.data.preparation import PreparationReport

RowsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="ROWS...", help="Files of sessions that `collect` or `import` wrote, or folders."),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        dir_okay=False,
        help="The file of samples, ends with .jsonl; it appears once it is whole, and a file of "
        "sessions is never written over.",
    ),
]
StageOption = Annotated[
    Literal["cpt", "post", "all"] | None,
    typer.Option(
        "--stage",
        help="The pool of tasks: cpt for pre-training, post for fine-tuning and reinforcement "
        "learning, or all; no task is in both pools.",
    ),
]
PostShareOption = Annotated[
    float | None,
    typer.Option(
        "--post-share",
        min=0,
        max=1,
        help="Share of the tasks that pre-training leaves; the same in all commands. Imported sessions "
        "are all taken, unless this, --stage or --split is given.",
        show_default=str(POST_SHARE),
    ),
]
PoolSplitOption = Annotated[
    Literal["train", "validation", "test"] | None,
    typer.Option("--split", help="Only sessions whose task is of this split.", show_default="train"),
]
RenderProfileOption = Annotated[
    Literal["full", "compact"] | None,
    typer.Option(
        "--profile", help="Render the prompts anew, full or compact; otherwise they stay as they were recorded."
    ),
]
RenderFormOption = Annotated[
    Form | None,
    typer.Option(
        "--form",
        help="How screens are written: full, or as a change of the screen or of the state; otherwise as in each row.",
    ),
]


def samples(
    rows: RowsArgument,
    out: OutOption,
    stage: StageOption = None,
    split: PoolSplitOption = None,
    post_share: PostShareOption = None,
    each: Annotated[
        Literal["session", "turn"],
        typer.Option(
            "--each",
            help="A sample for each session, which learns all its turns, or for each turn, as a world is asked for it.",
        ),
    ] = "session",
    profile: RenderProfileOption = None,
    form: RenderFormOption = None,
    weights: Annotated[
        Literal["share", "draw", "equal"] | None,
        typer.Option(
            "--weights",
            help="How turns count: by the share of their class (of sessions the default), by a draw with "
            "that chance, or all equal (of turns the default).",
        ),
    ] = None,
    context_weight: Annotated[
        float, typer.Option("--context-weight", min=0, max=1, help="Weight of what is not an observation.")
    ] = 0.0,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="RULE=SCOPE",
            help="For which sessions a rule holds: all, imported or none, such as idle_turn=all; repeatable.",
        ),
    ] = None,
    min_turns: Annotated[int, typer.Option("--min-turns", min=1, help="Shorter sessions are left out.")] = 2,
    knowledge: Annotated[
        list[Path] | None, typer.Option("--knowledge", help="A file or a folder of plain texts to mix in; repeatable.")
    ] = None,
    knowledge_share: Annotated[
        float, typer.Option("--knowledge-share", min=0, max=0.99, help="Their share of all characters.")
    ] = 0.1,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            help="The folder of a model or a tokenizer: also show how many tokens there are, and how many count.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of --weights draw.")] = 0,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=1, help="Processes that render prompts anew; the file is the same whatever their number."
        ),
    ] = 1,
) -> None:
    """Make training samples of recorded sessions, and show what was kept, what was dropped, and why.

    Sessions of one task never part: pools and splits are drawn by task. Rows are read and samples written one by one,
    so that files may be larger than memory.
    """
    from agentworld_gym.llm.rows.row_reading import read_rows
    from agentworld_gym.llm.rows.samples import read_samples, write_samples
    from agentworld_gym.recipe.data.preparation import Preparation, prepare
    from agentworld_gym.recipe.data.token_statistics import TokenTable

    files = session_files(rows)
    spare_sessions(out)
    encoder = None if tokenizer is None else _encoder(tokenizer)
    settings = {
        "pool": stated_pool(SessionPool, stage, split, post_share),
        "filters": {"min_turns": min_turns, **dict(pair(text, "--filter") for text in filters or ())},
        "each": each,
        "profile": profile,
        "form": form,
        "weighting": None if weights is None else {"rule": weights, "seed": seed},
        "context_weight": context_weight,
        "knowledge": {"files": [str(path) for path in knowledge or ()], "share": knowledge_share},
    }
    preparation = validated(Preparation, settings, "command line")
    with counting("reading", sum(map(line_count, files)), "sessions") as show:

        def read() -> Iterator[Row]:
            for number, row in enumerate(chain.from_iterable(map(read_rows, files)), 1):
                yield row
                show(number)

        made, account = prepare(read(), preparation, workers)
        count = write_samples(out, made)
    _report(account)
    if encoder is not None:
        table = TokenTable()
        for item in encoder.encode(read_samples(out)):
            table(item)
        _print("Tokens", table.COLUMNS, table.rows())
    stdout().print(f"{out}: {counted(count, 'sample')}", markup=False, highlight=False, soft_wrap=True)


def stated_pool(kind: type[SessionPool], stage: str | None, split: str | None, post_share: float | None) -> SessionPool:
    """Return a pool of which a user stated some keys; imported sessions belong to it where none is stated.

    Raises:
        SpecError: A value does not fit.
    """
    given = {"stage": stage, "split": split, "post_share": post_share}
    return validated(kind, {key: value for key, value in given.items() if value is not None}, "command line")


def session_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of sessions that paths name; of a folder those that hold some, whatever else lies there.

    Raises:
        SpecError: A path names no such file.
    """
    files: list[Path] = []
    for path in paths:
        inside = [path] if path.is_file() else sorted(filter(_holds_sessions, path.glob("*.jsonl")))
        if not inside:
            raise SpecError("command line", "ROWS", str(path), "a file that `agentworld collect` wrote, or its folder")
        files += inside
    return list(dict.fromkeys(files))


def spare_sessions(out: Path) -> None:
    """Refuse to write samples over sessions, or where nothing can be written.

    Raises:
        SpecError: `out` holds sessions, is no file of samples by its name, or cannot be written.
    """
    if out.suffix != ".jsonl" or _holds_sessions(out):
        raise SpecError("command line", "--out", str(out), "a file that ends with .jsonl and holds no sessions")
    writable(out, "--out")


def _holds_sessions(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as data:
        try:
            first = json.loads(data.readline())
        except ValueError:
            return False
    return isinstance(first, dict) and "task" in first


def line_count(file: Path) -> int:
    """Return the number of line feeds in a file."""
    with file.open("rb") as data:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: data.read(1 << 20), b""))


def _report(account: PreparationReport) -> None:
    from agentworld_gym.llm.rows.turn_weights import CLASSES

    sessions = {
        domain: {"read": read, "in other pools": account.other_pools[domain], **account.sieve.rows.get(domain, {})}
        for domain, read in sorted(account.read.items())
    }
    _table("Sessions", sessions, ["read", "in other pools"], ["kept"])
    _table("Turns", dict(sorted(account.sieve.turns.items())), [], ["kept"])
    classes: dict[str, dict[str, str]] = {
        domain: {name: f"{counts[name] / counts.total():.1%}" for name in CLASSES if counts[name]}
        for domain, counts in sorted(account.classes.items())
    }
    _table("Turns by class", classes, list(CLASSES), [])


def _table(title: str, cells: Mapping[str, Mapping[str, Any]], first: Sequence[str], last: Sequence[str]) -> None:
    """Print a table of counts by domain; a column that is empty everywhere is left out."""
    names = {name for counts in cells.values() for name in counts}
    columns = [*first, *sorted(names - {*first, *last}), *last]
    columns = [name for name in columns if any(counts.get(name) for counts in cells.values())]
    body = [(domain, *(_cell(counts.get(name, 0)) for name in columns)) for domain, counts in cells.items()]
    if columns:
        _print(title, ("domain", *(name.replace("_", " ") for name in columns)), body)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}" if value else "–"


def _print(title: str, columns: Sequence[str], body: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for cells in body:
        table.add_row(*cells)
    stdout().print(table)


def _encoder(folder: Path) -> SampleTokenizer:
    from agentworld_gym.llm.generators.pretrained.loading import load_tokenizer
    from agentworld_gym.llm.rows.tokenization import SampleTokenizer

    expected = "the folder of a model or a tokenizer"
    if not folder.is_dir():
        raise SpecError("command line", "--tokenizer", str(folder), expected)
    try:
        loaded = load_tokenizer(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise SpecError(
            "command line", "--tokenizer", str(folder), f"{expected} ({str(error).strip()[:200]})"
        ) from error
    return SampleTokenizer(loaded)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld samples data/train.jsonl --out data/cpt.jsonl",
            "agentworld samples data --out data/small.jsonl --profile compact --form change --context-weight 0.1",
            "agentworld samples data --out data/turns.jsonl --stage post --each turn --tokenizer models/qwen",
        )
    )(samples)
