"""Validates a tool of a scenario on an empty database, so that its mistakes show when the scenario is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.mcp.engine.sql_tools import NAME, key_of, sql_value
from agentworld_gym.domains.mcp.engine.tool_spec import CheckStep, Step, ToolSpec

RESERVED = ("now", "user", "new_id", "item", "cursor", "justification")
"""The names that no parameter of a tool may have."""


class _Statement(NamedTuple):
    """One statement: its key in the file, and the check it belongs to, or the name of the value that it gives."""

    place: str
    sql: str
    writes: bool = False
    check: CheckStep | None = None
    value: str | None = None


def validate_tool(spec: ToolSpec, connection: sqlite3.Connection, file: Path, key: str) -> None:
    """Run every statement of a tool, with nulls where nothing is known, and validate every message.

    Raises:
        SpecError: a statement does not run, or a text names a value that does not exist.
    """
    properties: dict[str, Any] = spec.parameters.get("properties", {})
    for name in properties:
        if name in RESERVED:
            raise SpecError(file, f"{key}.parameters", name, f"another name than {', '.join(RESERVED)}")
    values = {name: sql_value(schema.get("default")) for name, schema in properties.items()}
    values |= {"now": "2026-01-01T00:00:00Z", "user": "", "new_id": None}
    _try(_before(spec), connection, values, file, key)
    if spec.each is not None:
        if spec.each.over not in properties:
            raise SpecError(file, f"{key}.each.over", spec.each.over, f"one of {', '.join(properties)}")
        inner = properties[spec.each.over].get("items", {}).get("properties", ())
        scope = {**values, "item": None, **{f"item_{name}": None for name in inner}}
        _try(
            [*_checks("each.checks", spec.each.checks), *_steps("each.run", spec.each.run)],
            connection,
            scope,
            file,
            key,
        )
    columns = _try(_after(spec), connection, values, file, key)
    if spec.result.text is not None:
        _look(spec.result.text, set(values), file, f"{key}.result.text")
    for name in spec.result.optional:
        if name not in map(key_of, columns):
            raise SpecError(file, f"{key}.result.optional", name, f"one of {', '.join(columns)}")


def _before(spec: ToolSpec) -> Iterator[_Statement]:
    yield from _checks("checks", spec.checks)
    yield from _steps("run", spec.run)


def _after(spec: ToolSpec) -> Iterator[_Statement]:
    """Yield the statements after the checks, the main result at the end."""
    yield from _steps("then", spec.then)
    yield from (_Statement(f"result.nested.{key}", sql) for key, sql in spec.result.nested.items())
    for place in ("total", "one", "many"):
        if (sql := getattr(spec.result, place)) is not None:
            yield _Statement(f"result.{place}", sql)


def _checks(place: str, checks: Sequence[CheckStep]) -> Iterator[_Statement]:
    for index, check in enumerate(checks):
        yield _Statement(f"{place}.{index}", check.missing or check.found or "", check=check)


def _steps(place: str, steps: Sequence[Step]) -> Iterator[_Statement]:
    for index, step in enumerate(steps):
        if isinstance(step, str):
            yield _Statement(f"{place}.{index}", step, writes=True)
        else:
            yield from (_Statement(f"{place}.{index}.{name}", sql, value=name) for name, sql in step.items())


def _try(
    statements: Iterator[_Statement] | Sequence[_Statement],
    connection: sqlite3.Connection,
    values: dict[str, Any],
    file: Path,
    key: str,
) -> list[str]:
    """Run statements, store the values that they give, and return the columns of the last one."""
    columns: list[str] = []
    for statement in statements:
        where = f"{key}.{statement.place}"
        try:
            cursor = connection.execute(f"EXPLAIN {statement.sql}" if statement.writes else statement.sql, values)
        except sqlite3.Error as error:
            raise SpecError(file, where, statement.sql, f"SQL that runs ({error})") from error
        if cursor.description is None:
            raise SpecError(file, where, statement.sql, "a SELECT")
        columns = [column[0] for column in cursor.description]
        cursor.close()
        if statement.value is not None:
            values[statement.value] = None
        if (check := statement.check) is not None:
            _look(check.message, {*values, *columns}, file, where)
            if check.missing is not None:
                values |= {name: None for name in columns if name not in values}
    return columns


def _look(text: str, names: set[str], file: Path, key: str) -> None:
    for name in NAME.findall(text):
        if name not in names:
            raise SpecError(file, key, text, f"a text over {', '.join(sorted(names))}")
