"""Measures how faithful a world is: its answers beside those of the grounded world, to the same actions.

Every step is asked twice: with the true history (`taught`, teacher forcing), which tells what the model knows of one
step, and with the world's own answers as its history (`free`), which tells how errors carry on. Fidelity is shown by
the number of state fields that a step changes, because fluent text over a silently wrong state is how language models
fail here (EnvSimBench, arXiv 2605.07247).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import recorded_elsewhere
from agentworld_gym.agents.policies.playing import WAVE, Played, one_a_task
from agentworld_gym.agents.progress import Tally
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.elsewhere import Elsewhere
from agentworld_gym.base.process.interrupts import remembered_interrupt
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.contracts import Observation, Teachable
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.registration import find_domain
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.aggregate import BaselineName, Beside, Findings, aggregate
from agentworld_gym.evaluation.fidelity.baselines import Baseline, nearest_answers, worldbook_answers
from agentworld_gym.evaluation.fidelity.cases import cases_of
from agentworld_gym.evaluation.fidelity.consistency_ratio import Searched, consistency, consistency_of
from agentworld_gym.evaluation.fidelity.forward_exactness import exact_steps, folder_of
from agentworld_gym.evaluation.fidelity.replay import Replay, replay
from agentworld_gym.evaluation.fidelity.spread import ReplayedSession, merged, replayed_elsewhere, searched_elsewhere
from agentworld_gym.evaluation.results.fidelity import Consistency, DomainFidelity
from agentworld_gym.kit.matching import MatchResult
from agentworld_gym.llm.rows.pools import group_of, is_imported
from agentworld_gym.llm.rows.rerendering import spec_source
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.worlds.own_tasks import truth_of

logger = logging.getLogger(__name__)

NAMES: Mapping[BaselineName, str] = {"nearest": "nearest answer", "worldbook": "worldbook"}
"""What is made of the recorded sessions, to stand beside the world."""

Begin = Callable[[str, str, int], Tally]
"""A function that is called as a stage begins, with its name, what it goes through and how many of these there are. It
returns the tally that counts them."""


@dataclass
class FidelityPlan:
    """What to measure in one domain."""

    rows: Iterable[Row]
    """Recorded sessions that no training saw, such as `record` makes."""

    recorded: Iterable[Row] | Path = ()
    """Sessions of the training split, for the nearest answer and the worldbook; or a file of samples that `agentworld
    samples` made of some, in the form in which the world is asked, for the nearest answer alone. Those of the same task
    as one of `rows` are not looked at. Without any, these baselines are left out."""

    saw: int | None = None
    """The number of recorded sessions that the world's model was trained on; None where that is not known."""

    free: bool = True
    """Whether to ask with the world's own history too."""

    plans: Sequence[int] = ()
    """The task seeds for the consistency ratio; without any, it is left out."""

    wave: int = WAVE
    """The number of sessions that are replayed together."""

    quick: bool = False
    """Whether to measure only if answers to the true history are exact, from one forward pass over each session; see
    `forward_exactness`."""

    planner: str = "explore"
    """The handle of the policy that draws the plans of tasks without an expert; `mixed`, the expert that errs, draws
    those of others. Where nothing tells whether a task is solved, there are no plans."""


def measure(
    options: EnvOptions,
    plan: FidelityPlan,
    *,
    grounded: str | None = None,
    on_stage: Begin | None = None,
    elsewhere: Elsewhere | None = None,
) -> tuple[DomainFidelity, bool]:
    """Measure a world in one domain. The world is opened first, then sessions are read or recorded.

    Ctrl-C ends the measuring; what was measured until then is aggregated.

    Args:
        options: The domain and the world; its tasks serve the consistency ratio.
        plan: What to measure.
        grounded: The handle of the world to be true to; None takes the grounded world, or AWM's of `awm:DIR+WORLD`.
        on_stage: A function that is called as a stage begins, and returns what counts it; None counts unseen.
        elsewhere: What replays sessions and searches plans; None does it in this process. The baselines always stay
            here.

    Returns:
        The result, and whether it was interrupted.

    Raises:
        SpecError: An option is wrong, or a session has no task that can be made again.
        WorldNotConfigured: There is no such world.

    >>> plan = FidelityPlan(record("terminal", 3), plans=range(2))
    >>> found, _ = measure(EnvOptions(spec="terminal", world="grounded", split="test"), plan)
    >>> found.free.measures.exact.share, found.consistency.ratio
    (1.0, 1.0)
    """
    judged = options.changed(judge="none", traces=None)
    grounded = grounded or truth_of(options.world)
    findings = Findings()
    interrupted = False
    with closing(judged.runner()) as runner, closing(judged.runner_of_truth(grounded, runner)) as truth:
        try:
            with remembered_interrupt() as check:
                there = None if elsewhere is None or plan.quick else _There(judged, grounded, elsewhere)
                _ask(runner, truth, plan, findings, on_stage or _unseen, check, there)
        except KeyboardInterrupt:
            interrupted = True
        return aggregate(runner, findings), interrupted


