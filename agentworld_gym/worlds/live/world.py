"""A grounded world over a user's own system."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.base.fingerprint import Fingerprint, Part, digest_of, installed
from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import RUN, Task
from agentworld_gym.core.engines import Controls, EngineError, Inspected, Machine
from agentworld_gym.core.flow import Request, Work
from agentworld_gym.kit.live import LiveMachine
from agentworld_gym.kit.live.pool import STARTS
from agentworld_gym.worlds.concurrency import AT_ONCE, SideBySide, side_by_side
from agentworld_gym.worlds.dreamed import Opening
from agentworld_gym.worlds.grounded import GroundedSession, GroundedWorld, defect, failed
from agentworld_gym.worlds.live.engines import LiveEngines, state_of
from agentworld_gym.worlds.live.tasks import LiveTasks


class LiveWorld(GroundedWorld):
    """The ground truth is a system that runs: its episodes are sessions of it, and its tasks come with it.

    Args:
        engines: The systems.
        spec: The domain.

    Raises:
        EngineError: The system cannot be started.
    """

    truth: None = None
    """It is the truth itself."""

    _acting = staticmethod(nullcontext)
    """Nobody has to wait for a system that hangs: a machine whose action is interrupted is lost."""

    _at_once = AT_ONCE

    def __init__(self, engines: LiveEngines, spec: DomainSpec) -> None:
        self.engines, self.tasks = engines, LiveTasks(engines, spec)
        usual = engines.usual
        about = {} if usual is None else usual.about().parts
        given = {} if engines.source is None else dict(engines.source.data)
        fingerprint = Fingerprint(
            {
                "world": Part("live", True),
                "engine": Part(spec.id, True),
                "live": Part(digest_of(_decisive(given)), False),
                "spec": Part(spec.digest(), True),
                "agentworld-gym": Part(installed("agentworld-gym"), True),
                **{f"live {name}": Part(value, False) for name, value in about.items()},
            }
        )
        super().__init__(_NoEngine(), fingerprint, spec)
        self._concurrent = True
        self._side_by_side: Any = SideBySide()
        self.deterministic = usual is not None and usual.config.deterministic

    @property
    def scarce(self) -> bool:
        """Whether a system has too few sessions for an episode and the next one in its place at a time."""
        return self.engines.scarce

    @property
    def versions(self) -> dict[str, str]:
        """The versions that the system tells of itself."""
        usual = self.engines.usual
        return {} if usual is None else dict(usual.about().parts)

    def told(self, task: Task) -> Task:
        """Return a task as a language world is told of it: without the files that are too much for a prompt."""
        return self.tasks.told(task)

    def pays(self, task: Task) -> bool:
        """Return whether the system of a task pays for steps and ends its episodes itself."""
        return self.engines.of(task).pays

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[GroundedSession | Failure]:
        """Start one session a task, side by side.

        Raises:
            SpecError: The system cannot start from the state of a task.
        """
        begun: list[GroundedSession] = []

        def begin(task: Task, seed: int) -> GroundedSession | Failure:
            session = self._begin(task, seed)
            begun.extend([] if isinstance(session, Failure) else [session])
            return session

        try:
            jobs = [partial(begin, *one) for one in zip(tasks, seeds, strict=True)]
            return side_by_side(jobs, AT_ONCE) if jobs else []
        except BaseException:
            for session in begun:
                session.close()
            raise

    def offers(self, task: Task, screen: str) -> tuple[str, ...] | None:
        """Return the actions that can be done, where the screen tells them; None where it does not."""
        engine = self.engines.of(task)
        return engine.offers(screen, task.instruction if engine.pays else "")

    def opened(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[Opening | Failure]:
        """Return how the episodes of some seeds begin, for a dream of them.

        Only as many sessions as start at a time are open at a time: the dream does not need them any more.
        """
        opened: list[Opening | Failure] = [Opening(task) for task in tasks]
        open_ended = [place for place, task in enumerate(tasks) if task.first_observation is None]
        for first in range(0, len(open_ended), STARTS):
            places = open_ended[first : first + STARTS]
            begun = self.begin([tasks[place] for place in places], [seeds[place] for place in places])
            for place, session in zip(places, begun, strict=True):
                opened[place] = session if isinstance(session, Failure) else _opening(tasks[place], session)
        return opened

    def _start(self, task: Task, seed: int) -> Machine | Failure:
        engine = self.engines.of(task)
        controls = self._controls(task, seed)
        return self._started(task, partial(engine.start, state_of(task), seed, controls, task.hidden, task.split))

    def answering(self, session: GroundedSession, action: Action) -> Work[Observation | Failure]:
        """Answer one action as a piece of work, so that no member waits for a slow one."""
        job: Any = partial(self._step, session, action)
        answer: Observation | Failure = yield Request(self._side_by_side, job)
        return answer

    def _controls(self, task: Task, seed: int) -> Controls:
        return Controls(task.controls, task.control_seed_in(seed))

    def _step(self, session: GroundedSession, action: Action) -> Observation | Failure:
        if action.error is not None:
            meant = self.engines.of(session.task).misread(action.raw)
            if meant is not None:  # The system's own words tell what is wrong.
                action = replace(action, parsed=meant, error=None)
        answer = super()._step(session, action)
        return answer if isinstance(answer, Failure) else replace(answer, offers=session.offers)

    def _act(self, machine: Machine, action: Action) -> Observation | Failure:
        answer = super()._act(machine, action)
        if isinstance(answer, Failure) or not isinstance(machine, LiveMachine):
            return answer
        return replace(answer, verdict=machine.verdict)

    def verify(
        self, sessions: Sequence[GroundedSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Run the commands of checks; see `agentworld_gym.core.checks.success_protocols.RunsSuccessCode`."""
        jobs = [partial(self._verify, *one) for one in zip(sessions, verifiers, strict=True)]
        return side_by_side(jobs, AT_ONCE) if jobs else []

    def _verify(self, session: GroundedSession, verifier: str) -> SuccessFinding | Failure:
        command = verifier.removeprefix(RUN)
        if command == verifier or not isinstance(session.machine, Inspected):
            return Failure(FailureKind.UNJUDGED, f"a live world runs commands (run: ...), and no verifier {verifier!r}")
        try:
            with deferred_interrupt():
                found = session.machine.inspect(command)
        except EngineError as error:
            return failed(error)
        except AgentWorldError:
            raise
        except Exception as error:  # A defect of the system's check costs one member, not its wave.
            return defect(f"in the check {command[:200]!r}", error)
        return SuccessFinding(float(found.passed), found.output)

    def collateral(self, sessions: Sequence[GroundedSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return None for each session whose system does not tell its state; see `GroundedWorld.collateral`."""
        known = [session for session in sessions if _knows_state(session.machine)]
        found = dict(zip(map(id, known), super().collateral(known), strict=True))
        return [found.get(id(session)) for session in sessions]

    def close(self) -> None:
        """End all systems."""
        self.engines.close()


def _opening(task: Task, session: GroundedSession) -> Opening:
    """Return how an episode of a task begins, and end its session."""
    with closing(session):
        asked = session.instruction or task.instruction
        told = {"first_observation": session.observation, "instruction": asked}
        return Opening(task.model_copy(update=told), session.offers)


def _knows_state(machine: Machine) -> bool:
    """Return whether a machine tells its state, so that an expert is worth a session of its own."""
    return not isinstance(machine, LiveMachine) or bool(machine.state())


def _decisive(given: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a configuration that decide what its system shows."""
    return {
        key: value
        for key, value in given.items()
        if key not in ("ahead", "sessions", "tasks", "masks", "deterministic")
    }


class _NoEngine:
    """Stands where a grounded world has its only engine: a live one has one for each system."""

    def start(self, *_: object) -> Machine:
        """Refuse."""
        raise EngineError("a live world starts its machines by task")
