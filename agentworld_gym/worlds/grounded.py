"""A world that really executes the action, in one of the engines."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from agentworld_gym.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.engines import Controls, Engine, EngineError, Machine, Probed, Testable
from agentworld_gym.engines.controls import suspended
from agentworld_gym.errors import SpecError
from agentworld_gym.fingerprint import Fingerprint
from agentworld_gym.interrupts import deferred_interrupt
from agentworld_gym.task import Task
from agentworld_gym.worlds.waves import rounds, side_by_side

logger = logging.getLogger(__name__)


@dataclass
class GroundedSession:
    """One machine and what it shows; on a `calm` one no control strikes."""

    machine: Machine
    observation: str
    system: str = ""
    calm: bool = False

    def fork(self) -> GroundedSession:
        """An exact copy: equal actions on both give equal observations."""
        return GroundedSession(self.machine.fork(), self.observation, calm=self.calm)

    def probe(self) -> GroundedSession:
        """A copy on which no control strikes, and in which an action means what it means at the start."""
        machine = self.machine.probe() if isinstance(self.machine, Probed) else self.machine.fork()
        return GroundedSession(machine, self.observation, calm=True)

    def close(self) -> None:
        """Free the machine."""
        self.machine.close()


class GroundedWorld:
    """Ground truth for one domain.

    Args:
        engine: starts a machine from a task's `state`, a seed, the task's controls and what is hidden.
        fingerprint: names the engine and its versions.
    """

    deterministic = True

    def __init__(self, engine: Engine, fingerprint: Fingerprint) -> None:
        self.engine = engine
        self.fingerprint = fingerprint

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[GroundedSession | Failure]:
        """One machine a task.

        Raises:
            SpecError: a state the engine cannot start from.
        """
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> GroundedSession | Failure:
        controls = Controls(task.controls, seed if task.control_seed is None else task.control_seed)
        try:
            with deferred_interrupt():
                machine = self.engine.start(task.state, seed, controls, task.hidden)
        except EngineError as error:
            return Failure(FailureKind.ENGINE, str(error))
        except SpecError as error:
            if not error.file.startswith("task "):
                raise
            raise SpecError(f"{error.file} of {task.id}", error.key, error.value, error.expected) from error
        return GroundedSession(machine, machine.observation)

    def step(self, sessions: Sequence[GroundedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Execute each action on its machine; where the engine allows it, no member waits for one that takes long."""
        if not getattr(self.engine, "concurrent", False):
            return [self._step(session, action) for session, action in zip(sessions, actions, strict=True)]
        answers: dict[int, Observation | Failure] = {}
        for indices in rounds(sessions):
            jobs = [partial(self._step, sessions[index], actions[index]) for index in indices]
            answers |= zip(indices, side_by_side(jobs), strict=True)
        return [answers[index] for index in range(len(actions))]

    def _step(self, session: GroundedSession, action: Action) -> Observation | Failure:
        if action.error is not None:
            session.observation = action.error
            return Observation(action.error)
        try:
            with deferred_interrupt(), suspended() if session.calm else nullcontext():
                text = session.machine.act(action.parsed)
        except EngineError as error:
            return Failure(FailureKind.ENGINE, str(error))
        except Exception as error:  # a defect of the engine costs one member, not its wave
            logger.exception("the engine failed on %r", action.raw[:200])
            return Failure(FailureKind.ENGINE, f"the engine failed: {type(error).__name__}: {error}")
        session.observation = text
        return Observation(text)

    def passes(
        self, sessions: Sequence[GroundedSession], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """Whether tests pass on each machine that can run them."""
        return [self._passes(session.machine, files) for session, files in zip(sessions, tests, strict=True)]

    def _passes(self, machine: Machine, tests: Mapping[str, str | None]) -> bool | Failure | None:
        if not isinstance(machine, Testable):
            return None
        try:
            with deferred_interrupt(), suspended():
                return machine.passes(tests)
        except EngineError as error:
            return Failure(FailureKind.ENGINE, str(error))
        except Exception as error:  # a defect of the engine costs one member, not its wave
            logger.exception("the engine failed on the tests %r", sorted(tests))
            return Failure(FailureKind.ENGINE, f"the engine failed: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Machines belong to their sessions; nothing else is held."""
