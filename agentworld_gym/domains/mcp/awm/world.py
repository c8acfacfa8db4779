"""The worlds of Agent World Model (arXiv 2602.10090): `world="awm:DIR"`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from agentworld_gym.base.documents.options import ExpectedValue, Options
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import Fingerprint, Part, installed
from agentworld_gym.core.actions.syntaxes import read_json
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.actions import require_repair
from agentworld_gym.domains.mcp.awm.engine.beginning import Beginning, moment_of
from agentworld_gym.domains.mcp.awm.engine.engine import AwmEngine
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine, act_all
from agentworld_gym.domains.mcp.awm.engine.meta_tools import Texts
from agentworld_gym.domains.mcp.awm.engine.process_limit import LOADED, PROCESSES, WORLDS
from agentworld_gym.domains.mcp.awm.tasks import AwmTasks, verifier_of
from agentworld_gym.worlds.concurrency import rounds

DOMAIN = "mcp"
"""The domain whose agents call tools."""

DIALECT = "awm"
"""The dialect in which agents act, and read what tools print, as those of AWM do."""


class AwmOptions(Options):
    """How the worlds of AWM are played: the option `world_options` of `gym.make`.

    >>> AwmOptions(meta_tools=True).verifier
    'code'
    """

    scenario: Annotated[str | None, ExpectedValue("the name of a scenario of AWM's")] = None
    """The only scenario whose tasks are played. None plays those of all."""

    meta_tools: Annotated[bool, ExpectedValue("True or False")] = False
    """Whether the agent has AWM's two meta tools, `list_tools` and `call_tool`, in place of the tools themselves."""

    verifier: Annotated[Literal["code", "judge"], ExpectedValue("code or judge")] = "code"
    """Who says whether a task is done, where the files leave a choice: verifiers that decide by themselves (`code`), or
    a judge who reads what the others found (`judge`). Where there is one kind only, that one says it."""

    processes: Annotated[int, Field(ge=1), ExpectedValue("an integer of at least 1")] = PROCESSES
    """How many processes there may be that play one session each, in worlds that keep something outside their database.
    Each takes about 20 MiB. Where there are more sessions, the least recently used process is ended; the calls of its
    session are made again in another one when the session goes on."""

    loaded: Annotated[int, Field(ge=1), ExpectedValue("an integer of at least 1")] = LOADED
    """How many worlds stay loaded while no session plays them. Each takes about 47 MiB; one that does not stay loaded
    is loaded again when it is played again."""

    worlds: Annotated[int, Field(ge=1), ExpectedValue("an integer of at least 1")] = WORLDS
    """How many worlds may have processes, whether they are played or not. Each takes about 47 MiB. Where sessions of
    more worlds act in turns, the processes of the least recently used world are ended; the calls of its sessions are
    made again in others when they go on."""

    now: Annotated[str, ExpectedValue("a time with its zone, such as 2027-06-01T09:00:00Z")] = Beginning().now
    """The time of the first action of an episode. Many dates in AWM's worlds lie after the usual one."""

    start: Annotated[Literal["whole", "awm"], ExpectedValue("whole or awm")] = "whole"
    """With which rows an episode begins: with all that the files say and the code makes when it is loaded (`whole`), or
    as after AWM's own reset (`awm`). That drops each row whose statement SQLite refuses and leaves out the indexes of a
    table behind one that fails. Verifiers then compare the end with the database before the code was loaded."""

    snapshots: Annotated[str | None, ExpectedValue("a folder")] = None
    """A folder in which the databases of the start and of the end are kept, for each episode that was verified."""

    @field_validator("now")
    @classmethod
    def _is_time(cls, now: str) -> str:
        moment_of(now)
        return now

    @classmethod
    def named(cls, field: str) -> str:
        """Return the name that errors have for a field."""
        return f"world_options.{field}"

    @property
    def beginning(self) -> Beginning:
        """How episodes begin."""
        return Beginning(moment_of(self.now), self.start == "awm")


@dataclass
class AwmSession:
    """One machine, with what it shows."""

    machine: AwmMachine
    """The machine."""

    observation: str
    """What the agent is shown at this moment."""

    task: Task
    """The task that the episode began with."""

    system: str = ""
    """The system prompt, which this world does not have."""

    def fork(self) -> AwmSession:
        """Return an exact copy: equal actions on both give equal observations."""
        return replace(self, machine=self.machine.fork())

    def probe(self) -> AwmSession:
        """Return a copy to test success on; no control strikes here."""
        return self.fork()

    def close(self) -> None:
        """Free the machine."""
        self.machine.close()


