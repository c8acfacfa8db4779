"""The stages of a world: what each asks for, and how its answer is read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel
from rapidfuzz import fuzz

from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.domains.mcp.engine.tool_validation import RESERVED
from agentworld_gym.domains.mcp.synth.answers import ANSWER, block, document
from agentworld_gym.domains.mcp.synth.backends.backend import Backend
from agentworld_gym.domains.mcp.synth.config import SynthConfig
from agentworld_gym.domains.mcp.synth.database import check_rows, check_schema, statements_of
from agentworld_gym.domains.mcp.synth.draft import (
    DatabaseSchema,
    Implementation,
    InitialRows,
    Interface,
    Sentences,
    Sketch,
    Solved,
    WorldDraft,
)
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any, spec_errors_as_faults
from agentworld_gym.domains.mcp.synth.similarity import ALIKE, Profile, nearest
from agentworld_gym.kit.tables.database import building, keys_of

SCENARIO, TASKS, SCHEMA, ROWS, INTERFACE, IMPLEMENTATION, VERIFIER = STAGES = (
    "scenario",
    "tasks",
    "schema",
    "sample data",
    "interface",
    "implementation",
    "verifier",
)
"""The stages in their order, as Agent World Model (arXiv 2602.10090) has them."""

ALIKE_TASKS = 90.0
"""From which similarity on, from 0 to 100, two tasks of a world are one."""

TASK_CHARS = 1_000
"""How long a task may be."""


@dataclass(frozen=True)
class WorldStage:
    """One stage of a world."""

    name: str
    """The name of the stage."""

    template: str
    """The template of the request."""

    kind: type[BaseModel]
    """What the stage makes."""

    made: Callable[[WorldDraft, str], BaseModel]
    """The function that makes it of an answer, and checks it.

    Raises:
        Fault: The answer does not hold what the stage asks for.
    """

    enter: Callable[[WorldDraft, Any], WorldDraft]
    """The function that enters into a draft what was made."""


class WorldStages:
    """The stages from the tasks to the implementation, and the verifier of each task.

    Args:
        backend: The form of the implementation.
        config: What a world has to have.
        others: A function that returns the profiles of the other worlds.
    """

    def __init__(
        self, backend: Backend, config: SynthConfig, others: Callable[[WorldDraft], list[Profile]] = lambda draft: []
    ) -> None:
        self._backend, self._config, self._others = backend, config, others
        self.in_order = (
            WorldStage(TASKS, "tasks", Sentences, self._sentences, lambda draft, made: replace(draft, sentences=made)),
            WorldStage(SCHEMA, "schema", DatabaseSchema, self._schema, lambda draft, made: replace(draft, schema=made)),
            WorldStage(ROWS, "rows", InitialRows, self._rows, lambda draft, made: replace(draft, rows=made)),
            WorldStage(
                INTERFACE, "interface", Interface, self._interface, lambda draft, made: replace(draft, interface=made)
            ),
            WorldStage(
                IMPLEMENTATION,
                f"implementation_{backend.name}",
                Implementation,
                backend.implementation,
                lambda draft, made: replace(draft, implementation=made),
            ),
        )

    def verifier(self, number: int) -> WorldStage:
        """Return the stage of one task."""
        return WorldStage(
            VERIFIER,
            f"verifier_{self._backend.name}",
            Solved,
            lambda draft, text: self._backend.solved(draft, number, text),
            lambda draft, made: replace(draft, solved=(*draft.solved, made)),
        )

    def _sentences(self, draft: WorldDraft, text: str) -> Sentences:
        made = document(text, Sentences)
        if len(made.tasks) < self._config.tasks:
            raise AnswerFault(f"there are {len(made.tasks)} tasks, {self._config.tasks} are wanted")
        tasks = made.tasks[: self._config.tasks]
        for place, task in enumerate(tasks):
            if not 10 <= len(task) <= TASK_CHARS:
                raise AnswerFault(f"task {place + 1} has {len(task)} characters, expected 10 to {TASK_CHARS}")
            for other, earlier in enumerate(tasks[:place]):
                if fuzz.ratio(task.lower(), earlier.lower()) >= ALIKE_TASKS:
                    raise AnswerFault(f"tasks {other + 1} and {place + 1} are the same but for a few letters")
        return Sentences(tasks=tasks)

    def _schema(self, draft: WorldDraft, text: str) -> DatabaseSchema:
        sql = block(text, "sql", "sqlite")
        check_schema(sql, self._config.fewest_tables, self._backend.clock)
        return DatabaseSchema(sql="\n\n".join(f"{statement};" for statement in statements_of(sql)))

    def _rows(self, draft: WorldDraft, text: str) -> InitialRows:
        statements = tuple(statements_of(block(text, "sql", "sqlite")))
        check_rows(draft.sql, statements, self._backend.clock)
        return InitialRows(statements=statements)

    def _interface(self, draft: WorldDraft, text: str) -> Interface:
        made = document(text, Interface)
        check_interface(made, self._config.fewest_tools)
        degree, other = nearest(profile_of(replace(draft, interface=made)), self._others(draft))
        if other is not None and degree >= ALIKE:
            raise AnswerFault(
                f"this world is too much like {other.name} ({degree:.2f} of 1): it has the tables "
                f"{', '.join(sorted(other.tables))} and the tools {', '.join(sorted(other.tools))}; offer other tools"
            )
        return made


def profile_of(draft: WorldDraft) -> Profile:
    """Return what a world that has an interface is compared by."""
    connection = building()
    try:
        connection.executescript(draft.sql)
        tables = keys_of(connection)
    finally:
        connection.close()
    return Profile.of(draft.name, draft.brief.title, tables, (sketch.name for sketch in draft.sketches))


def check_interface(interface: Interface, fewest: int) -> None:
    """Check the tools of a world.

    Args:
        interface: The tools.
        fewest: How many there have to be.

    Raises:
        Fault: There are too few, two have one name, none writes or none reads, parameters are no JSON Schema, or a call
            that shall be right does not fit them.
    """
    names = Counter(sketch.name for sketch in interface.tools)
    raise_any([f"tool {name}: there are {count} of this name" for name, count in names.items() if count > 1])
    if len(names) < fewest:
        raise AnswerFault(f"there are {len(names)} tools, at least {fewest} are wanted")
    for writes, kind in ((True, "changes"), (False, "only reads")):
        if all(sketch.writes is not writes for sketch in interface.tools):
            raise AnswerFault(f"no tool {kind} the database")
    raise_any([f"tool {sketch.name}: {fault}" for sketch in interface.tools for fault in _faults(sketch)])


def _faults(sketch: Sketch) -> Iterator[str]:
    properties, required = sketch.parameters.get("properties", {}), sketch.parameters.get("required", [])
    if not isinstance(properties, dict) or not all(isinstance(schema, dict) for schema in properties.values()):
        yield "parameters.properties: a mapping from name to JSON Schema is wanted"
        return
    if not isinstance(required, list):
        yield "parameters.required: a list is wanted"
        return
    yield from (f"{name}: reserved name" for name in properties if name in RESERVED)
    yield from (f"{name} is required, but no property" for name in required if name not in properties)
    yield from (f"{name}: no type" for name, schema in properties.items() if "type" not in schema)
    try:
        with spec_errors_as_faults():
            toolset = Toolset([{"name": sketch.name, "parameters": {"type": "object", **sketch.parameters}}], ANSWER)
        toolset.call(sketch.name, sketch.right)
    except (UnreadableAction, AnswerFault) as error:
        yield f"the right call does not fit the parameters: {error}"
    yield from (f"the right call has {name}, which is no property" for name in sketch.right if name not in properties)
    if properties and sketch.wrong is None:
        yield "there is no wrong call"
