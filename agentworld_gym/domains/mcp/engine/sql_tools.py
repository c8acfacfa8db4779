"""Compiles tools whose body is SQL: each `ToolSpec` becomes a callable."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool, ToolRefusal
from agentworld_gym.domains.mcp.engine.tool_spec import CheckStep, Step, ToolSpec

MAX_ROWS = 200
"""The number of rows that a list of a result may have; a call whose list has more is refused."""

MAX_CHARS = 250_000
"""The number of characters that the keys and values of a result may have together; a call with more is refused."""

_PLAIN_CHARS = 24
"""The number of characters that a value which is no text may have."""

DECIMALS = 4
"""The number of decimals to which numbers are rounded, so that sums show no trace of binary fractions."""

CURSOR = {"type": "string", "description": "The next_cursor of an earlier page, to go on from there."}
ITEM_FAILURE = {"code": 503, "message": "Service Unavailable"}

NAME = re.compile(r"\{(\w+)\}")
_STRUCTURED = ("array", "object")
"""The types of arguments that are JSON text in SQL."""

PARAMETER = re.compile(r":(\w+)")

Values = dict[str, Any]


def sql_tool(server: str, spec: ToolSpec) -> Tool:
    """Compile one tool of a server."""
    properties: dict[str, Any] = spec.parameters.get("properties", {})
    parameters = {**properties, "cursor": CURSOR} if spec.result.many else properties
    return Tool(
        name=f"{server}-{spec.name}",
        description=spec.description.strip(),
        parameters={"type": "object", **spec.parameters, "properties": parameters},
        call=SqlCall(spec, properties),
        writes=spec.writes,
        rows=spec.result.key,
        optional=spec.result.optional,
        batch=spec.each.over if spec.each else None,
    )


class _Room:
    """What is left of the characters that one result may have."""

    def __init__(self) -> None:
        self._left = MAX_CHARS

    def take(self, chars: int) -> None:
        """Take a number of characters.

        Raises:
            ToolRefusal: There are not as many left.
        """
        self._left -= chars
        if self._left < 0:
            raise ToolRefusal(413, f"Payload Too Large: a result has at most {MAX_CHARS} characters")


MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
"""The integers that SQLite holds."""


class _Query:
    """A SELECT whose rows are returned as mappings with the keys of its columns."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._names: tuple[str, ...] = ()
        self._key_chars = 0
        self._made: dict[str, Callable[[Any], Any]] = {}

    def all(self, connection: sqlite3.Connection, values: Values, room: _Room) -> list[Values]:
        """Return the rows.

        Raises:
            ToolRefusal: There are more than `MAX_ROWS`, or they leave no room.
        """
        cursor = connection.execute(self.sql, values)
        self._learn(cursor)
        rows: list[Values] = []
        for row in cursor:
            if len(rows) == MAX_ROWS:
                cursor.close()
                raise ToolRefusal(413, f"Payload Too Large: a list has at most {MAX_ROWS} rows")
            rows.append(self._row(row, room))
        return rows

    def first(self, connection: sqlite3.Connection, values: Values, room: _Room) -> Values | None:
        """Return the first row.

        Raises:
            ToolRefusal: It leaves no room.
        """
        cursor = connection.execute(self.sql, values)
        row = cursor.fetchone()
        self._learn(cursor)
        cursor.close()
        return None if row is None else self._row(row, room)

    def _learn(self, cursor: sqlite3.Cursor) -> None:
        """Keep the keys, from what the first run says about the columns."""
        if not self._names:
            raw = [column[0] for column in cursor.description]
            self._names = tuple(map(key_of, raw))
            self._key_chars = sum(map(len, self._names))
            makers = {"?": _boolean, "]": _parsed}
            self._made = {key_of(name): makers[name[-1]] for name in raw if key_of(name) != name}

    def _row(self, row: tuple[Any, ...], room: _Room) -> Values:
        room.take(self._key_chars + sum(len(value) if type(value) is str else _PLAIN_CHARS for value in row))
        row_values = {
            name: round(value, DECIMALS) + 0.0 if type(value) is float else value
            for name, value in zip(self._names, row, strict=True)
        }
        for name, make in self._made.items():
            row_values[name] = make(row_values[name])
        return row_values


