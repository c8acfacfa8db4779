"""Replay of recorded sessions: a world is asked for every step again, with the true history or with its own answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from agentworld_gym.checks.probes import Probe, probing, run_probes
from agentworld_gym.contracts import Action, Failure, Observation, Teachable, Usage
from agentworld_gym.domain.ledger_check import LedgerCheck
from agentworld_gym.domain.task import Task
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.errors import SpecError
from agentworld_gym.evaluation.fidelity.calibration import probability
from agentworld_gym.flow import Flow, Work, answering_of
from agentworld_gym.matching import Match, match
from agentworld_gym.screens.sight import SHOW_AGAIN, Sight, looks
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.shown_states import shown_states
from agentworld_gym.tasks.source import TaskSource
from agentworld_gym.worlds.language import LanguageWorld

_VERB = re.compile(r"[\w.\-]+")
_LOOK = Action(json.dumps(SHOW_AGAIN), SHOW_AGAIN)


@dataclass(frozen=True, slots=True)
class Case:
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
    """The turns after which the agent looked at the screen: what that showed stands in the place of what the action
    showed."""

    @property
    def asked(self) -> list[bool]:
        """For each turn, whether the world is asked at all: an action that cannot be read is answered before that."""
        return [action.error is None for action in self.actions]

    @property
    def acted(self) -> int:
        """The number of turns that the agent took; the turns after them are probes."""
        return len(self.actions) - self.row.probes

    @property
    def checks(self) -> list[int]:
        """The checks of the task that are probes, by number."""
        return [number for number, check in enumerate(self.task.success) if check.probes]

    def compare(self, turn: int, text: str) -> Match:
        """Compare an answer to the action of a turn, counted from 0, with what was recorded."""
        row = self.row
        before = row.observations[turn - 1] if turn else row.first_observation
        return match(row.domain, text, row.observations[turn], row.spans[turn] if row.spans else (), before)


@dataclass(frozen=True, slots=True)
class Step:
    """One step that the world was asked for: how its answer compares, or why there is none."""

    case: int
    """The number of the case."""

    turn: int
    """The number of the turn, counted from 0."""

    match: Match | None = None
    """How the answer compares; None where there is no answer, or only its exactness is known."""

    exact: bool | None = None
    """Whether the answer is exact, where a forward pass tells no more."""

    failure: str | None = None
    """The kind of failure, where there is no answer."""

    sequence: float | None = None
    """The probability that the model gives the whole answer."""

    token: float | None = None
    """The geometric mean of the probabilities that the model gives the answer's tokens."""

    reasks: int = 0
    """How many answers before this one could not be read."""

    refused: int = 0
    """At how many tokens constrained decoding did not allow what the model would have written."""

    ledger: LedgerCheck | None = None
    """What is wrong with the ledger beside its history; None where none is kept."""

    ledger_exact: bool | None = None
    """Whether the ledger is the true one; None where none is kept, or the recording does not tell."""


@dataclass
class Replay:
    """What asking a world for all steps gave."""

    steps: list[Step] = field(default_factory=list)
    """The steps."""

    probed: dict[int, list[bool | None]] = field(default_factory=dict)
    """What each of a case's probes found, by case; None where the world failed, then or on the way."""

    wrong: dict[tuple[int, int], str] = field(default_factory=dict)
    """The wrong answers, by case and turn."""

    usage: Usage = field(default_factory=Usage)
    """The tokens that were spent."""

    lost: int = 0
    """The number of steps that a failure left unplayed."""

    answered: int = 0
    """The number of steps that were answered."""

    exact: int = 0
    """The number of answers that are exact."""

    failures: Counter[str] = field(default_factory=Counter)
    """The number of steps that failed, by kind."""

    def add(self, step: Step) -> None:
        """Add a step."""
        self.steps.append(step)
        if step.failure is not None:
            self.failures[step.failure] += 1
        else:
            self.answered += 1
            self.exact += bool(step.exact if step.match is None else step.match.exact)


