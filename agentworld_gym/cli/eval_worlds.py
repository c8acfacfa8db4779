"""`agentworld eval fidelity`, `transfer` and `report`: a world beside the grounded one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    EnvironmentName,
    FamilyOption,
    FormOption,
    GeneratorOption,
    LedgerOption,
    LevelOption,
    ProfileOption,
    RetrievalOption,
    SamplingOption,
    SeedOption,
    SplitOption,
    WorldOption,
    env_options,
    examples,
    pairs,
    progress,
    spec_source,
    stdout,
    writable,
)
from agentworld_gym.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.evaluation.fidelity.measure import Progress
    from agentworld_gym.evaluation.results.fidelity import DomainFidelity
    from agentworld_gym.statistics.bootstrap import Share

WidthOption = Annotated[int, typer.Option("--width", min=1, help="Episodes stepped together, in one wave.")]
OutOption = Annotated[
    Path, typer.Option("--out", dir_okay=False, help="The JSON result; its page goes beside it, as .html.")
]


def fidelity(
    envs: Annotated[
        list[str] | None, typer.Argument(metavar="[ENV]...", help="Domains to measure; all with a grounded world.")
    ] = None,
    world: WorldOption = "tiny",
    out: OutOption = Path("fidelity.json"),
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Recorded sessions to ask about, a domain.")] = 100,
    data: Annotated[
        Path | None,
        typer.Option("--data", dir_okay=False, help="What `collect` recorded; else it is recorded from unseen tasks."),
    ] = None,
    nearest: Annotated[
        int, typer.Option("--nearest", min=0, help="Sessions of the training split for the nearest recorded step.")
    ] = 300,
    plans: Annotated[
        int, typer.Option("--plans", min=0, help="Tasks for the consistency ratio; 0 leaves it out.")
    ] = 30,
    free: Annotated[bool, typer.Option("--free/--no-free", help="Also let the world read its own predictions.")] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only exactness, from a forward pass; for a model in this process.")
    ] = False,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "test",
    profile: ProfileOption = None,
    form: FormOption = None,
    ledger: LedgerOption = None,
    sampling: SamplingOption = None,
    retrieval: RetrievalOption = None,
    generator: GeneratorOption = None,
    width: WidthOption = 64,
) -> None:
    """Compare a world with the grounded one, step by step, to the same actions.

    The result is written after each domain. Ctrl-C keeps what was measured.
    """
    from agentworld_gym.engines.catalog import ENGINES
    from agentworld_gym.evaluation.fidelity.measure import Plan, measure, record, rows_of
    from agentworld_gym.evaluation.results.fidelity import FidelityResult
    from agentworld_gym.fingerprint import installed
    from agentworld_gym.options import EnvOptions

    _writable(out)
    domains = [spec_source(name) for name in envs or ()]
    recorded = {} if data is None else rows_of(_existing(data), domains, tasks)
    domains = domains or list(recorded or ENGINES)
    source = f"{tasks} sessions of {split} tasks, seed {seed}" if data is None else f"the first {tasks} of {data}"
    levels, families = level or [1, 2, 3], family or []
    found: list[DomainFidelity] = []
    interrupted = False
    with progress("fidelity", 1) as bar:
        show = _shower(bar)
        for domain in domains:
            rows = recorded.get(domain, [])
            of = next((row.split for row in rows if row.split), split)
            given = env_options(
                domain,
                world=world,
                families=family,
                levels=levels,
                split=of,
                profile=profile,
                form=form,
                ledger=ledger,
                retrieval=retrieval,
                sampling=pairs(sampling, "--sampling"),
                generator=pairs(generator, "--generator"),
            )
            options = EnvOptions(**given)
            plan = Plan(
                rows or record(domain, tasks, seed, options.split, levels, families, show),
                record(domain, nearest, seed, "train", levels, families, show),
                free,
                range(seed, seed + plans),
                width,
                quick,
            )
            one, interrupted = measure(options, plan, on_progress=show)
            found += [one] if one.sessions or not interrupted else []
            result = FidelityResult(
                package=installed("agentworld-gym"),
                world=world,
                split=options.split,
                source=source,
                domains=tuple(found),
                options=_asked(given, quick),
                interrupted=interrupted,
            )
            _written(out, result)
            if interrupted:
                break
    _table_of_domains(found)
    _end(out, interrupted)


def transfer(
    env: EnvironmentName,
    policy: Annotated[
        str, typer.Option("--policy", help="expert, mixed, menu, nothing, or the path of a MaskablePPO (.zip).")
    ],
    world: WorldOption = "tiny",
    out: OutOption = Path("transfer.json"),
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="How many tasks, each played in both worlds.")] = 100,
    traces: Annotated[
        Path | None,
        typer.Option(
            "--traces", file_okay=False, help="Where the traces go; else beside the result.", show_default=False
        ),
    ] = None,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: SplitOption = "test",
    profile: ProfileOption = None,
    form: FormOption = None,
    ledger: LedgerOption = None,
    sampling: SamplingOption = None,
    retrieval: RetrievalOption = None,
    generator: GeneratorOption = None,
    width: WidthOption = 64,
) -> None:
    """Let a policy play the same tasks in the dream and in the grounded world.

    Says where the two part, and whether the agent learned the simulator. Ctrl-C keeps the tasks that both finished.
    """
    from agentworld_gym.evaluation.transfer import transfer as compare
    from agentworld_gym.options import EnvOptions

    levels = level or [1]
    options = EnvOptions(
        **env_options(
            env,
            world=world,
            families=family,
            levels=levels,
            split=split,
            profile=profile,
            form=form,
            ledger=ledger,
            retrieval=retrieval,
            sampling=pairs(sampling, "--sampling"),
            generator=pairs(generator, "--generator"),
        )
    )
    _writable(out)
    folder = traces or out.with_name(f"{out.stem}-traces")
    with progress("transfer", 1) as bar:
        show = _shower(bar)
        result = compare(
            policy,
            options,
            range(seed, seed + tasks),
            wave=width,
            traces=folder,
            on_progress=lambda side, done: show(side, done, tasks),
        )
    _written(out, result)
    rows = [(side.world, side.success, _total(side.failures)) for side in (result.dream, result.grounded)]
    _print_table(("world", "success", "failures"), [(name, _shown(one), failed) for name, one, failed in rows])
    stdout().print(f"gap {result.gap or '-'}. {result.verdict}", markup=False, highlight=False, soft_wrap=True)
    for parting in result.partings[:5]:
        where = "only in the dream" if parting.dream else "only in the grounded world"
        said = (
            f"{parting.task_id}, seed {parting.seed}: succeeds {where}; parts at turn {parting.turn} ({parting.part})"
        )
        stdout().print(said, markup=False, highlight=False, soft_wrap=True)
    _end(out, result.interrupted)


def report(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results of `agentworld eval`, as JSON.")],
    out: Annotated[Path, typer.Option("--out", dir_okay=False, help="Where the page goes.")] = Path("evaluation.html"),
) -> None:
    """Put results on one HTML page of tables and plots, which needs no other file."""
    from agentworld_gym.evaluation.report import read_result, write_page

    found = [read_result(_existing(path)) for path in results]
    write_page(writable(out, "--out"), found)
    stdout().print(str(out), markup=False, highlight=False, soft_wrap=True)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise SpecError("command line", "file", str(path), "a file that is there")
    return path


def _writable(out: Path) -> None:
    """See that a result and its page can be written, before there is any."""
    for path in (out, out.with_suffix(".html")):
        writable(path, "--out")


def _asked(given: Mapping[str, Any], quick: bool) -> dict[str, Any]:
    """What was asked for, but for what has a place of its own in the result."""
    asked = {key: value for key, value in given.items() if key not in ("spec", "world", "split")}
    return {**asked, "quick": True} if quick else asked


def _shower(bar: Any) -> Progress:
    """Shows what is being done on a progress bar."""
    task = bar.task_ids[0]

    def show(what: str, done: int, total: int) -> None:
        if bar.tasks[0].description != what:
            bar.reset(task, description=what, total=total)
        bar.update(task, completed=done)

    return show


def _written(out: Path, result: Any) -> None:
    from agentworld_gym.evaluation.report import write_page

    result.write(out)
    write_page(out.with_suffix(".html"), [result])


def _end(out: Path, interrupted: bool) -> None:
    stdout().print(f"{out}, {out.with_suffix('.html')}", markup=False, highlight=False, soft_wrap=True)
    if interrupted:
        raise KeyboardInterrupt


def _table_of_domains(found: Sequence[DomainFidelity]) -> None:
    rows = []
    for one in found:
        runs = [None if run is None or run.measures is None else run.measures for run in (one.taught, one.free)]
        copied, nearest = (one.baselines.get(name) for name in ("copy", "nearest"))
        probes = one.free.probes if one.free else None
        ratio = one.consistency.ratio if one.consistency else None
        rows.append(
            (
                one.domain,
                str(one.steps),
                *(_shown(found.deterministic if found else None) for found in runs),
                *(_number(found.deterministic.share if found else None) for found in (copied, nearest)),
                _number(probes.agreement.share if probes else None),
                _number(ratio),
            )
        )
    _print_table(("domain", "steps", "true history", "own history", "copy", "nearest", "probes", "plans"), rows)


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    stdout().print(table)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _shown(share: Share | None) -> str:
    return "-" if share is None else f"{share.share:.2f} {share.low:.2f}–{share.high:.2f}"


def _total(failures: dict[str, int]) -> str:
    return str(sum(failures.values()))


def register(group: typer.Typer) -> None:
    """Add the commands to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval fidelity terminal --world tiny",
            "agentworld eval fidelity --world transformers:runs/mine/model --profile compact --out mine.json",
        )
    )(fidelity)
    group.command(
        epilog=examples(
            "agentworld eval transfer terminal --policy agent.zip --world tiny",
            "agentworld eval transfer android --policy expert --world http://localhost:8000/v1 --tasks 20",
        )
    )(transfer)
    group.command(epilog=examples("agentworld eval report fidelity.json transfer.json --out page.html"))(report)
