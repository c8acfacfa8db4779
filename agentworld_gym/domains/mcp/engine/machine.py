"""A tool server in process: it answers each call with the text of a tool, over a database in memory.

The official SDK serves the same tools to other processes (`serve`). In process it would only add an event loop, and a
fork could not copy it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, EngineError, RestorableMachine, Scalar, Span
from agentworld_gym.domains.mcp.engine import faults
from agentworld_gym.domains.mcp.engine.answer import CallResult, Said, greeting, refused, text_of
from agentworld_gym.domains.mcp.engine.provenance import ValueProvenance
from agentworld_gym.domains.mcp.engine.sdk_server import ServerCard
from agentworld_gym.domains.mcp.engine.service import STATE, Service, generated, load_service
from agentworld_gym.domains.mcp.engine.sql_tools import Called, SqlCall
from agentworld_gym.domains.mcp.engine.structured_state import Server, image_of, plain_image, plain_server, server_of
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool, ToolRefusal, printed, refusal
from agentworld_gym.kit.tables.database import Database, SeededTokens, fields_of
from agentworld_gym.kit.tables.plain_rows import plain_tables
from agentworld_gym.kit.tables.row_file import Size

MAX_ARGUMENT_CHARS = 32_000
"""The number of characters that the arguments of a call may have as JSON."""

_FAILED = re.compile(r"(?m)\A(Error calling tool '|Unknown tool: )[^-\s']*-(\S)")
"""The beginning of an error that names a tool with its server."""

_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class _State(Strict):
    """The state of a tool server, as a task gives it."""

    scenario: str
    """The name of the scenario, or the path of its folder."""
    now: str | None = None
    """The time of the episode; by default the scenario's own."""
    user: str | None = None
    """The user who is signed in; by default the scenario's own."""
    tables: dict[str, Any] | None = None
    """All rows by table; by default rows are generated."""
    size: Size = "small"
    """The size of the generated database."""
    seed: int = 0
    """The seed of the generated rows."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A call that was accepted and is carried out later."""

    due: int
    tool: Tool
    arguments: Mapping[str, Any]


