"""A world on its way: what each stage has made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict

NOW = "2026-01-01T09:00:00Z"
"""The time at which the episodes of a made world begin; it is that of AWM's worlds here, too."""

USER = "1"
"""Who is signed in: the row 1 of a table of users or members, where there is one, as in AWM's worlds."""

MOST_CALLS = 40
"""How many calls a solution may have. A proof makes all of them again for each of its neighbours."""

BackendName = Literal["declarative", "awm"]
"""How the tools of a world are implemented: as YAML and SQL, or as AWM's Python."""


class Brief(Strict):
    """A scenario in a few words."""

    name: str = Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", min_length=3, max_length=48)
    """The name of the server, such as `bike_rental`."""

    title: str = Field(min_length=3, max_length=80)
    """The title for people."""

    description: str = Field(min_length=20, max_length=1_000)
    """What the service is, who uses it, and what it keeps."""


class Briefs(Strict):
    """Some scenarios."""

    scenarios: tuple[Brief, ...] = Field(min_length=1)
    """The scenarios."""


class Sentences(Strict):
    """What agents will be asked to do."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """The tasks, a sentence or two each."""


class DatabaseSchema(Strict):
    """The tables of a world."""

    sql: str
    """`CREATE TABLE` and `CREATE INDEX` statements of SQLite."""


class InitialRows(Strict):
    """What is in the tables at the start."""

    statements: tuple[str, ...]
    """`INSERT INTO` statements."""


class Sketch(Strict):
    """A tool as its callers see it, with two calls that try it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,63}$")
    """The name."""

    description: str = Field(min_length=10, max_length=1_000)
    """What it does and returns."""

    parameters: dict[str, Any] = Field(default_factory=dict)
    """The JSON Schema of its arguments."""

    writes: bool
    """Whether a right call changes the database."""

    right: dict[str, Any] = Field(default_factory=dict)
    """Arguments of a call that works on the rows of the start."""

    wrong: dict[str, Any] | None = None
    """Arguments of a call that is refused; None for a tool without arguments."""


class Interface(Strict):
    """The tools of a world."""

    tools: tuple[Sketch, ...] = Field(min_length=1)
    """The tools."""


class Implementation(Strict):
    """The body of the tools, in one of two forms."""

    tools: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """The checks, statements and result of each tool, by name (declarative)."""

    code: str = ""
    """A FastAPI app over SQLAlchemy (AWM)."""


class CallDraft(Strict):
    """One call of a tool."""

    name: str
    """The tool, without the name of its server."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments."""


class Solution(Strict):
    """How a task is done, as an answer of the stage of verifiers says it in either form."""

    solution: tuple[CallDraft, ...] = Field(default=(), max_length=MOST_CALLS)
    """The calls that do the task."""

    answer: str | int | float | None = None
    """The right answer, where the task asks something."""

    free: tuple[str, ...] = ()
    """Arguments whose values the task leaves open, each as `tool.argument`."""

    @property
    def right_answer(self) -> str | None:
        """The right answer as an agent writes it; None where the task asks nothing."""
        return None if self.answer is None else str(self.answer)


class Solved(Strict):
    """A task with a solution that was replayed and a verifier that was tried."""

    number: int
    """The number of the task among the sentences."""

    solution: tuple[CallDraft, ...]
    """The calls that do the task."""

    answer: str | None = None
    """What the agent has to answer; None where the task asks nothing."""

    checks: tuple[dict[str, Any], ...] = ()
    """The checks of success (declarative)."""

    code: str = ""
    """The Python of the verifier (AWM)."""

    free_values: tuple[str, ...] = ()
    """Patterns of stored values that an agent may choose."""

    neighbours: tuple[CallDraft, ...] = ()
    """Wrong calls of neighbouring solutions, which the verifier refused."""


@dataclass(frozen=True)
class WorldDraft:
    """A world on its way. A field is None until its stage is done."""

    brief: Brief
    """The scenario."""

    sentences: Sentences | None = None
    """The tasks."""

    schema: DatabaseSchema | None = None
    """The tables."""

    rows: InitialRows | None = None
    """The rows of the start."""

    interface: Interface | None = None
    """The tools."""

    implementation: Implementation | None = None
    """The body of the tools."""

    solved: tuple[Solved, ...] = ()
    """The tasks whose solution and verifier hold."""

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.brief.name

    @property
    def tasks(self) -> tuple[str, ...]:
        """The sentences of the tasks."""
        return self.sentences.tasks if self.sentences else ()

    @property
    def sql(self) -> str:
        """The statements that make the tables."""
        return self.schema.sql if self.schema else ""

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements that insert the rows."""
        return self.rows.statements if self.rows else ()

    @property
    def sketches(self) -> tuple[Sketch, ...]:
        """The tools as their callers see them."""
        return self.interface.tools if self.interface else ()
