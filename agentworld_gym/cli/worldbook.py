"""`agentworld worldbook`: what recorded sessions tell of a system, for a world model that is not trained."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agentworld_gym.cli.common import counted, counting, examples, stdout
from agentworld_gym.cli.outputs import writable
from agentworld_gym.cli.samples import RowsArgument, line_count, session_files

if TYPE_CHECKING:
    from agentworld_gym.llm.rows.row import Row
    from agentworld_gym.llm.worldbook.book import Worldbook


def worldbook(
    rows: RowsArgument,
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="The file of the worldbook, in YAML.")],
    split: Annotated[
        Literal["train", "validation", "test", "all"],
        typer.Option("--split", help="Which tasks' sessions to take; imported sessions are all taken."),
    ] = "train",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="URL|transformers:DIR",
            help="A model that writes rules; those are kept that predict sessions which it did not see.",
        ),
    ] = None,
) -> None:
    """Mine from recorded sessions what they tell of a system, in a file that you can read and edit.

    It holds the actions with their schemas, the kinds of answers with what triggers them, entities and examples. A
    world model is shown what fits its next action: --worldbook FILE.
    """
    from agentworld_gym.llm.rows.row_reading import read_rows
    from agentworld_gym.llm.worldbook import chosen_sessions, mine

    writable(out, "--out")
    files = session_files(rows)
    with counting("reading", sum(map(line_count, files)), "sessions") as show:
        recorded = chain.from_iterable(map(read_rows, files))
        sessions = chosen_sessions(recorded, None if split == "all" else split, show)
    book = mine(sessions) if model is None else _with_rules(sessions, model)
    book.write(out)
    kinds = [kind for page in book.actions.values() for kind in page.answers]
    line = f"{out}: {counted(len(book.actions), 'action')}, {counted(len(kinds), 'kind')} of answers, "
    line += f"{sum(kind.error for kind in kinds)} of them errors, of {counted(len(sessions), 'session')}"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def _with_rules(sessions: list[Row], model: str) -> Worldbook:
    """Return the book with the rules of a model, and say how many it wrote and how many were kept."""
    from contextlib import closing

    from agentworld_gym.llm.generators import open_generator
    from agentworld_gym.llm.worldbook.rules import with_rules

    with closing(open_generator(model)) as generator:
        found = with_rules(sessions, generator)
    failed = f"; {found.failed} of {counted(found.asked, 'request')} failed" if found.failed else ""
    line = f"rules: {found.proposed} proposed, {found.kept} kept, {found.unreadable} could not be read{failed}"
    stdout().print(line, markup=False, highlight=False, soft_wrap=True)
    return found.book


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld worldbook data --out book.yaml",
            "agentworld worldbook data --out book.yaml --model http://localhost:8000/v1",
            "agentworld rollout terminal --world http://localhost:8000/v1 --worldbook book.yaml",
        )
    )(worldbook)
