"""`agentworld cost`: what a run will cost, and what it did cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.cli.common import (
    AGENTS,
    Commands,
    ControlOption,
    FamilyOption,
    JudgeOption,
    LevelOption,
    ScenarioOption,
    SeedOption,
    SplitOption,
    WorldOption,
    counted,
    env_options,
    examples,
    spec_source,
    stderr,
    stdout,
    tokens_text,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.envs.episodes.episode import Episode
    from agentworld_gym.envs.episodes.step import Transition
    from agentworld_gym.evaluation.cost import Cost, GpuPrice

BUSY = 0.5
"""The share of the planned load below which the command says that it was measured under a lower one."""

cost = typer.Typer(cls=Commands, no_args_is_help=True, help="Say what a run will cost, or did cost.")

HourOption = Annotated[float | None, typer.Option("--gpu-hour", min=0, help="The price of one GPU for an hour.")]
GpusOption = Annotated[int, typer.Option("--gpus", min=1, help="How many GPUs serve the world model.")]


@cost.command(
    epilog=examples(
        "agentworld cost plan terminal --world http://localhost:8000/v1 -n 10000 --steps 20 --gpu-hour 2.5",
        "agentworld cost plan --from runs/today -n 10000 --no-thinking",
        "agentworld cost plan mcp --world live:my.yaml -n 10000000 --hours 24 --node-hour 0.4 --rows 50",
    )
)
@with_language_options
def plan(
    env: Annotated[
        str | None,
        typer.Argument(metavar="[ENV]", help="The environment to measure; with --from it is not needed."),
    ] = None,
    world: WorldOption = "auto",
    scenario: ScenarioOption = None,
    episodes: Annotated[int, typer.Option("--episodes", "-n", min=1, help="How many episodes are planned.")] = 1000,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Steps in each episode; else as in those measured.")
    ] = None,
    width: Annotated[int, typer.Option("--width", min=1, help="Episodes that run at a time, in each node.")] = 16,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", min=1, help="How many nodes play, as with `--ray`.", show_default="1, or by --hours"),
    ] = None,
    hours: Annotated[
        float | None, typer.Option("--hours", min=0.001, help="Find out how many nodes it takes in so many hours.")
    ] = None,
    node_hour: Annotated[
        float | None, typer.Option("--node-hour", min=0, help="The price of one node for an hour.")
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            "--rows",
            min=0,
            help="Record so many sessions, as `collect` does, to see how long their rows are; for a world that no "
            "language model plays.",
        ),
    ] = 0,
    measure: Annotated[
        int,
        typer.Option(
            "--measure",
            min=2,
            help="Send at most so many steps to the world; the first only wakes the server and is not "
            "measured. The probes and judges of their episodes come on top.",
        ),
    ] = 256,
    traces: Annotated[
        Path | None, typer.Option("--from", help="Take the rates from this trace, and send nothing.")
    ] = None,
    thinking: Annotated[
        bool | None, typer.Option("--thinking/--no-thinking", help="Whether the world model thinks; else as measured.")
    ] = None,
    cached: Annotated[
        float | None,
        typer.Option("--cached", min=0, max=1, help="Share of prompt tokens from the prefix cache; else as measured."),
    ] = None,
    gpu_hour: HourOption = None,
    gpus: GpusOption = 1,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help=f"{AGENTS}.", show_default="expert, or explore where a task has none"),
    ] = None,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "train",
    control: ControlOption = None,
    judge: JudgeOption = "same",
    out: Annotated[Path | None, typer.Option("--out", dir_okay=False, help="Keep the plan, as JSON.")] = None,
    **language: Any,
) -> None:
    """Say what a run will cost: steps, tokens, time, bytes and price, from rates measured on your own server or system.

    Whole episodes are measured, with their probes and judges. A step is one that the world answers; `finish` is none.
    """
    from agentworld_gym.evaluation.cost import RunPlan, first_failure, planned, rates_of, total_of, within

    if nodes is not None and hours is not None:
        raise SpecError("command line", "--hours", hours, "one of --nodes and --hours")
    if rows and env is None:
        raise SpecError("command line", "--rows", rows, "an environment whose sessions can be recorded")
    if out is not None:
        writable(out, "--out")
    asked = RunPlan(
        episodes=episodes,
        steps=steps,
        width=width,
        nodes=nodes or 1,
        thinking=thinking,
        cached=cached,
        seed=seed,
    )
    with TemporaryDirectory() as folder:
        if traces is None:
            if env is None:
                raise SpecError("command line", "ENV", None, "an environment to measure, or --from with a trace")
            if thinking is not None:
                language["sampling"] = [*(language["sampling"] or ()), f"thinking={str(thinking).lower()}"]
            given = env_options(
                env,
                world=world,
                scenario=scenario,
                families=family,
                levels=level,
                split=split,
                controls=control,
                judge=judge,
                traces=folder,
                **language,
            )
            _measure(given, policy, seed, measure, width, steps)
        source = traces or Path(folder)
        spent = total_of(source)
        if traces is None and not spent.steps:
            raise AgentWorldError(f"no step was answered while the world was measured: {first_failure(source)}")
        rates = rates_of(source)
    found = planned(rates, asked if hours is None else within(rates, asked, hours))
    if rows:
        assert env is not None
        mean = _row_bytes(env, world, rows, seed, split, level, family)
        found = found.model_copy(update={"row_bytes": round(episodes * mean)})
    _table({"planned": found}, _price(gpu_hour, gpus), node_hour)
    told = f"measured: {counted(spent.steps, 'step')} of {counted(spent.episodes, 'episode')}"
    if spent.width is not None:
        told += f", {spent.width:.1f} at a time"
    _say(told)
    if spent.failures:
        _say(f"failed while measured, and left out: {_named(spent.failures)}")
    if spent.width is not None and spent.width < BUSY * min(width, episodes):
        _say(f"planned at a width of {width}: a server that is asked more at a time answers more slowly")
    if out is not None:
        out.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")


@cost.command(
    epilog=examples("agentworld cost run runs/today --gpu-hour 2.5", "agentworld cost run runs/today --plan plan.json")
)
def run(
    path: Annotated[Path, typer.Argument(help="A folder of traces, or one of a run's two files.")],
    against: Annotated[
        Path | None, typer.Option("--plan", dir_okay=False, help="Show a plan beside, which `cost plan --out` kept.")
    ] = None,
    gpu_hour: HourOption = None,
    gpus: GpusOption = 1,
) -> None:
    """Add up what a run did cost, from its traces; probes and judges stand apart."""
    from agentworld_gym.evaluation.cost import read_plan, total_of

    spent = total_of(path)
    columns = {} if against is None else {"planned": read_plan(against)}
    _table({**columns, "actual": spent}, _price(gpu_hour, gpus), None)
    if spent.failures:
        _say(f"failed steps: {_named(spent.failures)}")


def _row_bytes(
    env: str,
    world: str,
    count: int,
    seed: int,
    split: str,
    levels: Sequence[int] | None,
    families: Sequence[str] | None,
) -> float:
    """Record some sessions, and return how long a row of them is in the mean, as a line of JSON."""
    from contextlib import closing

    import orjson

    from agentworld_gym.agents.collect.config import CollectConfig
    from agentworld_gym.agents.collect.recorder import Recorder
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.core.domain.spec import load_spec
    from agentworld_gym.core.domain.task import Split

    asked: dict[str, Any] = {"world": "grounded" if world == "auto" else world, "families": tuple(families or ())}
    asked |= {"levels": dict.fromkeys(levels, 1.0)} if levels else {}
    config, of = validated(CollectConfig, asked, "command line"), cast(Split, split)
    with closing(Recorder([load_spec(spec_source(env))], config, seed, of)) as recorder:
        lengths = [len(orjson.dumps(row.model_dump())) + 1 for row in recorder.rows(range(count)) if row is not None]
    if not lengths:
        raise AgentWorldError(f"none of {counted(count, 'session')} had a turn, so that rows have no length")
    return sum(lengths) / len(lengths)


def _measure(given: dict[str, Any], policy: str | None, seed: int, most: int, width: int, steps: int | None) -> None:
    """Play whole episodes, with at most so many steps over all of them; the traces tell the rest.

    A step is one that the world answers, so that `finish` is none.
    One step of an episode that is not recorded goes ahead, because the first answer of a process takes longer.
    """
    from agentworld_gym.agents.policies.playing import play
    from agentworld_gym.agents.policies.registry import opened_policy
    from agentworld_gym.agents.progress import Meter, TerminalProgress
    from agentworld_gym.core.actions.finish import finishes
    from agentworld_gym.envs.options import EnvOptions

    options = EnvOptions(**given)
    limit = min(most - 1, steps or most, options.domain_spec().limits.max_steps)
    with ExitStack() as opened:
        runner = options.changed(max_steps=limit).runner()
        opened.callback(runner.close)
        ahead = options.changed(max_steps=1, traces=None).runner()
        opened.callback(ahead.close)
        if policy is None:
            policy = "expert" if runner.source.pick(seed, {}).expert else "explore"
        player = opened.enter_context(opened_policy(policy, runner.spec))
        seeds: list[int] = []
        left = most - 1
        while left > 0 and len(seeds) < most:
            task = runner.source.pick(seed + len(seeds), {})
            asked = sum(not finishes(action) for action in task.expert) if policy == "expert" else limit
            left -= max(1, min(limit, asked))
            if left >= 0 or not seeds:
                seeds.append(seed + len(seeds))
        for _ in play(ahead, player, [seed + len(seeds)]):
            pass
        meter, answered = Meter(len(seeds), "episodes"), 0
        what = f"measuring, at most {counted(most, 'step')}"
        view = opened.enter_context(TerminalProgress(what, meter, stderr()))

        def count(_: Episode, taken: Transition) -> None:
            nonlocal answered
            answered += taken.answered
            meter.figures = counted(answered, "step")
            view.show()

        runner.listeners.append(count)
        for done, _ in enumerate(play(runner, player, seeds, wave=width), 1):
            meter.reached(done)


def _price(hour: float | None, gpus: int) -> GpuPrice | None:
    from agentworld_gym.evaluation.cost import GpuPrice

    return None if hour is None else GpuPrice(hour=hour, gpus=gpus)


def _table(columns: dict[str, Cost], price: GpuPrice | None, node_hour: float | None) -> None:
    """Print the figures of one or two costs, and of two how they compare."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("")
    for name in columns:
        table.add_column(name, justify="right")
    both = len(columns) == 2
    if both:
        table.add_column("actual/planned", justify="right")
    figures = [_figures(one, price, node_hour) for one in columns.values()]
    for place, (name, _, _) in enumerate(figures[0]):
        values = [column[place][1] for column in figures]
        known = [value for value in values if value is not None]
        ratio = [f"{known[1] / known[0]:.2f}" if len(known) == 2 and known[0] else "-"] if both else []
        table.add_row(name, *(column[place][2] for column in figures), *ratio)
    stdout().print(table)


