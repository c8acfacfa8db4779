"""Aggregates the steps of a fidelity evaluation: measures by group with intervals, probes, calibration, examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, groupby, islice
from typing import Literal

from agentworld_gym.base.statistics.bootstrap import Share, interval
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.core.actions.naming import verb
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.evaluation.fidelity.baselines import share_of_errors
from agentworld_gym.evaluation.fidelity.calibration import LEAST, Measure, calibration, trusted
from agentworld_gym.evaluation.fidelity.cases import ReplayCase
from agentworld_gym.evaluation.fidelity.replay import Replay, ReplayedStep
from agentworld_gym.evaluation.results.base import excerpt
from agentworld_gym.evaluation.results.fidelity import (
    Attempts,
    BaselineFidelity,
    Calibration,
    Cell,
    Consistency,
    DomainFidelity,
    Example,
    FidelityRun,
    Measures,
    Probes,
    Trusted,
)
from agentworld_gym.kit.matching import MatchResult

EXAMPLES = 8
LAST_TURN = 12
"""The turn from which on turns are counted together."""

MOST_GROUPS = 40
"""The number of groups of each grouping that are kept, the largest ones."""

BOUNDS = (0.0, 1.0)
"""The bounds of all measures of a match."""

GROUP_DRAWS = 400
"""The number of bootstrap samples for the interval of a group, of which there are many."""


BaselineName = Literal["nearest", "worldbook"]
"""What is made of recorded sessions, to stand beside the world."""


@dataclass
class Findings:
    """What was measured so far, so that an interrupted evaluation keeps it."""

    cases: list[ReplayCase] = field(default_factory=list)
    stale: int = 0
    taught: Replay | None = None
    free: Replay | None = None
    baselines: dict[str, list[MatchResult]] = field(default_factory=dict)
    consistency: Consistency | None = None
    beside: dict[BaselineName, Beside] = field(default_factory=dict)


@dataclass
class Beside:
    """What was measured of a baseline so far."""

    sessions: int
    turns: int
    source: str = ""
    saw: int | None = None
    taught: Replay | None = None
    free: Replay | None = None
    consistency: Consistency | None = None


def aggregate(runner: EpisodeRunner, findings: Findings) -> DomainFidelity:
    """Compute the result of a domain."""
    asked = [(number, turn) for number, case in enumerate(findings.cases) for turn, one in enumerate(case.asked) if one]
    first = findings.taught or findings.free or Replay()
    # The baselines are measured on the steps that the world answered.
    answered = {(step.case, step.turn) for step in first.steps if step.failure is None}
    kept = [place in answered for place in asked]
    owners = [number for number, _ in compress(asked, kept)]
    usage = (findings.taught or Replay()).usage + (findings.free or Replay()).usage
    return DomainFidelity(
        domain=runner.spec.source,
        sessions=len(findings.cases),
        steps=len(asked),
        stale=findings.stale,
        fingerprint=runner.fingerprint,
        taught=_run(findings.taught, findings.cases) if findings.taught else None,
        free=_run(findings.free, findings.cases) if findings.free else None,
        baselines={
            who: _measures(list(compress(answers, kept)), owners)
            for who, answers in findings.baselines.items()
            if owners
        },
        calibration=tuple(_calibrations(first)),
        trusted=tuple(_trusted(first)),
        consistency=findings.consistency,
        nearest=_beside(findings, findings.beside.get("nearest")),
        worldbook=_beside(findings, findings.beside.get("worldbook")),
        tokens=usage.as_dict(),
        examples=tuple(islice(_examples(first, findings.cases), EXAMPLES)),
    )


def _beside(findings: Findings, table: Beside | None) -> BaselineFidelity | None:
    if table is None:
        return None
    pairs = {"true history": (findings.taught, table.taught), "own history": (findings.free, table.free)}
    found = {name: share_of_errors(world, beside) for name, (world, beside) in pairs.items() if world and beside}
    first = table.taught or table.free or Replay()
    return BaselineFidelity(
        sessions=table.sessions,
        turns=table.turns,
        source=table.source,
        saw=table.saw,
        taught=_run(table.taught, findings.cases) if table.taught else None,
        free=_run(table.free, findings.cases) if table.free else None,
        consistency=table.consistency,
        errors={name: share for name, share in found.items() if share is not None},
        trusted=tuple(_trusted(first)),
    )


def _run(walked: Replay, cases: Sequence[ReplayCase]) -> FidelityRun:
    # The order does not depend on how the steps were asked for, so that equal answers have equal intervals.
    steps = sorted(walked.steps, key=lambda step: (step.case, step.turn))
    answered = [step for step in steps if step.failure is None]
    kinds: dict[str, tuple[list[bool], list[int]]] = {}
    for step in answered:
        for kind, right in (step.match.kinds if step.match else {}).items():
            rights, sessions = kinds.setdefault(kind, ([], []))
            rights.append(right)
            sessions.append(step.case)
    return FidelityRun(
        measures=_of_steps(answered) if answered else None,
        failures=dict(Counter(step.failure for step in walked.steps if step.failure)),
        lost=walked.lost,
        whole=_whole(steps, cases),
        reasked=sum(step.reasks > 0 for step in answered),
        constrained=sum(step.refused > 0 for step in answered),
        kinds={kind: interval(*kinds[kind]) for kind in sorted(kinds)},
        groups={name: _cells(answered, cases, of) for name, of in GROUPINGS.items()},
        attempts=_attempts(steps, cases),
        probes=_probes(walked.probed, cases),
    )


def _whole(steps: Sequence[ReplayedStep], cases: Sequence[ReplayCase]) -> Share | None:
    """Return the share of the sessions that were begun of which every step is answered and right."""
    right = Counter(step.case for step in steps if (step.match.deterministic if step.match else step.exact))
    begun = dict.fromkeys(step.case for step in steps)
    return proportion([right[number] == sum(cases[number].asked) for number in begun]) if begun else None


def _of_steps(steps: Sequence[ReplayedStep]) -> Measures:
    matches, owners = [step.match for step in steps if step.match], [step.case for step in steps]
    if matches:
        return _measures(matches, owners)
    exact = interval([bool(step.exact) for step in steps], owners)
    return Measures(exact=exact, deterministic=exact)


def _measures(matches: Sequence[MatchResult], owners: Sequence[int]) -> Measures:
    def share(of: Callable[[MatchResult], float]) -> Share:
        return interval([of(one) for one in matches], owners, bounds=BOUNDS)

    trees = [(one.tree, owner) for one, owner in zip(matches, owners, strict=True) if one.tree is not None]
    return Measures(
        exact=share(lambda one: one.exact),
        deterministic=share(lambda one: one.deterministic),
        normalised=share(lambda one: one.normalised),
        similarity=share(lambda one: one.similarity),
        valid=share(lambda one: one.valid),
        tree=interval([tree for tree, _ in trees], [owner for _, owner in trees], bounds=BOUNDS) if trees else None,
    )


def _cells(
    steps: Sequence[ReplayedStep], cases: Sequence[ReplayCase], of: Callable[[ReplayCase, int], str]
) -> dict[str, Cell]:
    groups: dict[str, list[ReplayedStep]] = {}
    for step in steps:
        groups.setdefault(of(cases[step.case], step.turn), []).append(step)
    largest = sorted(groups, key=lambda name: -len(groups[name]))[:MOST_GROUPS]
    cells = {}
    for name in sorted(largest, key=_order):
        owners = [step.case for step in groups[name]]
        exact = [step.match.exact if step.match else bool(step.exact) for step in groups[name]]
        ruled = [step.match.deterministic if step.match else bool(step.exact) for step in groups[name]]
        cells[name] = Cell(
            exact=interval(exact, owners, draws=GROUP_DRAWS),
            deterministic=interval(ruled, owners, draws=GROUP_DRAWS),
        )
    return cells


def _order(name: str) -> tuple[int, str]:
    """Numbers by value, then words.

    >>> sorted(["5+", "10", "2–4", "none", "0"], key=_order)
    ['0', '2–4', '5+', '10', 'none']
    """
    digits = name.rstrip("+").partition("–")[0]
    return (int(digits), name) if digits.isdecimal() else (1 << 30, name)


def _attempt(case: ReplayCase, turn: int) -> str:
    return case.row.attempts[turn] if case.row.attempts else ""


def _attempts(steps: Sequence[ReplayedStep], cases: Sequence[ReplayCase]) -> dict[str, Attempts]:
    """Count attempts, all of them and by kind."""
    kinds: dict[str, list[ReplayedStep]] = {}
    for step in steps:
        if kind := _attempt(cases[step.case], step.turn):
            kinds.setdefault(kind, []).append(step)
    every = {"all": [step for some in kinds.values() for step in some]} if kinds else {}
    return {kind: _attempted(some) for kind, some in (every | dict(sorted(kinds.items()))).items()}


def _attempted(steps: Sequence[ReplayedStep]) -> Attempts:
    right = [step.match.deterministic if step.match else bool(step.exact) for step in steps]
    known = [step.accepted for step in steps if step.accepted is not None]
    return Attempts(
        equal=interval(right, [step.case for step in steps], draws=GROUP_DRAWS),
        failures=sum(step.failure is not None for step in steps),
        accepted=sum(known) if known else None,
    )


def _changed(case: ReplayCase, turn: int) -> str:
    if not case.row.fields_changed:
        return "unknown"
    count = case.row.fields_changed[turn]
    return str(count) if count < 2 else "2–4" if count < 5 else "5+"


GROUPINGS: Mapping[str, Callable[[ReplayCase, int], str]] = {
    "fields changed": _changed,
    "turn": lambda case, turn: str(turn + 1) if turn < LAST_TURN else f"{LAST_TURN + 1}+",
    "action": lambda case, turn: verb(case.row.actions[turn]),
    "policy": lambda case, turn: case.row.policy or "unknown",
    "family": lambda case, turn: case.row.family or "unknown",
    "level": lambda case, turn: str(case.row.level or "unknown"),
    "control": lambda case, turn: ", ".join(sorted(case.row.controls)) or "none",
    "attempt": lambda case, turn: _attempt(case, turn) or "none",
}
"""The groupings of steps: functions of a case and a turn that give the name of the group."""


def _probes(probed: Mapping[int, Sequence[bool | None]], cases: Sequence[ReplayCase]) -> Probes | None:
    pairs = [
        (number, dream, real)
        for number, verdicts in sorted(probed.items())
        for dream, real in zip(verdicts, cases[number].probed, strict=True)
    ]
    judged = [(number, dream, real) for number, dream, real in pairs if dream is not None and real is not None]
    if not judged:
        return None
    return Probes(
        agreement=interval([dream == real for _, dream, real in judged], [number for number, _, _ in judged]),
        both=sum(dream and real for _, dream, real in judged),
        neither=sum(not dream and not real for _, dream, real in judged),
        only_dream=sum(dream and not real for _, dream, real in judged),
        only_grounded=sum(real and not dream for _, dream, real in judged),
        failed=len(pairs) - len(judged),
    )


def _calibrations(walked: Replay) -> Iterator[Calibration]:
    answered = [(step, step.match) for step in walked.steps if step.match is not None and step.sequence is not None]
    measures: tuple[Measure, ...] = ("sequence", "token")
    for measure in measures:
        if answered:
            sure = [getattr(step, measure) for step, _ in answered]
            yield calibration(measure, sure, [one.exact for _, one in answered], [step.case for step, _ in answered])


def _trusted(walked: Replay) -> Iterator[Trusted]:
    told = [(step.sequence, step.match, step.case) for step in walked.steps if step.match and step.sequence is not None]
    sure, right, owners = ([one[0] for one in told], [one[1].deterministic for one in told], [one[2] for one in told])
    for least in LEAST if told else ():
        yield trusted(sure, right, owners, least)


def _examples(walked: Replay, cases: Sequence[ReplayCase]) -> Iterator[Example]:
    """Yield the first wrong step of each session."""
    for number, places in groupby(sorted(walked.wrong), key=lambda place: place[0]):
        place = next(places)
        case, turn = cases[number], place[1]
        yield Example(
            session=case.row.id,
            turn=turn + 1,
            action=excerpt(case.row.actions[turn]),
            truth=excerpt(case.told(turn)),
            predicted=excerpt(walked.wrong[place]),
        )
