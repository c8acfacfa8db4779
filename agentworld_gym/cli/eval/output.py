"""What the commands of `agentworld eval` share: options, progress, tables, and writing a result with its page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.cli.common import stdout
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.agents.progress import Tally
    from agentworld_gym.base.statistics.bootstrap import Share
    from agentworld_gym.evaluation.bench.aggregate import TokenPrices
    from agentworld_gym.evaluation.fidelity.measure import Begin

WidthOption = Annotated[int, typer.Option("--width", min=1, help="Episodes that run at a time.")]
OutOption = Annotated[
    Path, typer.Option("--out", dir_okay=False, help="The JSON result; its page goes beside it, as .html.")
]


def token_prices(text: str, option: str) -> TokenPrices:
    """Return the prices of an option, in dollars for a million tokens of the prompt and of the completion.

    Raises:
        SpecError: The text is not two numbers from 0 on.

    >>> token_prices("0.3,1.2", "--price").completion
    1.2
    """
    from agentworld_gym.evaluation.bench.aggregate import TokenPrices

    try:
        prompt, completion = (float(part) for part in text.split(","))
        if not (0 <= prompt < inf and 0 <= completion < inf):
            raise ValueError("no price")
    except ValueError as error:
        raise SpecError("command line", option, text, "two numbers from 0 on, such as 0.3,1.2") from error
    return TokenPrices(prompt, completion)


def existing_file(path: Path, expected: str) -> Path:
    """Return the path of a file that is there.

    Args:
        path: The path.
        expected: What the file holds, for errors.

    Raises:
        MissingFile: There is no such file.
    """
    if not path.is_file():
        raise MissingFile(path, expected)
    return path


def check_writable(out: Path) -> None:
    """Check that a result and its page can be written, before there is any result."""
    if out.suffix == ".html":
        raise SpecError("command line", "--out", str(out), "a .json file, beside which its .html page will lie")
    for path in (out, out.with_suffix(".html")):
        writable(path, "--out")


@contextmanager
def stages(command: str, tensorboard: Path | None, wandb: str | None = None) -> Iterator[Begin]:
    """Return a function that begins a stage of a run and shows it live; the stage before ends.

    Args:
        command: The name of the command, which is shown before those of the stages.
        tensorboard: A folder in which each stage has one of its own for TensorBoard; None writes none.
        wandb: A project of Weights & Biases, in which all stages are one run; None shows none.
    """
    from agentworld_gym.agents.progress import live

    with ExitStack() as followed, ExitStack() as shown:
        if wandb is not None:
            from agentworld_gym.agents.progress.wandb import followed as following

            tensorboard = Path(followed.enter_context(following(wandb, command, tensorboard)))

        def begin(what: str, unit: str, total: int) -> Tally:
            shown.close()
            board = None if tensorboard is None else tensorboard / "-".join(re.findall(r"\w+", what))
            tally = shown.enter_context(live(f"{command}, {what}", total, tensorboard=board))
            tally.unit = unit
            return tally

        yield begin


def write_result(out: Path, result: Any) -> None:
    """Write a result and its page."""
    from agentworld_gym.evaluation.report import write_page

    result.write(out)
    write_page(out.with_suffix(".html"), [result])


def announce(out: Path, interrupted: bool) -> None:
    """Print where a result lies, and end the command as Ctrl-C does where it was interrupted."""
    stdout().print(f"{out}, {out.with_suffix('.html')}", markup=False, highlight=False, soft_wrap=True)
    if interrupted:
        raise KeyboardInterrupt


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose first column is text and whose others are figures."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    stdout().print(table)


def number(value: float | None) -> str:
    """Return a figure with two decimals; a dash for None."""
    return "-" if value is None else f"{value:.2f}"


def share_text(share: Share | None) -> str:
    """Return a share with its interval; a dash for None."""
    return "-" if share is None else f"{share.share:.2f} {share.low:.2f}–{share.high:.2f}"
