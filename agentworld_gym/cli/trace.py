"""`agentworld trace`: read what a run recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from agentworld_gym.cli.common import FAILED, Commands, examples, printable, stdout
from agentworld_gym.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.traces import TraceEpisode, TraceStep

trace = typer.Typer(cls=Commands, no_args_is_help=True, help="Read the traces of a run.")

PathArgument = Annotated[Path, typer.Argument(help="A folder of traces, or one of a run's two files.")]


@trace.command(
    epilog=examples("agentworld trace show runs/today", "agentworld trace show runs/today --episode 4f2 --system")
)
def show(
    path: PathArgument,
    episode: Annotated[str, typer.Option("--episode", help="Only episodes whose id begins so.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many episodes.")] = 20,
    system: Annotated[bool, typer.Option("--system", help="The system prompt of the world model too.")] = False,
) -> None:
    """Print episodes: instruction, actions, observations, rewards."""
    found = (e for e in _episodes(path) if e.id.startswith(episode))
    shown = 0
    for shown, one in enumerate(found, 1):
        if shown > limit:
            stdout().print(f"… more episodes; --limit is {limit}", style="dim")
            break
        _print_episode(one, system)
    if not shown:
        stdout().print("no episodes", style="dim")
        raise typer.Exit(FAILED)


@trace.command(epilog=examples("agentworld trace grep 'No such file' runs/today"))
def grep(
    pattern: Annotated[str, typer.Argument(help="A regular expression.")],
    path: PathArgument,
    actions: Annotated[bool, typer.Option("--actions", help="Search actions only.")] = False,
) -> None:
    """Print the steps in which an action or an observation matches; exit 1 if none does."""
    try:
        wanted = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise SpecError("command line", "PATTERN", pattern, f"a regular expression ({error})") from error
    hits = 0
    for episode in _episodes(path):
        for step in episode.steps:
            if wanted.search(step.action) or (not actions and wanted.search(step.observation)):
                hits += 1
                _say(f"{episode.id} turn {step.turn}", "bold")
                _print_step(step)
    if not hits:
        raise typer.Exit(FAILED)


def _episodes(path: Path) -> Iterator[TraceEpisode]:
    from agentworld_gym.traces import read_trace

    return read_trace(path)


def _print_episode(episode: TraceEpisode, system: bool) -> None:
    stdout().rule(Text(f"episode {episode.id}"))
    _say(f"task {episode.start.get('task_id')}, seed {episode.start.get('seed')}", "dim")
    if system:
        _say(episode.system, "dim")
    _say(episode.start.get("observation", ""), "bold")
    for step in episode.steps:
        _print_step(step)
    total = sum(step.reward for step in episode.steps)
    _say(f"{len(episode.steps)} steps, return {total:+.2f}, {_ending(episode)}", "bold")


def _ending(episode: TraceEpisode) -> str:
    last = episode.steps[-1] if episode.steps else None
    if last is None or not (last.terminated or last.truncated):
        return "not over"
    if "failure" in last.info:
        return f"the world failed: {last.info['failure']['message']}"
    if "success" not in last.info:
        return "success was not tested"
    return "success" if last.info["success"] else "no success"


def _print_step(step: TraceStep) -> None:
    _say(f"» {step.action}", "cyan")
    _say(step.observation)
    if step.reward:
        _say(f"reward {step.reward:+.2f}", "dim")


def _say(text: str, style: str = "") -> None:
    stdout().print(Text(printable(text), style=style), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(trace, name="trace")
