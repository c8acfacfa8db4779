"""A world that really executes its actions, in one of the engines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.checks.collateral import EpisodeStates, Rules, State, changes_of, collateral
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Instructing, Observation, Offering
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import (
    ComparingEngine,
    ConcurrentEngine,
    Controls,
    Engine,
    EngineError,
    Machine,
    Multilingual,
    Probed,
    Restorable,
    Testable,
    last_state,
)
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.screens import translation_of
from agentworld_gym.core.screens.protocols import Pictured
from agentworld_gym.worlds.concurrency import rounds, side_by_side
from agentworld_gym.worlds.expert_states import ExpertStates

logger = logging.getLogger(__name__)


@dataclass
class GroundedSession:
    """One machine, with what it shows and how it began."""

    machine: Machine
    """The machine of the domain's engine."""

    observation: str
    """What the agent is shown at this moment."""

    task: Task
    """The task that the episode began with."""

    seed: int
    """The seed that the episode began with."""

    system: str = ""
    """The system prompt, which a grounded world does not have."""

    calm: bool = False
    """Whether controls are suspended."""

    dialect: str = ""
    """The dialect in which the agent is shown observations; an empty one is the first of the domain."""

    @property
    def in_first_dialect(self) -> str:
        """What the machine shows at this moment, in the first dialect of the domain."""
        return self.machine.observation if self.dialect else self.observation

    @property
    def offers(self) -> tuple[str, ...] | None:
        """The actions that can be done at this moment; None where the machine does not tell them."""
        return self.machine.offers if isinstance(self.machine, Offering) else None

    @property
    def instruction(self) -> str | None:
        """What the agent is asked to do; None where the machine leaves that to the task."""
        return self.machine.instruction if isinstance(self.machine, Instructing) else None

    @property
    def visible_state(self) -> str | None:
        """The structured state that a view reads at this moment, as JSON; None where the engine has none."""
        return compact(self.machine.visible_state()) if isinstance(self.machine, Restorable) else None

    def fork(self) -> GroundedSession:
        """Return an exact copy: equal actions on both give equal observations."""
        return replace(self, machine=self.machine.fork())

    def probe(self) -> GroundedSession:
        """Return a copy on which no control strikes, and in which an action means what it meant at the start."""
        machine = self.machine.probe() if isinstance(self.machine, Probed) else self.machine.fork()
        return replace(self, machine=machine, calm=True, dialect="", observation=self.in_first_dialect)

    def screenshot(self) -> bytes | None:
        """Return the machine's own picture, as PNG; None where the machine makes none."""
        return self.machine.screenshot() if isinstance(self.machine, Pictured) else None

    def close(self) -> None:
        """Free the machine."""
        self.machine.close()