def record(
    domain: str,
    sessions: int,
    seed: int = 0,
    split: Split = "test",
    levels: Sequence[int] = (1, 2, 3),
    families: Sequence[str] = (),
    on_stage: Begin | None = None,
    world: str = "grounded",
    policies: Sequence[str] = (),
    elsewhere: Elsewhere | None = None,
) -> Iterator[Row]:
    """Record sessions of a grounded world: the expert, erring experts, menu agents and, in a terminal, looks around.

    Those of AWM's worlds, which have no levels, families and splits, are played from menus and by explorers.

    Args:
        domain: The domain.
        sessions: How many sessions are played; one without any turn is left out.
        seed: The seed of all sessions.
        split: The split of their tasks.
        levels: The levels of their tasks.
        families: The families of their tasks; without any, all are played.
        on_stage: A function that returns what counts the sessions; None counts unseen.
        world: The handle of the world: `grounded`, or `awm:DIR`.
        policies: The names of the policies that play, in equal shares; without any, those named above.
        elsewhere: What plays them; None plays them in this process.

    Raises:
        SpecError: The domain has no grounded world, or no such family, or there is no such policy.
    """
    from agentworld_gym.core.domain.spec import load_spec

    asked: dict[str, Any] = {"policies": dict.fromkeys(policies, 1.0)} if policies else {}
    settings = {"levels": {level: 1.0 for level in levels}, "families": tuple(families), "world": world, **asked}
    config = validated(CollectConfig, settings, "fidelity")
    told = f"{domain}: recording {split} tasks"
    numbers, begin = range(sessions), on_stage or _unseen
    if elsewhere is None:
        with closing(Recorder([load_spec(domain)], config, seed, split)) as recorder:
            if sessions:
                yield from _counted(map(recorder.row, numbers), begin(told, "sessions", sessions))
    elif sessions:
        tally = begin(told, "sessions", sessions)
        there = recorded_elsewhere([load_spec(domain)], config, seed, split, numbers, elsewhere)
        with closing(there) as rows:
            yield from _counted(rows, tally)


def _counted(rows: Iterable[Row | None], tally: Tally) -> Iterator[Row]:
    """Yield the rows that there are, and count them."""
    for row in rows:
        if row is None:
            tally.total = (tally.total or 0) - 1
            continue
        tally.ended(row.success, row.score or 0.0, len(row.actions))
        yield row


def rows_of(path: Path, domains: Sequence[str], sessions: int) -> dict[str, list[Row]]:
    """Read the first recorded sessions of some domains, or of all domains of the file where none is named.

    Sessions in another dialect than the first count apart, under a name such as `android:droidrun`.

    Raises:
        SpecError: A line is not a row, a domain has no whole session, or a session was imported, so that no grounded
            world can replay it.
    """
    rows: dict[str, list[Row]] = {name: [] for name in domains}
    own = {load_spec(name).id: name for name in domains if name.endswith((".yaml", ".yml"))}  # Rows name the id.
    others: set[str] = set()
    for row in read_rows(path):
        if row.turn_idx != row.total_turns:
            continue
        name = own.get(row.domain) or spec_source(row)
        others.add(name)
        if not domains:
            rows.setdefault(name, [])
        if name in rows and len(rows[name]) < sessions:
            if is_imported(row):
                bench = (
                    f"sessions that `agentworld collect` wrote; `agentworld eval bench {path}` measures imported ones"
                )
                raise SpecError(path, f"row {row.id}", row.provenance.source, bench)
            rows[name].append(row)
        if domains and all(len(some) >= sessions for some in rows.values()):
            break
    missing = [name for name, some in rows.items() if not some]
    if missing or not rows:
        of, found = " of " if missing else "", f", and not of {', '.join(sorted(others))}" if others else ""
        raise SpecError(path, "rows", 0, f"whole recorded sessions{of}{', '.join(missing)}{found}")
    return rows


