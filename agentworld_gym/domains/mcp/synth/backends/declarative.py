"""The declarative form: tools as YAML and SQL, which no answer of a model can misuse. It is safe by construction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.core.domain.task import Check, Expect
from agentworld_gym.core.engines import Scalar
from agentworld_gym.core.tasks.patterns import shows
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.scenario import ScenarioFile, ToolScenario
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.engine.tool import CallContext
from agentworld_gym.domains.mcp.engine.tool_spec import ToolSpec
from agentworld_gym.domains.mcp.synth.answers import ANSWER, document
from agentworld_gym.domains.mcp.synth.backends.scenario_files import action_text, write_scenario
from agentworld_gym.domains.mcp.synth.database import filled_image
from agentworld_gym.domains.mcp.synth.draft import (
    NOW,
    USER,
    BackendName,
    CallDraft,
    Implementation,
    Solution,
    Solved,
    WorldDraft,
)
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any, spec_errors_as_faults
from agentworld_gym.domains.mcp.synth.machines import WorldMachine, check_calls
from agentworld_gym.domains.mcp.synth.task_validation import Prover, held_at_start, verdict_of
from agentworld_gym.kit.tables.database import keys_of, open_image, tables_of
from agentworld_gym.kit.tables.row_file import RowFile
from agentworld_gym.kit.tables.word_lists import common_words


class ToolBodies(Strict):
    """The answer of the stage of implementation."""

    tools: dict[str, dict[str, Any]] = Field(min_length=1)
    """The keys `checks`, `run`, `each`, `then` and `result` of each tool, by name."""


class ExpectedAnswer(Strict):
    """A test of what the agent answered, as `agentworld_gym.core.domain.task.AnswerTest` has it, which says what is
    right.

    There are no regular expressions, for a model may write one that takes for ever; and nothing that is only forbidden,
    for any other answer would then be right.
    """

    equals: str | None = None
    """The text itself."""

    number: float | None = None
    """The only number that the text may hold."""

    tolerance: float = Field(default=0.0, ge=0)
    """How far a number may lie from the right one."""

    items: tuple[str, ...] = ()
    """The items of a list, in any order."""


class ExpectedResult(ExpectedAnswer):
    """A test of what a call shows, as `agentworld_gym.core.domain.task.Expect` has it, without regular expressions."""

    contains: str | None = None
    """A piece that the text has to hold."""

    excludes: str | None = None
    """A piece that the text must not hold."""


class SuccessProbe(Strict):
    """One test of success: a call that is made at the end with what its answer shows, or the agent's answer."""

    probe: CallDraft | None = None
    """A call of a tool that only reads."""

    has: tuple[dict[str, Scalar], ...] = ()
    """JSON objects that the answer of the call has to show, each with some of its fields."""

    lacks: tuple[dict[str, Scalar], ...] = ()
    """JSON objects that it must not show."""

    expect: ExpectedResult | None = None
    """A test of the answer as a text, instead of `has` and `lacks`."""

    answer: ExpectedAnswer | None = None
    """A test of what the agent answered."""

    weight: float = Field(default=1.0, gt=0)
    """The weight of the test."""

    def check(self, prefix: str) -> Check:
        """Return the test as a task has it.

        Raises:
            SpecError: It is neither a probe with something to expect nor a test of the answer.
        """
        data: dict[str, Any] = {"weight": self.weight}
        if self.answer is not None:
            data["answer"] = self.answer.model_dump(exclude_unset=True)
        if self.probe is not None:
            data["probe"] = action_text(self.probe, prefix)
            if self.expect is not None:
                data["expect"] = self.expect.model_dump(exclude_unset=True)
            elif self.has or self.lacks:
                data["expect"] = Expect(matches=shows(self.has, self.lacks))
        return validated(Check, data, ANSWER)


class ProbeList(Solution):
    """The answer of the stage of verifiers."""

    success: tuple[SuccessProbe, ...] = Field(min_length=1)
    """The tests of success, all of which have to hold."""