class GroundedWorld:
    """The ground truth of one domain.

    Args:
        engine: The engine, which starts a machine from a task's `state`, a seed, the task's controls and what is
            hidden.
        fingerprint: The fingerprint, which names the engine and its versions.
        spec: The domain, which says how its actions are read and what of an outcome is free.
    """

    deterministic = True

    _acting: Callable[[], AbstractContextManager[None]] = staticmethod(deferred_interrupt)
    """What surrounds an action; a Ctrl-C in its middle would be lost, or leave the engine broken."""

    _at_once = 1
    """How many threads a wave begins with, where its machines can act side by side; an engine computes."""

    def __init__(self, engine: Engine, fingerprint: Fingerprint, spec: DomainSpec) -> None:
        self.engine = engine
        self.fingerprint = fingerprint
        self.spec = spec
        self._concurrent = isinstance(engine, ConcurrentEngine) and engine.concurrent
        self._experts = ExpertStates(ActionParser(spec), self._start, self._act)

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[GroundedSession | Failure]:
        """Start one machine a task.

        Raises:
            SpecError: The engine cannot start from the state of a task.
        """
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> GroundedSession | Failure:
        machine = self._start(task, seed)
        if isinstance(machine, Failure):
            return machine
        if self.spec.speaks_first_dialect:
            return GroundedSession(machine, machine.observation, task, seed)
        if not isinstance(machine, Multilingual):
            machine.close()
            raise SpecError(self.spec.path, "dialect", self.spec.dialect, "one that the grounded world speaks")
        shown = machine.observation_in(self.spec.dialect)
        return GroundedSession(machine, shown, task, seed, dialect=self.spec.dialect)

    def _start(self, task: Task, seed: int) -> Machine | Failure:
        controls = Controls(task.controls, task.control_seed_in(seed))
        return self._started(task, partial(self.engine.start, task.state, seed, controls, task.hidden))

    def _started(self, task: Task, start: Callable[[], Machine]) -> Machine | Failure:
        """Return the machine that a function starts for a task, or why it starts none."""
        try:
            with deferred_interrupt():
                return start()
        except EngineError as error:
            return failed(error)
        except SpecError as error:
            if not error.file.startswith("task "):
                raise
            raise SpecError(f"{error.file} of {task.id}", error.key, error.value, error.expected) from error
        except (AgentWorldError, ImportError):
            raise
        except Exception as error:
            return defect(f"at the start of task {task.id}", error)

    def step(self, sessions: Sequence[GroundedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Execute each action on its machine; where the engine allows it, no member waits for a slow one."""
        if not self._concurrent:
            return [self._step(session, action) for session, action in zip(sessions, actions, strict=True)]
        answers: dict[int, Observation | Failure] = {}
        for indices in rounds(sessions):
            jobs = [partial(self._step, sessions[index], actions[index]) for index in indices]
            answers |= zip(indices, side_by_side(jobs, self._at_once), strict=True)
        return [answers[index] for index in range(len(actions))]

    def _step(self, session: GroundedSession, action: Action) -> Observation | Failure:
        if action.error is not None:
            session.observation = action.error
            translation = translation_of(self.spec.id, session.dialect)
            first = None if translation is None else translation.translate(action.error, None)
            return Observation(action.error, in_first_dialect=first)
        with suspended() if session.calm else nullcontext():
            answer = self._act(session.machine, action)
        if isinstance(answer, Failure):
            return answer
        if session.dialect and isinstance(session.machine, Multilingual):
            shown = session.machine.observation_in(session.dialect)
            answer = replace(answer, text=shown, in_first_dialect=answer.text)
        session.observation = answer.text
        return answer

    def _act(self, machine: Machine, action: Action) -> Observation | Failure:
        try:
            with self._acting():
                return Observation(machine.act(action.parsed))
        except EngineError as error:
            return failed(error)
        except Exception as error:  # A defect of the engine costs one member, not its wave.
            return defect(f"on {action.raw[:200]!r}", error)

    def collateral(self, sessions: Sequence[GroundedSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return for each session where its state differs from the one that the expert of its task leaves."""
        return [
            self.collateral_of(session.task, session.seed, partial(last_state, session.machine)) for session in sessions
        ]

    def collateral_of(
        self, task: Task, seed: int, state: Callable[[], State | None]
    ) -> tuple[str, ...] | Failure | None:
        """Return where a state differs from the one that the expert of a task leaves; None where either is unknown.

        Args:
            task: The task.
            seed: The seed of the episode.
            state: The function that tells the fields of the state.

        Raises:
            AnswerError: The function raises it.
        """
        expert = self._experts.span(task, seed)
        if expert is None:
            return None
        begun = self._start(task, seed) if task.controls else None
        if isinstance(begun, Failure):
            return begun
        try:
            start = expert.start if begun is None else dict(begun.state())
            controls = (self.spec.controls[name] for name in task.controls if name in self.spec.controls)
            rules = Rules.of(self.spec.outcome, task, tuple(free for control in controls for free in control.free))
            end = state()
            if end is None:
                return None
            return collateral(self._compared(EpisodeStates(start, end)), self._compared(expert), rules)
        except EngineError as error:
            return failed(error)
        finally:
            if begun is not None:
                begun.close()

    def changed_by_expert(self, task: Task) -> list[str] | None:
        """Return the fields that the expert of a task makes, changes or removes; None where it cannot be played."""
        expert = self._experts.span(task, task.seed or 0)
        return None if expert is None else changes_of(self._compared(expert))

    def _compared(self, span: EpisodeStates) -> EpisodeStates:
        if not isinstance(self.engine, ComparingEngine):
            return span
        return EpisodeStates(self.engine.compared(span.start), self.engine.compared(span.end))

    def passes(
        self, sessions: Sequence[GroundedSession], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """Return for each session whether tests pass on its machine; None where it cannot run them."""
        return [self._passes(session.machine, files) for session, files in zip(sessions, tests, strict=True)]

    def _passes(self, machine: Machine, tests: Mapping[str, str | None]) -> bool | Failure | None:
        if not isinstance(machine, Testable):
            return None
        try:
            with deferred_interrupt(), suspended():
                return machine.passes(tests)
        except EngineError as error:
            return failed(error)
        except Exception as error:  # A defect of the engine costs one member, not its wave.
            return defect(f"on the tests {sorted(tests)!r}", error)

    def close(self) -> None:
        """Do nothing: machines belong to their sessions, and nothing else is held."""


def failed(error: EngineError) -> Failure:
    """Return the failure of a machine that cannot go on."""
    return Failure(FailureKind(error.kind), str(error))


def defect(where: str, error: Exception) -> Failure:
    """Return the failure of an engine that raised what it should not, and log where."""
    logger.error("the engine failed %s", where, exc_info=error)
    return Failure(FailureKind.ENGINE, f"the engine failed: {type(error).__name__}: {error}")
