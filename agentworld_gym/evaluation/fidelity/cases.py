"""Recorded sessions, ready to be replayed: each with its task, its parsed actions and what its probes find."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.checks.probes import ProbeRun, run_probes
from agentworld_gym.core.contracts import Action, Failure, Observation
from agentworld_gym.core.contracts.verdict import with_verdict
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import SHOW_AGAIN, Sight, looks
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.kit.matching import MatchResult, match
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.worlds.recorded_tasks import has_no_system

LOOK = Action(json.dumps(SHOW_AGAIN), SHOW_AGAIN)
"""A look at the screen."""


@dataclass(frozen=True, slots=True)
class ReplayCase:
    """A recorded session, ready to be replayed."""

    row: Row
    """The session."""

    task: Task
    """Its task."""

    actions: tuple[Action, ...]
    """Its actions, parsed."""

    probed: tuple[bool | None, ...]
    """What each probe of the task found in the grounded world; None where the grounded world failed."""

    looked: frozenset[int] = frozenset()
    """The turns after which the agent looked at the screen: what that showed replaces what the action
    showed."""

    @property
    def asked(self) -> list[bool]:
        """For each turn, whether the world is asked at all: an action that cannot be read is answered before that."""
        return [action.error is None for action in self.actions]

    @property
    def seed(self) -> int:
        """The seed of the episode."""
        return self.task.seed or self.row.episode_seed or 0

    @property
    def acted(self) -> int:
        """The number of turns that the agent took; the turns after them are probes."""
        return len(self.actions) - self.row.probes

    @property
    def checks(self) -> list[int]:
        """The checks of the task that are probes, by number."""
        return [number for number, check in enumerate(self.task.success) if check.probes]

    def shown_before(self, turn: int) -> str:
        """Return the observation before a turn, counted from 0."""
        return self.row.observations[turn - 1] if turn else self.row.first_observation

    def told(self, turn: int) -> str:
        """Return what was shown after a turn, counted from 0, with what the world said of reward and end."""
        return with_verdict(self.row.observations[turn], self.row.verdict(turn))

    def repeats(self, turn: int, answer: Observation) -> bool:
        """Return whether the grounded world shows what was recorded after a turn, but for times and other metadata."""
        truth = self.row.observations[turn]
        varied = [span for span in (self.row.spans[turn] if self.row.spans else ()) if span.kind == "metadata"]
        if not varied:
            return answer.text == truth
        return match(self.row.domain, answer.text, truth, varied, self.shown_before(turn)).deterministic

    def compare(self, turn: int, answer: Observation) -> MatchResult:
        """Compare an answer to the action of a turn, counted from 0, with what was recorded; and what it says of reward
        and end, where the world that answers says something."""
        row = self.row
        spans = row.spans[turn] if row.spans else ()
        told, truth = answer.text, row.observations[turn]
        if answer.verdict is not None and row.verdicts:
            told, truth = with_verdict(told, answer.verdict), self.told(turn)
        return match(row.domain, told, truth, spans, self.shown_before(turn))


def recorded_task(row: Row, source: TaskSource) -> Task:
    """Return the task of a recorded session.

    Raises:
        SpecError: The session names no task that can be made again, as imported sessions do.
    """
    if not row.task_id:
        raise SpecError(row.id, "task_id", row.task_id, "the task of the session; a recording of `agentworld collect`")
    name = row.task_id if row.seed is None else f"{row.family}-{row.level}-{row.seed}"
    asked: dict[str, Any] = {"task": name}
    if row.controls:
        asked |= {"controls": row.controls, "control_seed": row.control_seed}
    task = source.pick(row.seed or 0, asked)
    if row.episode_seed is not None and row.split is not None and row.split != task.split:
        return task.model_copy(update={"split": row.split})  # The splits of a live world draw other seeds.
    return task


def cases_of(rows: Sequence[Row], grounded: EpisodeRunner) -> Iterator[ReplayCase | None]:
    """Replay recorded sessions in the grounded world; yield None for a session that it no longer repeats.

    Where no system can repeat them, they are taken as they are, and nobody knows what probes find.

    Raises:
        SpecError: A session has no task, or was recorded in another dialect than that of the world.
    """
    spoken = grounded.spec.dialect
    for row in rows:
        if row.dialect != spoken:
            raise SpecError(f"row {row.id}", "dialect", row.dialect, f"{spoken}, the dialect of the world")
        task = recorded_task(row, grounded.source)
        actions = tuple(grounded.parser.parse(text, task.tools) for text in row.actions)
        case = ReplayCase(row, task, actions, ())
        if has_no_system(grounded.world):
            yield replace(case, probed=(None,) * len(case.checks))
            continue
        (session,) = grounded.world.begin([task], [case.seed])
        if isinstance(session, Failure):
            yield None
            continue
        try:
            yield _replayed(case, session, grounded)
        finally:
            session.close()


def _replayed(case: ReplayCase, session: Any, grounded: EpisodeRunner) -> ReplayCase | None:
    """Return the case with what its probes find; None where a turn, of the agent or of a probe, shows something
    else.
    """
    looked: set[int] = set()
    if not _repeats(case, session, grounded, range(case.acted), looked):
        return None
    probes = probes_of(case, session, [case.row.first_observation, *case.row.observations[: case.acted]])
    run_probes(grounded.world, grounded.parser, probes, grounded.output)
    if not _repeats(case, session, grounded, range(case.acted, len(case.actions)), looked):
        return None
    return replace(case, probed=tuple(map(verdict_of, probes)), looked=frozenset(looked))


def _repeats(case: ReplayCase, session: Any, grounded: EpisodeRunner, turns: Iterable[int], looked: set[int]) -> bool:
    """Whether the grounded world shows what was recorded; adds the turns after which it took a look at the screen."""
    for turn in turns:
        (answer,) = grounded.world.step([session], [case.actions[turn]])
        if not isinstance(answer, Failure) and not case.repeats(turn, answer) and looks(case.row.domain, SHOW_AGAIN):
            looked.add(turn)
            (answer,) = grounded.world.step([session], [LOOK])
        if isinstance(answer, Failure) or not case.repeats(turn, answer):
            return False
    return True


def probes_of(case: ReplayCase, session: Any, shown: Sequence[str]) -> list[ProbeRun]:
    """Return the probes of a case's task, each on a fork of its own of a session."""
    task = case.task
    return [ProbeRun(task, task.success[n], session.probe(), Sight(task.domain, shown)) for n in case.checks]


def verdict_of(probe: ProbeRun) -> bool | None:
    """Return whether a probe found what its check expects; None where it was not answered."""
    return None if probe.score is None else probe.score >= 1.0