class DeclarativeBackend:
    """Worlds in the format of the scenarios that are shipped."""

    name: BackendName = "declarative"
    prefix = "{name}-"
    clock = None

    def implementation(self, draft: WorldDraft, text: str) -> Implementation:
        """Read the tools, try every statement of theirs, and call each tool once rightly and once wrongly.

        Raises:
            Fault: A tool is missing or too many, is not understood, or does not do what its interface says.
        """
        bodies = document(text, ToolBodies).tools
        wanted = {sketch.name for sketch in draft.sketches}
        faults = [f"tool {name}: it has no implementation" for name in sorted(wanted - bodies.keys())]
        raise_any([*faults, *(f"tool {name}: it is not in the interface" for name in sorted(bodies.keys() - wanted))])
        made = Implementation(tools=bodies)
        with self.start(replace(draft, implementation=made)) as machine:
            check_calls(machine, draft.sketches, self.prefix.format(name=draft.name))
        return made

    @contextmanager
    def start(self, draft: WorldDraft) -> Iterator[WorldMachine]:
        """Start a session.

        Raises:
            Fault: A tool is not understood, or one of its statements does not run.
        """
        with spec_errors_as_faults():
            service = Service.of(scenario_of(draft, Path(draft.name)))
        image = filled_image(draft.sql, draft.statements)
        machine = ToolMachine(service, image, CallContext(NOW, USER), 0)
        try:
            yield machine
        finally:
            machine.close()

    def solved(self, draft: WorldDraft, number: int, text: str) -> Solved:
        """Read the solution and the tests of a task, and prove the task.

        Raises:
            Fault: The solution does not work, or the verifier does not tell it from something less.
        """
        verifier, prefix = document(text, ProbeList), self.prefix.format(name=draft.name)
        answer = verifier.right_answer
        writing = {sketch.name for sketch in draft.sketches if sketch.writes}
        for probe in verifier.success:
            if probe.probe is not None and probe.probe.name in writing:
                raise AnswerFault(
                    f"success: the probe {probe.probe.name} changes the database; a tool that only reads is wanted"
                )
        with spec_errors_as_faults():
            checks = [probe.check(prefix) for probe in verifier.success]
        with self.start(draft) as machine:
            raise_any(held_at_start(checks, machine))
            verdict, sentence = verdict_of(checks), draft.tasks[number]
            proof = Prover(machine, prefix, verifier.solution, answer, verdict, verifier.free, sentence).prove()
        return Solved(
            number=number,
            solution=verifier.solution,
            answer=answer,
            checks=tuple(check.model_dump(exclude_defaults=True) for check in checks),
            free_values=proof.free_values,
            neighbours=proof.neighbours,
        )

    def write(self, folder: Path, drafts: Sequence[WorldDraft]) -> None:
        """Write each world as the folder of a scenario with its tasks."""
        for draft in drafts:
            write_scenario(folder / draft.name, draft, scenario_of(draft, folder / draft.name))

    def close(self) -> None:
        """Do nothing: nothing is held."""


def scenario_of(draft: WorldDraft, folder: Path) -> ToolScenario:
    """Return a draft as a scenario.

    Raises:
        SpecError: A tool is not understood.
    """
    bodies = draft.implementation.tools if draft.implementation else {}
    tools = []
    for sketch in draft.sketches:
        named = {"name": sketch.name, "description": sketch.description, "parameters": sketch.parameters}
        tools.append(validated(ToolSpec, {**bodies[sketch.name], **named}, f"{ANSWER}: {sketch.name}"))
    connection = open_image(filled_image(draft.sql, draft.statements))
    try:
        rows = tables_of(connection, keys_of(connection))
    finally:
        connection.close()
    about = ScenarioFile(title=draft.brief.title, description=draft.brief.description, now=NOW, user=USER)
    row_file = validated(RowFile, {"rows": rows, "sizes": {"small": {}, "full": {}}}, ANSWER)
    return ToolScenario(draft.name, folder, about, draft.sql, row_file, tuple(tools), common_words())