def key_of(column: str) -> str:
    """Return the key of a column in a result.

    >>> key_of("paid?"), key_of("tags[]"), key_of("total")
    ('paid', 'tags', 'total')
    """
    return column.removesuffix("?").removesuffix("[]")


def _boolean(value: Any) -> bool | None:
    return None if value is None else bool(value)


def _parsed(value: Any) -> Any:
    return None if value is None else json.loads(value)


class CallCondition:
    """A condition that refuses a call."""

    def __init__(self, spec: CheckStep) -> None:
        self.spec = spec
        self.sql = spec.missing if spec.missing is not None else spec.found or ""

    def test(self, connection: sqlite3.Connection, values: Values) -> None:
        """Store the columns of the row that a check finds, or refuse the call."""
        cursor = connection.execute(self.sql, values)
        row = cursor.fetchone()
        columns = {} if row is None else dict(zip((column[0] for column in cursor.description), row, strict=True))
        cursor.close()
        if (row is None) == (self.spec.missing is not None):
            raise ToolRefusal(self.spec.status, filled(self.spec.message, {**columns, **values}))
        if self.spec.missing is not None:
            for name, value in columns.items():
                values.setdefault(name, value)


@dataclass(frozen=True, slots=True)
class Each:
    """What happens for every item of a list argument."""

    over: str
    checks: tuple[CallCondition, ...]
    run: tuple[Step, ...]
    keys: tuple[str, ...]

    def values(self, item: Any) -> Values:
        """Return the values of an item as parameters of the SQL."""
        if isinstance(item, Mapping):
            keys = {f"item_{key}": stored(key, item.get(key)) for key in self.keys}
            return {"item": json.dumps(item), **keys}
        return {"item": stored(self.over, item)}


class Called(NamedTuple):
    """What a call returns, and the values that its result was made from."""

    data: Any
    values: Values


