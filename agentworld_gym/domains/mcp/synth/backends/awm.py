"""AWM's form: a FastAPI app over SQLAlchemy, and verifiers in Python. It is foreign code and runs in sandboxes only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.beginning import Beginning
from agentworld_gym.domains.mcp.awm.engine.files import AwmScenario
from agentworld_gym.domains.mcp.awm.engine.machine import AwmMachine
from agentworld_gym.domains.mcp.synth.answers import block, document
from agentworld_gym.domains.mcp.synth.backends.awm_files import write_worlds
from agentworld_gym.domains.mcp.synth.backends.awm_sandbox import AwmSandboxes
from agentworld_gym.domains.mcp.synth.database import statements_of
from agentworld_gym.domains.mcp.synth.draft import BackendName, Implementation, Sketch, Solution, Solved, WorldDraft
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any
from agentworld_gym.domains.mcp.synth.machines import WorldMachine, check_calls
from agentworld_gym.domains.mcp.synth.task_validation import Prover, Verdict


class ToldMachine(AwmMachine):
    """A session whose answers tell its author what the code raised, where a client reads of an error inside only."""

    def act(self, action: Any, check: bool = True) -> str:
        """Make one call, and return what is answered, with the end of the traceback behind an error inside.

        Raises:
            EngineError: The code of the world was stopped, or ended.
        """
        text = super().act(action, check)
        return f"{text}\n{self.raised}" if self.raised else text


RESULTS = ("complete", "others")
"""What a verifier says."""


class AwmBackend:
    """Worlds in the form of AWM's files, which `world="awm:DIR"` plays.

    Raises:
        EngineError: Foreign code cannot be confined here, or a library is missing; the message says what to install.
    """

    name: BackendName = "awm"
    prefix = ""
    clock = Beginning().now

    def __init__(self) -> None:
        self._sandboxes = AwmSandboxes()

    def implementation(self, draft: WorldDraft, text: str) -> Implementation:
        """Load the app in the sandbox, compare its endpoints with the interface, and call each rightly and wrongly.

        Raises:
            Fault: The app cannot be loaded, or an endpoint is missing, differs, or does not do what its interface says.
        """
        made = Implementation(code=block(text, "python", "py"))
        _parse(made.code)
        with self.start(replace(draft, implementation=made)) as machine:
            tools = {
                tool["name"]: tool["parameters"]
                for tool in self._server(replace(draft, implementation=made)).about.tools
            }
            raise_any(list(_differences(draft.sketches, tools)))
            check_calls(machine, draft.sketches, self.prefix)
        return made

    @contextmanager
    def start(self, draft: WorldDraft) -> Iterator[WorldMachine]:
        """Start a session in the sandbox.

        Raises:
            Fault: The app cannot be loaded, or keeps something outside its database.
        """
        server = self._server(draft)
        try:
            if server.about.alone:
                raise AnswerFault(
                    f"the code keeps more than its database, or uses more than it needs: {server.about.alone[0]}"
                )
            machine = ToldMachine(server, 0)
        except EngineError as error:
            raise AnswerFault(str(error)) from error
        try:
            yield machine
        except EngineError as error:
            raise AnswerFault(str(error)) from error
        finally:
            machine.close()

    def solved(self, draft: WorldDraft, number: int, text: str) -> Solved:
        """Read the solution and the verifier of a task, and prove the task; the verifier runs in the sandbox.

        Raises:
            Fault: The solution does not work, or the verifier does not tell it from something less.
        """
        given, code = document(text, Solution), block(text, "python", "py")
        _parse(code)
        answer = given.right_answer
        initial = self._server(draft).about.initial
        with self.start(draft) as machine:
            verdict = self._verdict(code, initial)
            sentence = draft.tasks[number]
            proof = Prover(machine, self.prefix, given.solution, answer, verdict, given.free, sentence).prove()
        return Solved(
            number=number,
            solution=given.solution,
            answer=answer,
            code=code,
            free_values=proof.free_values,
            neighbours=proof.neighbours,
        )

    def write(self, folder: Path, drafts: Sequence[WorldDraft]) -> None:
        """Write all worlds into AWM's files."""
        write_worlds(folder, drafts)

    def close(self) -> None:
        """End all processes; a second call does nothing."""
        self._sandboxes.close()

    def _server(self, draft: WorldDraft) -> Any:
        code = draft.implementation.code if draft.implementation else ""
        statements = (*statements_of(draft.sql), *draft.statements)
        return self._sandboxes.server(
            AwmScenario(
                draft.name, draft.brief.title, draft.brief.description, draft.tasks, statements, (), b"", code, {}, {}
            )
        )

    def _verdict(self, code: str, initial: bytes) -> Verdict:
        return awm_verdict(self._sandboxes, code, initial)


def awm_verdict(sandboxes: AwmSandboxes, code: str, initial: bytes) -> Verdict:
    """Return a verifier in AWM's form as the checks take it.

    Args:
        sandboxes: Where it runs.
        code: The code.
        initial: The database of the start.
    """

    def missing(machine: WorldMachine, answer: str | None) -> Sequence[str]:
        try:
            returned = sandboxes.verdict(code, initial, machine.database(), answer)
        except EngineError as error:
            raise AnswerFault(str(error)) from error
        result = returned.get("result") if isinstance(returned, dict) else None
        if result not in RESULTS:
            raise AnswerFault(
                f'the verifier returned {str(returned)[:200]}, expected {{"result": "complete" or "others"}}'
            )
        return [] if result == "complete" else [f"it returned {returned}"]

    return missing


def _parse(code: str) -> None:
    """Raise a fault where code is no Python."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise AnswerFault(f"the code is no Python: {error}") from error


def _differences(sketches: Sequence[Sketch], tools: dict[str, Any]) -> Iterator[str]:
    wanted = {sketch.name: sketch.parameters for sketch in sketches}
    yield from (f"tool {name}: no endpoint has this operation_id" for name in wanted if name not in tools)
    yield from (f"endpoint {name}: it is not in the interface" for name in tools if name not in wanted)
    for name in wanted.keys() & tools.keys():
        for key, kind in (("properties", "parameters"), ("required", "required parameters")):
            mine, theirs = sorted(tools[name].get(key, ())), sorted(wanted[name].get(key, ()))
            if mine != theirs:
                given, expected = (", ".join(names) or "none" for names in (mine, theirs))
                yield f"endpoint {name}: its {kind} are {given}, expected {expected}"