def _unseen(stage: str, unit: str, total: int) -> Tally:
    return Tally(total)


def _ask(
    runner: EpisodeRunner,
    truth: EpisodeRunner,
    plan: FidelityPlan,
    findings: Findings,
    begin: Begin,
    check: Callable[[], None],
    there: _There | None,
) -> None:
    name = runner.spec.source
    if plan.quick:
        folder_of(runner.world)

    def checked(given: Iterable[Row]) -> Iterator[Row]:
        for row in given:
            check()
            yield row

    rows = list(checked(plan.rows))
    recorded = plan.recorded if isinstance(plan.recorded, Path) else list(checked(plan.recorded))
    if there is not None:
        _replayed_there(there, rows, plan, findings, begin(f"{name}: replaying", "sessions", len(rows)), check)
    else:
        tally = begin(f"{name}: replaying", "sessions", len(rows))
        for number, case in enumerate(cases_of(rows, truth), 1):
            findings.stale += case is None
            findings.cases += [] if case is None else [case]
            tally.reached(number, 0, {})
            check()

    def follower(what: str, unit: str, total: int, replayed: Replay) -> Callable[[int], None]:
        tally = begin(f"{name}: {what}", unit, total)

        def follow(done: int) -> None:
            if replayed.answered:
                tally.note = f"exact {replayed.exact / replayed.answered:.2f} of {replayed.answered}"
            tally.reached(done, replayed.usage.prompt_tokens + replayed.usage.completion_tokens, replayed.failures)
            check()

        return follow

    total = sum(len(case.actions) for case in findings.cases)
    if plan.quick:
        findings.taught = Replay()
        show = follower("forward", "sessions", len(findings.cases), findings.taught)
        for step in exact_steps(runner.world, findings.cases, show):
            findings.taught.add(step)
    elif there is None and isinstance(runner.world, Teachable):
        findings.taught = Replay()
        show = follower("true history", "steps", total, findings.taught)
        replay(runner, findings.cases, taught=True, wave=plan.wave, into=findings.taught, on_progress=show)
    if there is None and ((plan.free and not plan.quick) or findings.taught is None):
        findings.free = Replay()
        show = follower("own history", "steps", total, findings.free)
        replay(runner, findings.cases, taught=False, wave=plan.wave, into=findings.free, on_progress=show)
    asked = {group_of(case.row) for case in findings.cases}
    tables = _tables(runner, recorded, asked) if recorded else {}
    for who, table in tables.items():
        beside = findings.beside[who] = Beside(table.sessions, table.turns, _source(recorded), plan.saw)
        if findings.taught is not None:
            beside.taught = Replay()
            show = follower(f"{NAMES[who]}, true history", "steps", total, beside.taught)
            replay(table.runner, findings.cases, taught=True, wave=plan.wave, into=beside.taught, on_progress=show)
        if findings.free is not None:
            beside.free = Replay()
            show = follower(f"{NAMES[who]}, own history", "steps", total, beside.free)
            replay(table.runner, findings.cases, taught=False, wave=plan.wave, into=beside.free, on_progress=show)
    findings.baselines.update(_baselines(findings))
    planner = _planner(plan, runner, truth, rows)
    if planner is not None:
        direct: dict[int, dict[int, Played]] = {}

        def planned(runner: EpisodeRunner, what: str) -> Consistency:
            plans = begin(f"{name}: {what}", "plans", len(plan.plans))
            plans.watch(runner)

            def follow(_: int, total: int) -> None:
                plans.total = total
                check()

            return consistency(
                runner,
                truth,
                plan.plans,
                policy=planner,
                wave=plan.wave,
                on_progress=follow,
                direct=direct,
            )

        if there is None:
            findings.consistency = planned(runner, "plans")
        else:
            seeds = one_a_task(truth.source, plan.plans)
            tally = begin(f"{name}: plans", "tasks", len(seeds))
            findings.consistency = _planned_there(there, seeds, planner, direct, tally, check)
        for who, table in tables.items():
            findings.beside[who].consistency = planned(table.runner, f"{NAMES[who]}, plans")