def _figures(one: Cost, price: GpuPrice | None, node_hour: float | None) -> Sequence[tuple[str, float | None, str]]:
    """Return the rows of a cost: name, number and text."""
    tokens = [
        (f"{whose}: {name} tokens", getattr(used, key))
        for whose, used in (("steps", one.world), ("checks", one.checks))
        for name, key in (
            ("prompt", "prompt"),
            ("of these cached", "cached"),
            ("completion", "completion"),
            ("of these thinking", "thinking"),
        )
        if not (whose == "checks" and key == "thinking")
    ]
    counts = [("episodes", one.episodes), ("steps", one.steps), *tokens]
    rows: list[tuple[str, float | None, str]] = [(name, number, tokens_text(number)) for name, number in counts]
    rows.append(("time", one.seconds, "-" if one.seconds is None else duration(one.seconds)))
    rows.append(("traces", one.trace_bytes, "-" if one.trace_bytes is None else size_text(one.trace_bytes)))
    if one.row_bytes is not None:
        rows.append(("rows", one.row_bytes, size_text(one.row_bytes)))
    if one.nodes > 1 or node_hour is not None:
        rows.append(("nodes", one.nodes, f"{one.nodes:,}"))
    if node_hour is not None:
        spent = None if one.seconds is None else node_hour * one.nodes * one.seconds / 3600
        rows.append((f"price of {counted(one.nodes, 'node')}", spent, "-" if spent is None else f"{spent:,.2f}"))
    if price is not None:
        paid = None if one.seconds is None else price.of(one.seconds)
        rows.append((f"price of {counted(price.gpus, 'GPU')}", paid, "-" if paid is None else f"{paid:,.2f}"))
    return rows


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(3.21), duration(725), duration(90_000)
    ('3.2 s', '12.1 min', '25.0 h')
    """
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def size_text(number: int) -> str:
    """Return a number of bytes in words.

    >>> size_text(900), size_text(1_530_000), size_text(4_200_000_000_000)
    ('900 B', '1.5 MB', '4.2 TB')
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number} B"


def _named(failures: dict[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(failures.items()))


def _say(text: str) -> None:
    stderr().print(text, markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(cost, name="cost")
