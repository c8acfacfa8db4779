"""Replay of recorded sessions: a world is asked for every step again, with the true history or with its own answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.checks.probes import ProbeRun, probing
from agentworld_gym.core.contracts import Failure, Observation, Teachable, Usage
from agentworld_gym.core.contracts.verdict import with_verdict
from agentworld_gym.core.flow import Flow, Work, answering_of
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.evaluation.fidelity.calibration import probability
from agentworld_gym.evaluation.fidelity.cases import LOOK, ReplayCase, probes_of, verdict_of
from agentworld_gym.kit.matching import MatchResult
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from agentworld_gym.llm.retrieval.steps import origin_of_row
from agentworld_gym.llm.rows.replayed_states import ShownStates, shown_states
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """One step that the world was asked for: how its answer compares, or why there is none."""

    case: int
    """The number of the case."""

    turn: int
    """The number of the turn, counted from 0."""

    match: MatchResult | None = None
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

    accepted: bool | None = None
    """Whether an attempt changed the world's own state where it changes nothing; None where this cannot be known."""

    refused: int = 0
    """At how many tokens constrained decoding did not allow what the model would have written."""


@dataclass
class Replay:
    """What asking a world for all steps gave."""

    steps: list[ReplayedStep] = field(default_factory=list)
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

    def add(self, step: ReplayedStep) -> None:
        """Add a step."""
        self.steps.append(step)
        if step.failure is not None:
            self.failures[step.failure] += 1
        else:
            self.answered += 1
            self.exact += bool(step.exact if step.match is None else step.match.exact)


def replay(
    runner: EpisodeRunner,
    cases: Sequence[ReplayCase],
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
        taught: Whether the true observation replaces the world's own after each step (teacher forcing).
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
            begun = runner.world.begin(tasks, [cases[place].seed for place in fresh]) if fresh else []
            works = [_CaseReplay(runner, place, cases[place], taught, into, stepped) for place in fresh]
            flow.send((one.place, one.playing(session)) for one, session in zip(works, begun, strict=True))
            flow.recv()


def replaying(runner: EpisodeRunner, case: ReplayCase, taught: bool, into: Replay) -> Work[None]:
    """Ask a world for every step of one session, the case 0, as a piece of work; see `replay`."""
    (session,) = runner.world.begin([case.task], [case.seed])
    yield from _CaseReplay(runner, 0, case, taught, into, lambda: None).playing(session)


class _CaseReplay:
    """One session that is replayed."""

    def __init__(
        self,
        runner: EpisodeRunner,
        place: int,
        case: ReplayCase,
        taught: bool,
        into: Replay,
        stepped: Callable[[], None],
    ) -> None:
        self.place = place
        self._runner, self._case, self._taught, self._into, self._stepped = runner, case, taught, into, stepped
        self._answering = answering_of(runner.world)
        self._states: ShownStates | None = None
        if taught and isinstance(runner.world, LanguageWorld) and runner.world.prompts.form == "state":
            self._states = shown_states(case.row, case.task, runner.parser)

    def playing(self, session: Any) -> Work[None]:
        """Play the turns and run the probes, as a piece of work that asks the world, and close the session."""
        case, shown = self._case, list[str]()
        probes: list[ProbeRun] | None = None
        if isinstance(session, Failure):
            self._lose(session, 0)
        else:
            if isinstance(session, LanguageSession):
                session.replays = origin_of_row(case.row)
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
        self._into.probed[self.place] = lost if probes is None else list(map(verdict_of, probes))

    def _turn(self, session: Any, turn: int) -> Work[str | None]:
        """Play a turn; return what it showed, or None where the session ends with it."""
        case, world, action = self._case, self._runner.world, self._case.actions[turn]
        answer = yield from self._answering(session, action)
        accepted = None if isinstance(answer, Failure) else self._accepted(session, turn)
        if turn in case.looked and isinstance(answer, Observation):
            answer = yield from self._looking(session, answer)
        truth = case.row.observations[turn]
        state = None if self._states is None else self._states.acted[turn]
        teachable: Teachable[Any] | None = world if isinstance(world, Teachable) else None
        shown: str | None = truth
        if isinstance(answer, Failure):
            self._into.add(ReplayedStep(self.place, turn, failure=answer.kind.value))
            self._into.usage += answer.spent
            if self._taught:
                assert teachable is not None
                teachable.accept(session, action, Observation(truth, state=state, verdict=case.row.verdict(turn)))
            else:
                self._lose(None, turn + 1)
                shown = None
        else:
            if action.error is None:
                self._keep(turn, answer, accepted)
                if self._taught and teachable is not None:
                    teachable.correct(session, truth, state, case.row.verdict(turn))
            shown = truth if self._taught else answer.text
        if self._taught and teachable is not None and turn in case.looked and self._states is not None:
            teachable.accept(session, LOOK, Observation(truth, state=self._states.seen[turn]))
        self._stepped()
        return shown

    def _looking(self, session: Any, acted: Observation) -> Work[Observation | Failure]:
        """Look at the screen after an action, as the agent did; return the answer to both."""
        looking = session.fork() if self._taught else session  # The truth replaces the action's answer.
        looked = yield from self._answering(looking, LOOK)
        if self._taught:
            looking.close()
        if isinstance(looked, Failure):
            return replace(looked, spent=acted.spent + looked.spent)
        return replace(acted, text=looked.text, lost=acted.lost + looked.spent)

    def _accepted(self, session: Any, turn: int) -> bool | None:
        """Return whether an attempt just changed the world's own state where it changes nothing."""
        row, world = self._case.row, self._runner.world
        if not row.attempts or not row.attempts[turn] or not row.fields_changed:
            return None
        answers = world.prompts.answers if isinstance(world, LanguageWorld) else None
        if not isinstance(answers, StateAnswers) or not answers.accounts:
            return None
        if row.fields_changed[turn]:
            return False
        try:
            before, after = map(answers.fields, session.states)
        except AnswerError:
            return None
        return before != after

    def _keep(self, turn: int, answer: Observation, accepted: bool | None) -> None:
        """Keep an answer and how it compares with the truth."""
        compared = self._case.compare(turn, answer)
        sure, each = probability(answer, "sequence"), probability(answer, "token")
        step = ReplayedStep(
            self.place,
            turn,
            compared,
            sequence=sure,
            token=each,
            reasks=answer.reasks,
            accepted=accepted,
            refused=answer.refused,
        )
        self._into.add(step)
        self._into.usage += answer.spent
        if not compared.deterministic:
            said = answer.text if answer.verdict is None else with_verdict(answer.text, answer.verdict)
            self._into.wrong[self.place, turn] = said

    def _lose(self, failure: Failure | None, turn: int) -> None:
        """Count the steps that a failure leaves unplayed."""
        left = sum(self._case.asked[turn:])
        if failure is not None and left:
            self._into.add(ReplayedStep(self.place, turn, failure=failure.kind.value))
            left -= 1
        self._into.lost += left