class ToolMachine(RestorableMachine[Database]):
    """One session with the server of a scenario.

    >>> machine = ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1}, seed=0)
    >>> machine.act({"name": "shop-get_order", "arguments": {"order_id": 9999}})
    '{"status": "error", "code": 404, "message": "Order 9999 not found"}'
    """

    noun = "server"

    def __init__(
        self,
        service: Service,
        image: bytes,
        context: CallContext,
        seed: int,
        controls: Controls = NO_CONTROLS,
        explicit: bool = True,
    ) -> None:
        """Start on a copy of a database; `explicit` says that the task states all of its rows."""
        self._service, self._context, self._controls = service, context, controls
        self._tokens, self._provenance = SeededTokens(seed), ValueProvenance(explicit)
        super().__init__(Database(image, self._tokens), greeting(service.scenario.name, context.user, context.now))
        self._calls = 0
        self._jobs: tuple[_Job, ...] = ()
        self._accepted_jobs = 0
        self._failed = ""
        self._before: bytes | None = None
        self._refused = False
        self._made_of: CallResult | Said | None = self._observation

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Start a server; `hidden` is ignored.

        Args:
            state: `scenario` (a name), with `tables` (rows by table), or with `size` and `seed` of rows that are
                generated; `now` and `user` replace the scenario's own.
            seed: the seed of the identifiers that the service makes up.
            controls: the faults in force.
            hidden: ignored.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        wanted = validated(_State, dict(state), STATE)
        service = load_service(wanted.scenario)
        if wanted.tables is None:
            image = generated(wanted.scenario, wanted.size, wanted.seed)
        else:
            image = service.image(wanted.tables)
        about = service.scenario.about
        context = CallContext(wanted.now or about.now, wanted.user or about.user)
        return cls(service, image, context, seed, controls, explicit=wanted.tables is not None)

    def observation_in(self, dialect: str) -> str:
        """Return the last answer in another dialect: `mcpmark` calls a tool by its own name, and so do its errors; in
        `awm` errors say that they are errors.

        Raises:
            EngineError: there is no such dialect.
        """
        if dialect == "awm":
            return f"Error: {self._observation}" if self._refused else self._observation
        if dialect != "mcpmark":
            raise EngineError(f"a tool server does not speak the dialect {dialect!r}")
        return _FAILED.sub(r"\1\2", self._observation) if self._refused else self._observation

    def set_time(self, now: str) -> None:
        """Set the time that later calls see, such as `2026-03-02T09:00:00Z`."""
        self._context = replace(self._context, now=now)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The identifiers that were made up, and the rows that were generated and not shown before."""
        return self._provenance.spans(self._observation, self._tokens.made)

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of the last answer in another dialect that are not deterministic.

        Raises:
            EngineError: there is no such dialect.
        """
        return self._provenance.spans(self.observation_in(dialect), self._tokens.made)

    @property
    def refused(self) -> bool:
        """Whether the last call failed."""
        return self._refused

    @property
    def card(self) -> ServerCard:
        """What a server of this machine tells of itself."""
        about = self._service.scenario.about
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in self._service.tools.values()
        ]
        return ServerCard(self._service.scenario.name, about.title, about.description.strip(), tools)

    @property
    def service(self) -> Service:
        """The scenario that runs here."""
        return self._service

    def act(self, action: Any) -> str:
        """Answer one call `{"name": ..., "arguments": {...}}` as the server would, whatever the call contains.

        Raises:
            EngineError: the machine is closed.
        """
        database = self._open()
        self._calls += 1
        self._provenance.keep(self._observation)
        self._tokens.made.clear()
        self._finish_jobs(database)
        try:
            tool, arguments, key = self._understood(action)
            self._provenance.keep(key)
            self._made_of = None
            self._observation = self._answered(database, tool, arguments, key)
            self._refused = False
        except (ToolRefusal, UnreadableAction) as problem:
            self._observation, self._made_of = str(problem), refused(problem)
            self._refused = True
        return self._observation

    def state(self) -> dict[str, Scalar]:
        """Return everything stored, as values by `table/primary key/column`."""
        return fields_of(self._open().reading(), self._service.keys)

    def database(self) -> bytes:
        """Return the bytes of an SQLite file with everything that is stored."""
        return self._open().image()

    def save(self, path: Path) -> None:
        """Write the database as an SQLite file."""
        path.write_bytes(self.database())

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        before = None if self._before is None else plain_image(self._service, self._before)
        return {
            "sequences": plain_image(self._service, self.database())["sequences"],
            "tokens": [self._tokens.seed, self._tokens.count, *self._tokens.made],
            "seen": self._provenance.plain(),
            "calls": self._calls,
            "jobs": [[job.due, job.tool.name, deepcopy(job.arguments)] for job in self._jobs],
            "accepted_jobs": self._accepted_jobs,
            "failed": self._failed,
            "before": before,
            "refused": self._refused,
        }

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        connection = self._open().reading()
        told: dict[str, Any] = plain_server(Server(self._service, self._context, self._controls))
        return {**told, "rows": plain_tables(connection, self._service.keys), "said": self._answer(connection)}

    def _answer(self, connection: sqlite3.Connection) -> Said:
        """Return the last answer as plain data: as what it was made from where its text follows from the rows."""
        said = self._made_of.plain_data if isinstance(self._made_of, CallResult) else self._made_of
        if said is not None:
            with suppress(ToolRefusal, sqlite3.Error):
                if text_of(self._service, connection, self._context, self._controls, said) == self._observation:
                    return said
        return self._observation

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> ToolMachine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        kept = structured_state["kept"]
        seed, count, *made = kept["tokens"]
        machine = cls._viewed(structured_state["shown"], kept["sequences"], seed)
        service = machine.service
        machine._tokens.count = count
        machine._tokens.made.extend(made)
        machine._provenance = ValueProvenance.of(kept["seen"])
        machine._calls, machine._accepted_jobs = kept["calls"], kept["accepted_jobs"]
        machine._jobs = tuple(_Job(due, service.tools[name], arguments) for due, name, arguments in kept["jobs"])
        machine._failed, machine._refused = kept["failed"], kept["refused"]
        if kept["before"] is not None:
            machine._before = image_of(service, kept["before"]["rows"], kept["before"]["sequences"])
        return machine

    @classmethod
    def viewed(cls, shown: Mapping[str, Any]) -> ToolMachine:
        """Return a machine with the rows and the last answer of a state, which is good for nothing but to be read."""
        return cls._viewed(shown, {}, 0)

    @classmethod
    def _viewed(cls, shown: Mapping[str, Any], sequences: Mapping[str, int], seed: int) -> ToolMachine:
        service, context, controls = server_of(shown)
        machine = cls(service, image_of(service, shown["rows"], sequences), context, seed, controls)
        machine._made_of = shown["said"]
        connection = machine._open().connection
        machine._observation = text_of(service, connection, context, controls, shown["said"])
        return machine

    def _part_from(self, system: Database) -> None:
        self._tokens = self._tokens.copy()
        self._provenance = self._provenance.copy()
        self._system = Database(system.image(), self._tokens)

    def _free(self, system: Database) -> None:
        system.close()

    def _understood(self, action: Any) -> tuple[Tool, Mapping[str, Any], str]:
        """Return the tool, its arguments, and a text that identifies this call.

        Raises:
            UnreadableAction, ToolRefusal: the server does not know such a call.
        """
        name = action.get("name") if isinstance(action, dict) else None
        arguments = action.get("arguments", {}) if isinstance(action, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise UnreadableAction(
                "MCP error -32602: Invalid params: a tool call needs a 'name' and an object of 'arguments'"
            )
        tool = self._service.tools.get(name)
        if tool is None:
            raise UnreadableAction(f"Unknown tool: {printable(name)}")
        try:
            key = _WRITER.encode(arguments)
            key.encode()
            if len(key) > MAX_ARGUMENT_CHARS:
                raise ToolRefusal(413, "Payload Too Large")
            self._service.toolset.call(name, arguments)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise UnreadableAction(f"MCP error -32602: Invalid params: {printable(str(error))}") from None
        return tool, arguments, key

    def _answered(self, database: Database, tool: Tool, arguments: Mapping[str, Any], key: str) -> str:
        """Return the text that answers a call.

        Raises:
            UnreadableAction, ToolRefusal: the call fails.
        """
        controls, context = self._controls, self._context
        if not controls:
            return self._result_text(tool, self._called(database, tool, arguments, context), arguments)
        error = faults.transient_error(controls, self._calls, tool)
        if error and f"{tool.name} {key}" != self._failed:
            self._failed = f"{tool.name} {key}"
            raise error
        self._failed = ""
        if error := faults.forbidden(controls, tool, arguments):
            raise error
        if faults.is_slow(controls, self._calls, tool):
            return printed(self._accepted(database, tool, deepcopy(arguments)))
        if self._before is not None and faults.is_stale(controls, self._calls, tool):
            return self._result_text(tool, self._remembered(self._before, tool, arguments), arguments)
        if tool.batch:
            context = replace(context, failing=faults.failing(controls, self._calls, tool, arguments))
        return self._result_text(tool, self._called(database, tool, arguments, context), arguments)

    def _result_text(self, tool: Tool, called: Called, arguments: Mapping[str, Any]) -> str:
        """Return the text of a result, and note what it was made from.

        Raises:
            ToolRefusal: The call asks for a page that there is none of.
        """
        controls = self._controls
        start = faults.page_start(controls, tool, arguments)
        self._made_of = CallResult(tool, called.values, start)
        data = faults.blanked(controls, tool, called.data) if controls else called.data
        return printed(faults.paged(tool, data, start))

    def _called(self, database: Database, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Called:
        """Run a tool; what it writes is kept only if it succeeds."""
        if not tool.writes:
            return run_tool(database, tool, arguments, context)
        before = database.image() if self._controls.strength("stale-data") else None
        called = run_tool(database, tool, arguments, context, end="COMMIT")
        self._before = before
        return called

    def _accepted(self, database: Database, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Accept a call that would succeed, to carry it out later."""
        count = self._tokens.count
        run_tool(database, tool, arguments, self._context, end="ROLLBACK")
        self._tokens.count = count
        self._accepted_jobs += 1
        self._jobs = (*self._jobs, _Job(self._calls + faults.DELAY, tool, arguments))
        message = "Accepted; the change takes effect shortly"
        return {"status": "pending", "job_id": f"job-{self._accepted_jobs:04}", "message": message}

    def _finish_jobs(self, database: Database) -> None:
        due = [job for job in self._jobs if job.due <= self._calls]
        if not due:
            return
        self._jobs = tuple(job for job in self._jobs if job.due > self._calls)
        for job in due:
            try:
                self._called(database, job.tool, job.arguments, self._context)
            except (ToolRefusal, UnreadableAction):
                continue  # a job that has become impossible is dropped, as a queue drops a job that fails
        self._tokens.made.clear()

    def _remembered(self, image: bytes, tool: Tool, arguments: Mapping[str, Any]) -> Called:
        """Return what a list showed before the last write."""
        old = Database(image, self._tokens)
        try:
            return run_tool(old, tool, arguments, self._context)
        finally:
            old.close()


def run_tool(
    database: Database, tool: Tool, arguments: Mapping[str, Any], context: CallContext, end: str | None = None
) -> Called:
    """Call a tool; a tool that may write runs in a transaction that ends with the given statement.

    Raises:
        ToolRefusal, UnreadableAction: the tool, the database or the code of the tool refuses, and nothing is changed.
    """
    connection = database.connection
    database.refresh()
    try:
        if end is not None:
            connection.execute("BEGIN")
        called = _body(tool, connection, arguments, context)
        if tool.rows is not None and not isinstance(called.data[tool.rows], list):
            raise TypeError(f"{tool.rows} is no list")
        if end is not None:
            connection.execute(end)
    except sqlite3.Error as error:
        raise refusal(error) from error
    except (ToolRefusal, UnreadableAction):
        raise
    except Exception as error:  # the code of a tool may raise anything, and the SDK's server prints it like this
        raise UnreadableAction(f"Error calling tool '{tool.name}': {printable(str(error))}") from error
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return called


def _body(tool: Tool, connection: sqlite3.Connection, arguments: Mapping[str, Any], context: CallContext) -> Called:
    if isinstance(tool.call, SqlCall):
        return tool.call.run(connection, arguments, context)
    return Called(tool.call(connection, arguments, context), {})


def printable(text: str) -> str:
    """Return the start of a text without characters that UTF-8 cannot encode."""
    return text[:200].encode("utf-8", "replace").decode()