def _planner(plan: FidelityPlan, runner: EpisodeRunner, truth: EpisodeRunner, rows: Sequence[Row]) -> str | None:
    """Return who draws the plans; None where there are none."""
    if not plan.plans:
        return None
    if all(truth.source.pick(seed, {}).expert for seed in plan.plans):
        return "mixed"
    if all(row.success is None for row in rows):
        logger.info("no plans: no task has an expert, and nothing tells whether one is solved")
        return None
    if plan.planner == "explore" and find_domain(truth.spec.id) is None:
        ((episode, _, _),) = runner.start([plan.plans[0]], {})
        with closing(episode.session):
            if episode.offers is None and all(map(finishes, episode.task.menu)):
                logger.info("no plans: the dream tells no actions, and its tasks have no menu")
                return None
    return plan.planner


@dataclass(frozen=True)
class _There:
    """Where a domain is measured in other processes."""

    options: EnvOptions
    """The world to judge."""

    grounded: str
    """The handle of the world to be true to."""

    elsewhere: Elsewhere
    """What does it."""


def _replayed_there(
    there: _There, rows: Sequence[Row], plan: FidelityPlan, findings: Findings, tally: Tally, check: Callable[[], None]
) -> None:
    """Replay sessions in other processes. Where that is interrupted, those that ended are kept."""
    ended: dict[int, ReplayedSession] = {}
    replays = replayed_elsewhere(there.options, there.grounded, rows, plan.free, there.elsewhere)
    try:
        with closing(replays):
            for place, one in replays:
                ended[place] = one
                tally.reached(len(ended), 0, {})
                check()
    finally:
        for _, one in sorted(ended.items()):
            if one.case is None:
                findings.stale += 1
                continue
            for kind, of in (("taught", one.taught), ("free", one.free)):
                if of is not None:
                    into = getattr(findings, kind) or Replay()
                    merged(into, of, len(findings.cases))
                    setattr(findings, kind, into)
            findings.cases.append(one.case)


def _planned_there(
    there: _There,
    seeds: Sequence[int],
    planner: str,
    direct: dict[int, dict[int, Played]],
    tally: Tally,
    check: Callable[[], None],
) -> Consistency:
    """Search plans in other processes, and enter what the search for real gave."""
    ended: dict[int, Searched] = {}
    with closing(searched_elsewhere(there.options, there.grounded, seeds, planner, there.elsewhere)) as searches:
        for place, one in searches:
            ended[place] = one
            for number, played in enumerate(one.direct):
                direct.setdefault(number, {})[seeds[place]] = played
            tally.reached(len(ended), 0, {})
            check()
    return consistency_of([one for _, one in sorted(ended.items())], planner)


def _tables(
    runner: EpisodeRunner, recorded: Sequence[Row] | Path, without: Collection[str]
) -> dict[BaselineName, Baseline]:
    """Return what recorded sessions answer by themselves, without those of some groups."""
    made: dict[BaselineName, Baseline | None] = {
        "nearest": nearest_answers(runner, recorded, without),
        "worldbook": worldbook_answers(runner, recorded, without),
    }
    return {who: table for who, table in made.items() if table is not None}


def _source(recorded: Sequence[Row] | Path) -> str:
    return str(recorded) if isinstance(recorded, Path) else "sessions recorded for this run"


def _baselines(findings: Findings) -> Iterator[tuple[str, list[MatchResult]]]:
    """Yield what the baselines answer to each step that the world was asked for; no answer is an empty one."""
    cases = findings.cases
    asked = [(number, turn) for number, case in enumerate(cases) for turn, one in enumerate(case.asked) if one]
    yield "copy", [cases[number].compare(turn, Observation(cases[number].shown_before(turn))) for number, turn in asked]
    for who, beside in findings.beside.items():
        steps = (beside.taught or beside.free or Replay()).steps
        said = {(step.case, step.turn): step.match for step in steps}
        yield who, [said.get(place) or cases[place[0]].compare(place[1], Observation("")) for place in asked]