class AwmWorld:
    """Plays the worlds of a folder of AWM's files, and brings their tasks.

    Args:
        engine: The engine of the folder.
        spec: The domain of tool servers.
        options: How the worlds are played.

    Raises:
        SpecError: There is no such scenario, or the domain is another one.
        WorldNotConfigured: A library is missing that the dialect of AWM needs.
    """

    truth: None = None
    """The worlds are the truth themselves."""

    deterministic = True

    def __init__(self, engine: AwmEngine, spec: DomainSpec, options: AwmOptions | None = None) -> None:
        if spec.id != DOMAIN:
            raise SpecError("options", "world", f"awm:{engine.files.folder}", f"a world of {spec.env_id}")
        self.options = options or AwmOptions()
        self.engine = engine
        self._meta: Texts | None = "own" if self.options.meta_tools else None
        if spec.dialect == DIALECT:
            require_repair()
            self._meta = "awm"
        self.tasks = AwmTasks(engine, self.options.scenario, self._meta, self.options.verifier == "judge")
        self.fingerprint = Fingerprint(
            {
                "world": Part("awm", True),
                "files": Part(engine.files.digest, True),
                "spec": Part(spec.digest(), True),
                "options": Part(_describe_options(self.options), True),
                "agentworld-gym": Part(installed("agentworld-gym"), True),
                **{name: Part(version, True) for name, version in engine.libraries.versions},
                **({"json-repair": Part(installed("json-repair"), True)} if self._meta == "awm" else {}),
            }
        )
        self._verified = 0

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the libraries that the worlds' code imports."""
        return dict(self.engine.libraries.versions)

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[AwmSession | Failure]:
        """Begin one session a task.

        Raises:
            SpecError: A task is none of AWM's, or has controls, which these worlds do not act out.
        """
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> AwmSession | Failure:
        if task.controls:
            raise SpecError(f"task {task.id}", "controls", task.controls, "none: worlds of AWM do not act them out")
        name = task.state.get("scenario")
        if not isinstance(name, str):
            raise SpecError(f"task {task.id}", "state.scenario", name, "the name of a scenario of AWM")
        try:
            machine = self.engine.start(self.engine.files.find(name), seed, self._meta)
        except EngineError as error:
            return Failure(FailureKind.ENGINE, str(error))
        return AwmSession(machine, self.tasks.greeting(name), task)

    def step(self, sessions: Sequence[AwmSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Call the tools; a process gets the calls of all its sessions at once, and all processes work side by side."""
        answers: dict[int, Observation | Failure] = {}
        for indices in rounds(sessions):
            calls: dict[int, tuple[Any, bool]] = {}
            for index in indices:
                call = _call_of(actions[index])
                if call is None:
                    error = str(actions[index].error)
                    sessions[index].observation = error
                    answers[index] = Observation(error)
                else:
                    calls[index] = call
            told = act_all([sessions[index].machine for index in calls], list(calls.values()))
            for index, answer in zip(calls, told, strict=True):
                if isinstance(answer, EngineError):
                    answers[index] = Failure(FailureKind.ENGINE, str(answer))
                else:
                    text = f"Error: {answer.text}" if answer.refused and self._meta == "awm" else answer.text
                    sessions[index].observation = text
                    answers[index] = Observation(text)
        return [answers[index] for index in range(len(actions))]

    def verify(
        self, sessions: Sequence[AwmSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Run verifiers on the databases of the start and of the end; see `success_protocols.RunsSuccessCode`."""
        return [self._verify(*each) for each in zip(sessions, verifiers, answers, strict=True)]

    def _verify(self, session: AwmSession, name: str, answer: str | None) -> SuccessFinding | Failure:
        machine = session.machine
        scenario = machine.server.scenario
        try:
            final = machine.database()
            self._keep(session.task, machine.server.about.initial, final)
            verifier = verifier_of(self.engine.verifiers(scenario.name), name)
            found = self.engine.verdict(scenario.name, verifier, final, answer, machine.steps)
        except EngineError as error:
            return Failure(FailureKind.UNJUDGED, f"{scenario.name}: {error}")
        return SuccessFinding(None if found.complete is None else float(found.complete), found.evidence)

    def _keep(self, task: Task, initial: bytes, final: bytes) -> None:
        self._verified += 1
        if self.options.snapshots is None:
            return
        folder = Path(self.options.snapshots) / f"{task.id}-{self._verified}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "initial.db").write_bytes(initial)
        (folder / "final.db").write_bytes(final)

    def close(self) -> None:
        """End all processes."""
        self.engine.close()


def _describe_options(options: AwmOptions) -> str:
    """Return what the answers of a world depend on among its options; a usual beginning is left out."""
    usual = AwmOptions().beginning
    told = [f"meta_tools={options.meta_tools}"]
    told += [f"{name}={value}" for name, value in options.beginning._asdict().items() if value != getattr(usual, name)]
    return ", ".join(told)


def _call_of(action: Action) -> tuple[Any, bool] | None:
    """Return the call that an action is, and whether its arguments may not fit the tool; None where it is no call.

    A call with wrong arguments goes to the server, whose words tell what is wrong with it.
    """
    if action.error is None:
        return action.parsed, False
    with suppress(UnreadableAction):
        call = read_json(action.raw)
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            arguments = call.get("arguments", {})
            if isinstance(arguments, dict):
                return {"name": call["name"], "arguments": arguments}, True
    return None
