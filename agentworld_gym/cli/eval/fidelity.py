"""`agentworld eval fidelity`: a world beside the grounded one, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentworld_gym.cli.common import (
    EvaluatedSplitOption,
    FamilyOption,
    LevelOption,
    SeedOption,
    TensorBoardOption,
    WorldOption,
    env_options,
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
from agentworld_gym.errors import SpecError

if TYPE_CHECKING:
    from agentworld_gym.evaluation.results.fidelity import DomainFidelity

LEGEND = (
    "true history, own history: the share of answers that are right where the rules decide them; "
    "copy, nearest: that of repeating the last observation, and of the nearest recorded step; "
    "probes: checks with the true verdict; plans: the consistency ratio."
)
"""What the columns of the table hold."""


@with_language_options
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
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", help="A policy that plays the recorded sessions, as free; may be given several times."
        ),
    ] = None,
    seed: SeedOption = 0,
    family: FamilyOption = None,
    level: LevelOption = None,
    split: EvaluatedSplitOption = None,
    tensorboard: TensorBoardOption = None,
    width: WidthOption = 64,
    **language: Any,
) -> None:
    """Compare a world with the grounded one, step by step, to the same actions.

    The result is written after each domain. Ctrl-C keeps what was measured.
    """
    from agentworld_gym.engines.catalog import ENGINES
    from agentworld_gym.evaluation.fidelity.measure import Plan, measure, record, rows_of
    from agentworld_gym.evaluation.results.fidelity import FidelityResult
    from agentworld_gym.fingerprint import installed
    from agentworld_gym.options import EnvOptions
    from agentworld_gym.worlds.registry import brings_tasks, truth_of

    check_writable(out)
    dialect = language.pop("dialect")
    truth, own = truth_of(world), brings_tasks(world)
    split = evaluated_split(world, split)
    domains = [source_in_dialect(name, dialect) for name in envs or ()]
    sessions = None if data is None else existing_file(data, "sessions that `agentworld collect` wrote")
    recorded = {} if sessions is None else rows_of(sessions, domains, tasks)
    domains = domains or list(recorded or (["mcp"] if own else ENGINES))
    if dialect is not None and not envs:
        raise SpecError("command line", "--dialect", dialect, "the domain whose dialect it is, as in swe --dialect cli")
    played = f" by {', '.join(policy)}" if policy else ""
    source = (
        f"{tasks} sessions of {split} tasks{played}, seed {seed}" if data is None else f"the first {tasks} of {data}"
    )
    levels, families = level or ([1] if own else [1, 2, 3]), family or []
    measured: list[DomainFidelity] = []
    interrupted = False
    with stages("fidelity", tensorboard) as begin:
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
            plan = Plan(
                rows or record(domain, tasks, seed, options.split, levels, families, begin, truth, policy or ()),
                record(domain, nearest, others, "train", levels, families, begin, truth, policy or ()),
                free,
                range(seed, seed + plans),
                width,
                quick,
            )
            one, interrupted = measure(options, plan, on_stage=begin)
            measured += [one] if one.sessions or not interrupted else []
            result = FidelityResult(
                package=installed("agentworld-gym"),
                world=world,
                split=options.split,
                source=source,
                domains=tuple(measured),
                options=_options_of(given, quick),
                interrupted=interrupted,
            )
            write_result(out, result)
            if interrupted:
                break
    _table_of_domains(measured)
    announce(out, interrupted)


def _options_of(given: Mapping[str, Any], quick: bool) -> dict[str, Any]:
    """Return the options, except for those that have a place of their own in the result."""
    asked = {key: value for key, value in given.items() if key not in ("spec", "world", "split")}
    return {**asked, "quick": True} if quick else asked


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
                *(share_text(found.deterministic if found else None) for found in runs),
                *(number(found.deterministic.share if found else None) for found in (copied, nearest)),
                number(probes.agreement.share if probes else None),
                number(ratio),
            )
        )
    print_table(("domain", "steps", "true history", "own history", "copy", "nearest", "probes", "plans"), rows)
    stdout().print(LEGEND, style="dim", highlight=False)
    ledgers = [
        (one.domain, history, share_text(kept.exact), share_text(kept.sound), *map(str, kept.counts.values()))
        for one in found
        for history, run in (("true", one.taught), ("own", one.free))
        if run is not None and (kept := run.ledgers) is not None
    ]
    if ledgers:
        heads = ("ledger", "history", "exact", "nothing wrong", "malformed", "contradictions", "unchanged")
        print_table(heads, ledgers)


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval fidelity terminal --world tiny",
            "agentworld eval fidelity --world transformers:runs/mine/model --profile compact --out mine.json",
        )
    )(fidelity)