class SqlCall:
    """The body of a tool: checks and writes, which change the database, and a result, which only reads it."""

    def __init__(self, spec: ToolSpec, properties: Mapping[str, Any]) -> None:
        self.spec, self.result = spec, spec.result
        self.defaults: Values = {name: sql_value(schema.get("default")) for name, schema in properties.items()}
        self.integers = tuple(name for name, schema in properties.items() if schema.get("type") == "integer")
        self.structured = frozenset(name for name, schema in properties.items() if schema.get("type") in _STRUCTURED)
        self.checks = tuple(map(CallCondition, spec.checks))
        self.each: Each | None = None
        if spec.each is not None:
            items = properties[spec.each.over].get("items", {})
            keys = tuple(items.get("properties", ()))
            self.each = Each(spec.each.over, tuple(map(CallCondition, spec.each.checks)), spec.each.run, keys)
        self.query = _Query(spec.result.one or spec.result.many or "")
        self.nested = {key: _Query(sql) for key, sql in spec.result.nested.items()}

    def __call__(self, connection: sqlite3.Connection, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Run the tool, and return its data."""
        return self.run(connection, arguments, context).data

    def run(self, connection: sqlite3.Connection, arguments: Mapping[str, Any], context: CallContext) -> Called:
        """Run the tool.

        Raises:
            ToolRefusal: A check refuses the call, or the result is too long.
            sqlite3.Error: The database refuses it.
        """
        values = self.values(arguments, context)
        for check in self.checks:
            check.test(connection, values)
        _run(connection, self.spec.run, values)
        failed = self._batch(connection, arguments, values, context) if self.each else []
        _run(connection, self.spec.then, values)
        data = self.answer(connection, values)
        if failed:
            data = {**(data if isinstance(data, dict) else {"message": data}), "errors": failed}
        return Called(data, values)

    def values(self, arguments: Mapping[str, Any], context: CallContext) -> Values:
        """Return the parameters that the SQL of a call begins with.

        Raises:
            ToolRefusal: A number is beyond those that a database holds.
        """
        values = self.defaults.copy()
        for name in values:
            if name in arguments:
                values[name] = stored(name, arguments[name])
        for name in self.integers:
            if type(values[name]) is float and values[name].is_integer():
                values[name] = int(values[name])
            stored(name, values[name])
        values["now"], values["user"] = context.now, context.user
        return values

    def answer(self, connection: sqlite3.Connection, values: Values) -> Any:
        """Return the result; nothing is written.

        Raises:
            ToolRefusal: There is none, or it is too long.
            sqlite3.Error: The database refuses a query.
        """
        result, room = self.result, _Room()
        if result.text is not None:
            return filled(result.text, values)
        if result.key is not None:
            rows = self.query.all(connection, values, room)
            answer: Values = {result.key: rows, "count": len(rows)}
            if result.total is not None:
                answer["total"] = connection.execute(result.total, values).fetchone()[0]
            return answer
        row = self.query.first(connection, values, room)
        if row is None:
            raise ToolRefusal(404, "Not found")
        for key, query in self.nested.items():
            row[key] = query.all(connection, values, room)
        return row

    @cached_property
    def read(self) -> frozenset[str]:
        """The names of the values that the result reads."""
        result = self.result
        queries = (result.one, result.many, result.total, *result.nested.values())
        named = {name for sql in queries if sql for name in PARAMETER.findall(sql)}
        return frozenset(named | set(NAME.findall(result.text or "")))

    def _batch(
        self, connection: sqlite3.Connection, arguments: Mapping[str, Any], values: Values, context: CallContext
    ) -> list[Values]:
        assert self.each is not None
        failed: list[Values] = []
        for index, item in enumerate(arguments.get(self.each.over) or ()):
            if index in context.failing:
                failed.append({"item": item, **ITEM_FAILURE})
                continue
            scope = {**values, **self.each.values(item)}
            for check in self.each.checks:
                check.test(connection, scope)
            _run(connection, self.each.run, scope)
        return failed


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Replace `{name}` in a text by values.

    >>> filled("Order {order_id} costs {total}", {"order_id": 7, "total": 12345.6})
    'Order 7 costs 12345.6'

    Raises:
        ToolRefusal: The text gets longer than `MAX_CHARS`.
    """
    room = _Room()
    room.take(len(text))

    def fill(match: re.Match[str]) -> str:
        value = _plain(values.get(match.group(1)))
        room.take(len(value))
        return value

    return NAME.sub(fill, text)


def _plain(value: Any) -> str:
    if isinstance(value, float) and abs(value) < 1e15:
        return f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return str(value)


def _run(connection: sqlite3.Connection, steps: Sequence[Step], values: Values) -> None:
    for step in steps:
        if isinstance(step, str):
            values["new_id"] = connection.execute(step, values).lastrowid
        else:
            for name, sql in step.items():
                row = connection.execute(sql, values).fetchone()
                values[name] = None if row is None else row[0]


def sql_value(value: Any) -> Any:
    """Convert a value for SQL: lists and objects become JSON text.

    >>> sql_value(["a", 1]), sql_value("a")
    ('["a", 1]', 'a')
    """
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def stored(name: str, value: Any) -> Any:
    """Convert an argument for SQL, as `sql_value` does.

    >>> stored("order_id", 7)
    7

    Raises:
        ToolRefusal: It is an integer of more than 64 bits, which no database holds.
    """
    if type(value) is int and not MIN_INTEGER <= value <= MAX_INTEGER:
        raise ToolRefusal(422, f"Unprocessable Entity: {name} is out of range")
    return sql_value(value)