def verb(action: str) -> str:
    """Return what an action does in one word: its tool, its type, or its first word.

    >>> verb('{"name": "read_file", "arguments": "{}"}'), verb('{"action_type": "click", "index": 3}')
    ('read_file', 'click')
    >>> verb("ls -la"), verb("browser.click(ref='e1')"), verb('[{"keystrokes": "cat a.txt\\\\n"}]'), verb("")
    ('ls', 'browser.click', 'cat', 'none')
    """
    text = action
    if action.lstrip().startswith(("{", "[")):
        try:
            value: Any = json.loads(action)
        except ValueError:
            value = None
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, dict):
            text = str(value.get("name") or value.get("action_type") or value.get("keystrokes") or "")
    word = _VERB.search(text)
    return word[0] if word else "none"


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
    return source.pick(row.seed or 0, asked)


def cases_of(rows: Sequence[Row], grounded: EpisodeRunner) -> Iterator[Case | None]:
    """Replay recorded sessions in the grounded world; yield None for a session that it no longer repeats.

    Raises:
        SpecError: A session has no task, or was recorded in another dialect than that of the world.
    """
    spoken = grounded.spec.dialect
    for row in rows:
        if row.dialect != spoken:
            raise SpecError(f"row {row.id}", "dialect", row.dialect, f"{spoken}, the dialect of the world")
        task = recorded_task(row, grounded.source)
        actions = tuple(grounded.parser.parse(text, task.tools) for text in row.actions)
        case = Case(row, task, actions, ())
        (session,) = grounded.world.begin([task], [task.seed or 0])
        if isinstance(session, Failure):
            yield None
            continue
        try:
            yield _replayed(case, session, grounded)
        finally:
            session.close()


def _replayed(case: Case, session: Any, grounded: EpisodeRunner) -> Case | None:
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
    return replace(case, probed=tuple(map(_verdict, probes)), looked=frozenset(looked))


def _repeats(case: Case, session: Any, grounded: EpisodeRunner, turns: Iterable[int], looked: set[int]) -> bool:
    """Whether the grounded world shows what was recorded; adds the turns after which it took a look at the screen."""
    for turn in turns:
        truth = case.row.observations[turn]
        (answer,) = grounded.world.step([session], [case.actions[turn]])
        if not isinstance(answer, Failure) and answer.text != truth and looks(case.row.domain, SHOW_AGAIN):
            looked.add(turn)
            (answer,) = grounded.world.step([session], [_LOOK])
        if isinstance(answer, Failure) or answer.text != truth:
            return False
    return True


def probes_of(case: Case, session: Any, shown: Sequence[str]) -> list[Probe]:
    """Return the probes of a case's task, each on a fork of its own of a session."""
    task = case.task
    return [Probe(task, task.success[n], session.probe(), Sight(task.domain, shown)) for n in case.checks]


