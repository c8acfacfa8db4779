"""`agentworld lock`: pins a world in a small file, or holds one against such a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    EnvironmentName,
    JudgeOption,
    WorldOption,
    env_options,
    examples,
    printable,
    stdout,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.core.lock import Lock


@with_language_options
def lock(
    env: EnvironmentName,
    world: WorldOption = "auto",
    out: Annotated[
        Path, typer.Option("--out", dir_okay=False, help="Where the lock goes; a file that is there is replaced.")
    ] = Path("world.lock.yaml"),
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            dir_okay=False,
            help="Hold the world against this lock, and write none; the error names the parts that differ.",
        ),
    ] = None,
    judge: JudgeOption = "same",
    **language: Any,
) -> None:
    """Pin a world (model, spec, prompts, sampling, versions) in a small file, for `gym.make(..., lock=FILE)`.

    The option `lock` and --lock of some commands then refuse any other world. The output tells of each part whether
    this process computed it or a server only declares it. A lock that is there is replaced, and the output says so.
    With --check, exit 1 if the world is another one than the file pins.
    """
    from agentworld_gym.core.lock import Lock
    from agentworld_gym.envs.options import EnvOptions

    options = EnvOptions(**env_options(env, world=world, judge=judge, **language))
    if check is not None:
        options.changed(lock=str(check.absolute())).runner().close()
        _show(Lock.read(check), f"{check} holds")
        return
    writable(out, "--out")
    made = options.locked()
    done = "replaced" if out.exists() else "written"
    made.write(out)
    _show(made, f"{out}: {done}")


def _show(lock: Lock, said: str) -> None:
    """Print the parts of a lock, and which of them nobody verified."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in ("part", "value", "known by"):
        table.add_column(name)
    for name, part in lock.parts.items():
        table.add_row(name, printable(part.value), "this process" if part.verified else "declared by the server")
    stdout().print(table)
    lines = [f"{said}, {lock.env}, digest {lock.digest}"]
    if lock.declared:
        lines.append(f"Only declared, and so not proved: {', '.join(lock.declared)}.")
    for line in lines:
        stdout().print(line, markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "agentworld lock terminal --world http://localhost:8000/v1 --out world.lock.yaml",
            "agentworld lock terminal --world http://localhost:8000/v1 --check world.lock.yaml",
        )
    )(lock)
