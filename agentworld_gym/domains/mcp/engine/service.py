"""A scenario that is ready to run: its tools as callables, and databases to start from."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.toolset import Toolset
from agentworld_gym.core.actions.usable_tools import tools_left_out, usable_tools
from agentworld_gym.domains.mcp.engine.scenario import ToolScenario, Version, find_scenario, read_scenario
from agentworld_gym.domains.mcp.engine.sql_tools import SqlCall, sql_tool
from agentworld_gym.domains.mcp.engine.tool import Tool
from agentworld_gym.domains.mcp.engine.tool_validation import validate_tool
from agentworld_gym.kit.tables.concerned_rows import named
from agentworld_gym.kit.tables.database import empty_image, keys_of, open_image
from agentworld_gym.kit.tables.insert import with_rows
from agentworld_gym.kit.tables.plain_rows import PlainRow, defaults_of, numbers_rows
from agentworld_gym.kit.tables.row_file import Size
from agentworld_gym.kit.tables.seeded_rows import fill
from agentworld_gym.kit.tables.statements import counting_columns, summed_columns

logger = logging.getLogger(__name__)

STATE = "task state"


@dataclass(frozen=True)
class Service:
    """One server that is ready to run."""

    scenario: ToolScenario
    """The scenario of the server."""
    tools: Mapping[str, Tool]
    """The tools by name."""
    empty: bytes
    """The bytes of a database with the tables and without rows."""
    keys: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
    """The columns of each table, and the positions of those that make its primary key."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The tools of the scenario that nobody can call, as their parameters are no JSON Schema, with the reason."""

    @classmethod
    def of(cls, scenario: ToolScenario) -> Service:
        """Make the service of a scenario, whose schema and tools are tried.

        A tool whose parameters are no JSON Schema is left out, with a warning that names it.

        Raises:
            SpecError: the schema or a tool is wrong; the error names file, key, value and what was expected.
        """
        try:
            empty = empty_image(scenario.schema)
        except sqlite3.Error as error:
            expected = f"SQL that runs ({error})"
            raise SpecError(scenario.folder / "schema.sql", "the whole document", scenario.name, expected) from error
        connection = open_image(empty)
        try:
            keys = keys_of(connection)
            tools: dict[str, Tool] = {}
            file = scenario.folder / "tools.yaml"
            left_out = _left_out(scenario, file)
            for number, spec in enumerate(scenario.tools):
                if spec.name in left_out:
                    continue
                key = f"tools.{number} ({spec.name})"
                validate_tool(spec, connection, file, key)
                tool = sql_tool(scenario.name, spec)
                if tool.name in tools:
                    raise SpecError(file, key, spec.name, "a name that no other tool has")
                tools[tool.name] = tool
        finally:
            connection.close()
        service = cls(scenario, tools, empty, keys, left_out)
        _ = service.toolset
        return service

    def tool(self, own_name: str) -> Tool:
        """Return a tool by its name without that of the server.

        Raises:
            LookupError: There is none.
        """
        return self.tools[f"{self.scenario.name}-{own_name}"]

    def key(self, table: str) -> str:
        """Return the first column of the key of a table.

        Raises:
            LookupError: There is no such table, or it has no key.
        """
        columns, key = self.keys[table]
        return columns[key[0]]

    @cached_property
    def listed(self) -> tuple[dict[str, Any], ...]:
        """The tools as a task lists them, with name, description and parameters."""
        return tuple(dict(tool.listed) for tool in self.tools.values())

    @cached_property
    def counting(self) -> frozenset[tuple[str, str]]:
        """The tables and columns that tools change by an amount, such as a balance."""
        return counting_columns(self._writes)

    @cached_property
    def summed(self) -> Mapping[tuple[str, str], str]:
        """The tables and columns that tools sum up from other rows, such as a total, with the expressions of SQL.

        Only tables are among them whose rows one column names.
        """
        columns = summed_columns(self._writes)
        named_by_one = {table for table, (_, key) in self.keys.items() if len(key) == 1}
        return {place: expression for place, expression in columns.items() if place[0] in named_by_one}

    @cached_property
    def _writes(self) -> tuple[str, ...]:
        """The statements of all tools that write."""
        specs = [tool.call.spec for tool in self.tools.values() if isinstance(tool.call, SqlCall)]
        steps = [step for spec in specs for step in (*spec.run, *(spec.each.run if spec.each else ()), *spec.then)]
        return tuple(sql for _, sql in named(steps))

    @cached_property
    def defaults(self) -> Mapping[str, PlainRow]:
        """The constant defaults of the columns that have to hold a value, by table."""
        with closing(open_image(self.empty)) as connection:
            return {table: defaults_of(connection, table) for table in self.keys}

    @cached_property
    def numbered(self) -> frozenset[str]:
        """The tables whose rows get the next number as their key."""
        with closing(open_image(self.empty)) as connection:
            return frozenset(table for table in self.keys if numbers_rows(connection, table))

    @cached_property
    def toolset(self) -> Toolset:
        """The toolset that validates the arguments of a call."""
        return Toolset(self.listed, self.scenario.folder / "tools.yaml")

    def image(self, tables: Mapping[str, Any]) -> bytes:
        """Return a database with exactly these rows.

        Raises:
            SpecError: a table or column does not exist, or a constraint refuses a row.
        """
        return with_rows(self.empty, self.keys, tables, STATE, "tables")

    def generated(self, size: Size, seed: int) -> bytes:
        """Return a database with rows made from a seed.

        Raises:
            SpecError: a recipe of the scenario's `rows.yaml` cannot be followed.
        """
        connection = open_image(self.empty)
        try:
            fill(connection, self.scenario, size, seed)
            return connection.serialize()
        finally:
            connection.close()


def _left_out(scenario: ToolScenario, file: Path) -> dict[str, str]:
    """Return the tools that nobody can call, with the reason.

    Raises:
        SpecError: There is no other tool.
    """
    told = [{"name": f"{number}", "parameters": spec.parameters} for number, spec in enumerate(scenario.tools)]
    left_out = {scenario.tools[int(number)].name: reason for number, reason in usable_tools(told).left_out.items()}
    if left_out:
        message = tools_left_out(scenario.name, left_out, len(told))
        if len(left_out) == len(told):
            raise SpecError(file, "tools", message, "at least one tool whose parameters are a JSON Schema")
        logger.warning(message)
    return left_out


def load_service(name: str) -> Service:
    """Load the service of a scenario by the scenario's name or the path of its folder.

    It is kept for the next one who asks, until the files change.

    Raises:
        SpecError: there is no such scenario, or one of its files is wrong; the error names file, key, value and what
            was expected.
    """
    return _loaded(*find_scenario(name))


@lru_cache(maxsize=1024)
def _loaded(folder: Path, version: Version) -> Service:
    return Service.of(read_scenario(folder))


def generated(name: str, size: Size, seed: int) -> bytes:
    """Return the database of a scenario with rows made from a seed.

    Raises:
        SpecError: a recipe of the scenario's `rows.yaml` cannot be followed.
    """
    folder, version = find_scenario(name)
    return _generated(folder, version, size, seed)


@lru_cache(maxsize=64)
def _generated(folder: Path, version: Version, size: Size, seed: int) -> bytes:
    return _loaded(folder, version).generated(size, seed)
