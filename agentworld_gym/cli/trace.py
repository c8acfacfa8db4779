"""`agentworld trace`: read what a run recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import FAILED, Commands, WorldOption, counted, env_options, examples, printable, stdout
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.core.traces import EpisodeDiff, TraceEpisode, TraceStep

REPLAY_STEPS = 1_000_000
"""A step limit beyond that of any recording, so that a replay ends where the recording does."""

trace = typer.Typer(cls=Commands, no_args_is_help=True, help="Read the traces of a run, also of one that was killed.")

DepartureOption = Annotated[
    int, typer.Option("--limit", min=0, help="Show at most so many departures; counts are over all.")
]
PathArgument = Annotated[Path, typer.Argument(help="A folder of traces, or one of a run's two files.")]


@trace.command(
    epilog=examples("agentworld trace show runs/today", "agentworld trace show runs/today --episode 4f2 --system")
)
def show(
    path: PathArgument,
    episode: Annotated[
        str, typer.Option("--episode", help="Only the episode of this id, else those whose id begins so.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many episodes.")] = 20,
    system: Annotated[bool, typer.Option("--system", help="The system prompt of the world model too.")] = False,
) -> None:
    """Print episodes: instruction, actions, observations, rewards."""
    shown = 0
    for shown, one in enumerate(_named(episode, _episodes(path)), 1):
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


@trace.command(epilog=examples("agentworld trace diff runs/grounded runs/dream", "agentworld trace diff a b --limit 3"))
def diff(
    left: PathArgument,
    right: Annotated[Path, typer.Argument(help="The other folder of traces, or one of its files.")],
    limit: DepartureOption = 10,
) -> None:
    """Compare what two worlds said to the same actions, episode by episode (same task and seed).

    Episodes of the same task, seed and controls are paired in the order in which they were played. For each pair that
    differs the first turn at which they part is shown, with a diff; where the actions differ, the comparison ends.
    Exit 1 if anything differs.
    """
    from agentworld_gym.core.traces import diff_traces

    _report(diff_traces(left, right), limit)


@trace.command(
    epilog=examples(
        "agentworld trace replay runs/today --world grounded",
        "agentworld trace replay runs/grounded --world tiny --limit 3",
    )
)
@with_language_options
def replay(
    path: PathArgument,
    world: WorldOption = "auto",
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            help="The environment, for a trace of a custom spec: its path; otherwise that of the trace.",
            show_default=False,
        ),
    ] = None,
    limit: DepartureOption = 10,
    **language: Any,
) -> None:
    """Play the recorded actions again in another world, and say where it departs from the recording.

    Task, seed and controls come from the log; a fork is played from the start of its parent. Exit 1 if it does.
    """
    from agentworld_gym.core.traces import agent_logs, read_header
    from agentworld_gym.envs.episodes.replay import replay as play_again
    from agentworld_gym.envs.options import EnvOptions

    name = env or read_header(agent_logs(path)[0])["env"]
    options = env_options(
        name,
        world=world,
        judge="none",
        max_steps=REPLAY_STEPS,
        **language,
    )
    runner = EnvOptions(**options).runner()
    try:
        _report(play_again(path, runner), limit)
    finally:
        runner.close()


@trace.command(
    epilog=examples(
        "agentworld trace view runs/today --out run.html",
        "agentworld trace view runs/dream --twin runs/grounded --out twins.html",
    )
)
def view(
    path: PathArgument,
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="Where the page goes.")] = Path("run.html"),
    twin: Annotated[
        Path | None,
        typer.Option(
            "--twin",
            help="The trace of another world on the same tasks; its observations and where the two part "
            "are shown beside.",
        ),
    ] = None,
    screens: Annotated[
        int,
        typer.Option(
            "--screens",
            min=0,
            help="How many different screens of Web, Desktop and Android are drawn, 5 to 10 kB each; 0 "
            "draws none. Drawings need the extra `render`.",
        ),
    ] = 100,
) -> None:
    """Write one HTML file that shows a run: episodes, steps, prompts, differences, screens."""
    from agentworld_gym.evaluation.viewer import write_view

    shown = write_view(path, writable(out, "--out"), twin, screens)
    kilobytes = max(1, round(out.stat().st_size / 1000))
    size = f"{kilobytes} kB" if kilobytes < 1000 else f"{kilobytes / 1000:.1f} MB"
    drawn = f", {counted(shown.screens, 'screen')} drawn" if shown.screens else ""
    left = f", {shown.skipped} more not drawn" if shown.skipped else ""
    _say(f"{out}: {counted(shown.episodes, 'episode')}, {counted(shown.steps, 'step')}{drawn}{left}, {size}")


def _report(found: Iterator[EpisodeDiff], limit: int) -> None:
    episodes = same = turns = exact = shown = 0
    for episode in found:
        episodes, same = episodes + 1, same + episode.same
        turns, exact = turns + episode.turns, exact + episode.agreed
        if episode.same or shown >= limit:
            continue
        shown += 1
        _say(f"{episode.task_id}, seed {episode.seed}: {_where(episode)}", "bold")
        for departure in episode.departures[:1]:
            side = departure.left or departure.right
            _say(f"» {side.action if side and side.action else '(start)'}", "cyan")
            for line in departure.lines():
                _say(line, "red" if line.startswith("-") else "green" if line.startswith("+") else "")
    if not episodes:
        stdout().print("no episodes", style="dim")
        raise typer.Exit(FAILED)
    share = exact / turns if turns else 1.0
    _say(f"{same} of {episodes} episodes are the same; {exact} of {turns} turns ({share:.1%}) agree", "bold")
    if same < episodes:
        raise typer.Exit(FAILED)


def _where(episode: EpisodeDiff) -> str:
    if episode.right is None or not episode.left:
        return f"only in the {'left' if episode.right is None else 'right'} trace"
    first = episode.departures[0]
    more = f", and {len(episode.departures) - 1} more" if len(episode.departures) > 1 else ""
    return f"departs at turn {first.number} of {episode.turns} ({first.part}){more}"


def _episodes(path: Path) -> Iterator[TraceEpisode]:
    from agentworld_gym.core.traces import read_trace

    return read_trace(path)


def _named(name: str, episodes: Iterator[TraceEpisode]) -> Iterable[TraceEpisode]:
    """Return the episodes of this id; where there is none, those whose id begins so, and without a name all."""
    if not name:
        return episodes
    begun = [one for one in episodes if one.id.startswith(name)]
    return [one for one in begun if one.id == name] or begun


def _print_episode(episode: TraceEpisode, system: bool) -> None:
    stdout().rule(Text(f"episode {episode.id}"))
    _say(f"task {episode.start.get('task_id')}, seed {episode.start.get('seed')}", "dim")
    if system:
        _say(episode.system, "dim")
    _say(episode.start.get("observation", ""), "bold")
    for step in episode.steps:
        _print_step(step)
    total = sum(step.reward for step in episode.steps)
    _say(f"{counted(len(episode.steps), 'step')}, return {total:+.2f}, {_ending(episode)}", "bold")


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
    sure = (step.world or {}).get("confidence")
    if sure is not None:
        _say(f"confidence {sure:.3f}", "dim")
    if step.reward:
        _say(f"reward {step.reward:+.2f}", "dim")


def _say(text: str, style: str = "") -> None:
    stdout().print(Text(printable(text), style=style), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(trace, name="trace")