def replay(
    runner: EpisodeRunner,
    cases: Sequence[Case],
    *,
    taught: bool,
    wave: int,
    into: Replay,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Ask a world for every step of some sessions.

    Each session goes on as its own answer comes, and as one ends the next takes its place.

    Args:
        runner: The world.
        cases: The sessions.
        taught: Whether the true observation takes the place of the world's own after each step (teacher forcing).
            Otherwise the world reads what it said itself, and a session ends where it fails.
        wave: The number of sessions that are replayed at a time.
        into: The replay that is filled, so that an interrupted one keeps what it has.
        on_progress: A function that is called with the number of steps that are over.
    """
    done = 0

    def stepped() -> None:
        nonlocal done
        done += 1
        if on_progress:
            on_progress(done)

    waiting = iter(range(len(cases)))
    with closing(Flow[None]()) as flow:
        while (fresh := list(islice(waiting, wave - flow.under_way))) or flow.under_way:
            tasks = [cases[place].task for place in fresh]
            begun = runner.world.begin(tasks, [task.seed or 0 for task in tasks]) if fresh else []
            works = [_CaseReplay(runner, place, cases[place], taught, into, stepped) for place in fresh]
            flow.send((one.place, one.playing(session)) for one, session in zip(works, begun, strict=True))
            flow.recv()


class _CaseReplay:
    """One session that is replayed."""

    def __init__(
        self,
        runner: EpisodeRunner,
        place: int,
        case: Case,
        taught: bool,
        into: Replay,
        stepped: Callable[[], None],
    ) -> None:
        self.place = place
        self._runner, self._case, self._taught, self._into, self._stepped = runner, case, taught, into, stepped
        self._answering = answering_of(runner.world)
        self._states: Sequence[str] | None = None
        if taught and isinstance(runner.world, LanguageWorld) and runner.world.prompts.form == "state":
            self._states = shown_states(case.row, case.task, runner.parser)

    def playing(self, session: Any) -> Work[None]:
        """Play the turns and run the probes, as a piece of work that asks the world, and close the session."""
        case, shown = self._case, list[str]()
        probes: list[Probe] | None = None
        if isinstance(session, Failure):
            self._lose(session, 0)
        else:
            try:
                shown.append(session.observation)
                for turn in range(len(case.actions) + 1):
                    if turn == case.acted:
                        probes = probes_of(case, session, shown)
                    if turn == len(case.actions) or (text := (yield from self._turn(session, turn))) is None:
                        break
                    shown.append(text)
                world, parser, output = self._runner.world, self._runner.parser, self._runner.output
                yield [probing(world, parser, probe, output) for probe in probes or ()]
            finally:
                session.close()
                for probe in probes or ():
                    probe.session.close()
        for probe in probes or ():
            self._into.usage += probe.usage
        lost: list[bool | None] = [None] * len(case.checks)
        self._into.probed[self.place] = lost if probes is None else list(map(_verdict, probes))

    def _turn(self, session: Any, turn: int) -> Work[str | None]:
        """Play a turn; return what it showed, or None where the session ends with it."""
        case, world, action = self._case, self._runner.world, self._case.actions[turn]
        answer = yield from self._answering(session, action)
        if turn in case.looked and isinstance(answer, Observation):
            answer = yield from self._looking(session, answer)
        truth, ledger = case.row.observations[turn], self._ledger(session, turn) if self._taught else ""
        state = None if self._states is None else self._states[turn + 1]
        teachable: Teachable[Any] | None = world if isinstance(world, Teachable) else None
        shown: str | None = truth
        if isinstance(answer, Failure):
            self._into.add(Step(self.place, turn, failure=answer.kind.value))
            self._into.usage += answer.spent
            if self._taught:
                assert teachable is not None
                teachable.accept(session, action, Observation(truth, ledger=ledger, state=state))
            else:
                self._lose(None, turn + 1)
                shown = None
        else:
            if action.error is None:
                self._keep(session, turn, answer)
                if self._taught and teachable is not None:
                    teachable.correct(session, truth, ledger, state)
            shown = truth if self._taught else answer.text
        self._stepped()
        return shown

    def _looking(self, session: Any, acted: Observation) -> Work[Observation | Failure]:
        """Look at the screen after an action, as the agent did; return the answer to both."""
        looking = session.fork() if self._taught else session  # The truth takes the place of the action's answer.
        looked = yield from self._answering(looking, _LOOK)
        if self._taught:
            looking.close()
        if isinstance(looked, Failure):
            return replace(looked, spent=acted.spent + looked.spent)
        return replace(acted, text=looked.text, lost=acted.lost + looked.spent)

    def _ledger(self, session: Any, turn: int) -> str:
        """Return what the world's ledger has to say of a turn, if it keeps one."""
        row, world = self._case.row, self._runner.world
        return world.ledger(session, row.changes[turn]) if row.changes and isinstance(world, LanguageWorld) else ""

    def _keep(self, session: Any, turn: int, answer: Observation) -> None:
        """Keep an answer and how it compares with the truth."""
        compared = self._case.compare(turn, answer.text)
        sure, each = probability(answer, "sequence"), probability(answer, "token")
        step = Step(
            self.place,
            turn,
            compared,
            sequence=sure,
            token=each,
            reasks=answer.reasks,
            refused=answer.refused,
            ledger=answer.ledger_check,
        )
        if answer.ledger_check is not None and self._case.row.changes:
            step = replace(step, ledger_exact=answer.ledger == self._ledger(session, turn))
        self._into.add(step)
        self._into.usage += answer.spent
        if not compared.deterministic:
            self._into.wrong[self.place, turn] = answer.text

    def _lose(self, failure: Failure | None, turn: int) -> None:
        """Count the steps that a failure leaves unplayed."""
        left = sum(self._case.asked[turn:])
        if failure is not None and left:
            self._into.add(Step(self.place, turn, failure=failure.kind.value))
            left -= 1
        self._into.lost += left


def _verdict(probe: Probe) -> bool | None:
    return None if probe.score is None else probe.score >= 1.0
