"""`agentworld eval fidelity`: a world beside the grounded one, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.common import (
    EvaluatedSeedOption,
    EvaluatedSplitOption,
    FamilyOption,
    LevelOption,
    TensorBoardOption,
    WandbOption,
    WorldOption,
    counted,
    env_options,
    evaluated_seed,
    evaluated_split,
    examples,
    source_in_dialect,
    stdout,
)
from agentworld_gym.cli.eval.output import (
    OutOption,
    WidthOption,
    announce,
    check_writable,
    existing_file,
    number,
    print_table,
    share_text,
    stages,
    write_result,
)
from agentworld_gym.cli.language_options import with_language_options
from agentworld_gym.cli.on_ray import RayOption, WorkersOption, check_workers, on_ray

if TYPE_CHECKING:
    from agentworld_gym.evaluation.results.fidelity import BaselineFidelity, Consistency, DomainFidelity, FidelityRun

LEGEND = (
    "true history, own history: the share of observations that are right where the rules decide them; "
    "probes: checks with the true verdict; plans: the consistency ratio; all with 95% intervals. "
    "nearest: the nearest answer, a table without learning that answers in the same form; "
    "errors: those of the world as a share of the table's; worldbook: the answers of a worldbook of the same sessions, "
    "without a model; copy: the last observation again."
)
"""What the table holds."""

ATTEMPTS = (
    "attempts: what cannot be done, or changes nothing; a failure counts as wrong. "
    "accepted: answers that changed the world's own state where nothing changes. Both are of both histories."
)

QUICK = "true history: the share of answers that are right as they are written, which is stricter than what they print."

NEAREST = "400"
"""The number of recorded sessions whose answers are looked through, if a user says nothing."""

PLANS, PLANS_TO_REPORT = 30, 100


@with_language_options
def fidelity(
    envs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ENV]...", help="Domains to measure; without any, all that have a grounded world."),
    ] = None,
    world: WorldOption = "tiny",
    out: OutOption = Path("fidelity.json"),
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Recorded sessions to ask about, a domain.")] = 100,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            dir_okay=False,
            help="A file that `agentworld collect` wrote; else sessions are recorded from tasks of the split.",
        ),
    ] = None,
    nearest: Annotated[
        str,
        typer.Option(
            "--nearest",
            metavar="N|all|FILE",
            help="Training sessions for the nearest answer, a table without learning, and for a worldbook: a number, "
            "all for as many as the model saw, or a file that `agentworld samples` wrote, for the nearest answer "
            "alone; 0 leaves both out.",
        ),
    ] = NEAREST,
    plans: Annotated[
        int | None,
        typer.Option(
            "--plans",
            min=0,
            help="Tasks for the consistency ratio; 0 leaves it out.",
            show_default="30, or 100 test tasks",
        ),
    ] = None,
    free: Annotated[bool, typer.Option("--free/--no-free", help="Also let the world read its own predictions.")] = True,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only whether answers to the true history are exact, from one forward pass a session; for "
            "a model in this process with compact prompts.",
        ),
    ] = False,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            help="A policy that plays the recorded sessions, such as free; may be given several times, for "
            "equal shares.",
        ),
    ] = None,
    seed: EvaluatedSeedOption = None,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: EvaluatedSplitOption = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
    width: WidthOption = 64,
    ray: RayOption = False,
    workers: WorkersOption = None,
    **language: Any,
) -> None:
    """Compare a world with the grounded one, step by step, to the same actions.

    It prints a table, and writes a JSON result and its page. The result is written after each domain. Ctrl-C keeps what
    was measured.
    """
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.base.fingerprint import installed
    from agentworld_gym.core.engines.catalog import engine_names
    from agentworld_gym.envs.options import EnvOptions
    from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record, rows_of
    from agentworld_gym.evaluation.results.base import TaskDraw
    from agentworld_gym.evaluation.results.fidelity import FidelityResult
    from agentworld_gym.llm.bundled_models import sessions_of
    from agentworld_gym.worlds.own_tasks import brings_tasks, schemes, truth_of

    check_workers(ray, workers)
    check_writable(out)
    elsewhere = on_ray(workers, width) if ray else None
    recording = on_ray(workers, 1) if ray else None
    dialect = language.pop("dialect")
    truth = truth_of(world)
    own, owner = brings_tasks(world), schemes().get(truth.partition(":")[0])
    split, drawn = evaluated_split(world, split), seed is None
    seed = evaluated_seed(split, seed)
    if plans is None:
        plans = PLANS_TO_REPORT if split == "test" else PLANS
    shares = {"split": split, "seed": seed, "drawn": drawn, "tasks": min(tasks, plans or tasks)}
    draw = validated(TaskDraw, shares, "command line")
    domains = [source_in_dialect(name, dialect) for name in envs or ()]
    sessions = None if data is None else existing_file(data, "sessions that `agentworld collect` wrote")
    recorded = {} if sessions is None else rows_of(sessions, domains, tasks)
    domains = domains or list(recorded or ([owner] if owner else engine_names()))
    if own and not owner and len(domains) != 1:
        raise SpecError("command line", "ENV", list(envs or ()), f"the one environment of {truth}")
    if dialect is not None and not envs:
        raise SpecError("command line", "--dialect", dialect, "the domain whose dialect it is, as in swe --dialect cli")
    played = f" by {', '.join(policy)}" if policy else ""
    source = (
        f"{tasks} sessions of {split} tasks{played}, seed {seed}" if data is None else f"the first {tasks} of {data}"
    )
    levels, families = level or ([1] if own else [1, 2, 3]), family or []
    measured: list[DomainFidelity] = []
    interrupted = False
    with stages("fidelity", tensorboard, wandb) as begin:
        for domain in domains:
            rows = recorded.get(domain, [])
            of = split if own else next((row.split for row in rows if row.split), split)
            given = env_options(
                domain,
                world=world,
                families=family,
                levels=levels,
                split=of,
                **language,
            )
            options = EnvOptions(**given)
            others = seed + 1 if own else seed  # Without splits only the seed tells the sessions apart.
            saw = sessions_of(world, options.domain_spec())
            table = _table_of(nearest, saw, world)
            plan = FidelityPlan(
                rows
                or record(domain, tasks, seed, options.split, levels, families, begin, truth, policy or (), recording),
                table
                if isinstance(table, Path)
                else record(domain, table, others, "train", levels, families, begin, truth, policy or (), recording),
                saw,
                free,
                range(seed, seed + plans),
                width,
                quick,
            )
            one, interrupted = measure(options, plan, on_stage=begin, elsewhere=elsewhere)
            measured += [one] if one.sessions or not interrupted else []
            result = FidelityResult(
                package=installed("agentworld-gym"),
                world=world,
                split=options.split,
                draw=None if rows or own else draw,
                source=source,
                domains=tuple(measured),
                options=_options_of(given, quick),
                interrupted=interrupted,
            )
            write_result(out, result)
            if interrupted:
                break
    _table_of_domains(measured)
    if quick:
        stdout().print(QUICK, style="dim", highlight=False)
    if sessions is None and not own:
        stdout().print(str(draw), highlight=False, soft_wrap=True)
    announce(out, interrupted)


def _options_of(given: Mapping[str, Any], quick: bool) -> dict[str, Any]:
    """Return the options, except for those that have a place of their own in the result."""
    asked = {key: value for key, value in given.items() if key not in ("spec", "world", "split", "language")}
    asked |= given.get("language", {})
    return {**asked, "quick": True} if quick else asked


def _table_of(asked: str, saw: int | None, world: str) -> int | Path:
    """Return what `--nearest` asks for: a number of sessions, or a file of samples.

    Raises:
        SpecError: It is neither, or nobody knows how many sessions the model saw.
    """
    if asked == "all":
        if saw is None:
            raise SpecError("command line", "--nearest", asked, f"a number: how many sessions {world} saw is not known")
        return saw
    return int(asked) if asked.isdecimal() else existing_file(Path(asked), "a number, or what `samples` wrote")


def _table_of_domains(found: Sequence[DomainFidelity]) -> None:
    rows: list[tuple[str, ...]] = []
    for one in found:
        table, copied = one.nearest, one.baselines.get("copy")
        rows.append((one.domain, *_shares(one.taught, one.free, one.consistency)))
        if table is not None:
            rows.append(("  nearest", *_shares(table.taught, table.free, table.consistency)))
            errors = (share_text(table.errors.get(history)) for history in ("true history", "own history"))
            rows.append(("  errors", *errors, "", ""))
        if one.worldbook is not None:
            book = one.worldbook
            rows.append(("  worldbook", *_shares(book.taught, book.free, book.consistency)))
        if copied is not None:
            rows.append(("  copy", share_text(copied.deterministic), "", "", ""))
    print_table(("", "true history", "own history", "probes", "plans"), rows)
    stdout().print(LEGEND, style="dim", highlight=False)
    _table_of_attempts(found)
    for one in found:
        nearest = "" if one.nearest is None else f"; {_describe_table(one.nearest)}"
        said = f"{one.domain}: {counted(one.steps, 'step')} of {counted(one.sessions, 'session')}{nearest}"
        stdout().print(said, markup=False, highlight=False, soft_wrap=True)
    guards = [
        (one.domain, number(guard.least), share_text(guard.taken), share_text(guard.wrong))
        for one in found
        for guard in one.trusted
    ]
    if guards:
        print_table(("guard", "asks for", "takes as they are", "of these wrong"), guards)


def _table_of_attempts(found: Sequence[DomainFidelity]) -> None:
    """Print how the world answered what cannot be done, where somebody tried."""
    rows = []
    for one in found:
        runs = [{} if run is None else run.attempts for run in (one.taught, one.free)]
        for kind in dict.fromkeys(name for run in runs for name in run):
            cells = [run.get(kind) for run in runs]
            shares = (share_text(None if cell is None else cell.equal) for cell in cells)
            counts = (sum(cell.failures for cell in cells if cell), [cell.accepted for cell in cells if cell])
            accepted = [number for number in counts[1] if number is not None]
            name = one.domain if kind == "all" else f"  {kind}"
            rows.append((name, *shares, str(counts[0]), str(sum(accepted)) if accepted else "-"))
    if rows:
        print_table(("attempts", "true history", "own history", "failures", "accepted"), rows)
        stdout().print(ATTEMPTS, style="dim", highlight=False)


def _shares(taught: FidelityRun | None, free: FidelityRun | None, plans: Consistency | None) -> tuple[str, ...]:
    """Return the cells of one who answered."""
    runs = (None if run is None or run.measures is None else run.measures.deterministic for run in (taught, free))
    probes = free.probes.agreement if free is not None and free.probes is not None else None
    ratio = "-"
    if plans is not None and plans.ratio is not None:
        ratio = f"{number(plans.ratio)} {number(plans.low)}–{number(plans.high)}"
    return (*map(share_text, runs), share_text(probes), ratio)


def _describe_table(table: BaselineFidelity) -> str:
    """Say how large a table is, and how much the model saw."""
    saw = "" if table.saw is None else f" (the model saw {table.saw:,})"
    return f"the nearest answer is that of {table.turns:,} turns of {counted(table.sessions, 'session')}{saw}"


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval fidelity terminal --world tiny",
            "agentworld eval fidelity --world transformers:runs/mine/model --out mine.json",
            "agentworld eval fidelity mcp --world live:my.yaml+http://localhost:8000/v1 --ray --workers 16",
        )
    )(fidelity)
