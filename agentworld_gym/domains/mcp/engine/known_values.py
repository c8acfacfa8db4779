"""The values to which the change that a call makes can refer by a name, so that a world model need not copy them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentworld_gym.domains.mcp.engine.row_sums import SUMMED
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.engine.sql_tools import SqlCall
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool
from agentworld_gym.kit.tables.concerned_rows import ConcernedRow, named

_WORD = re.compile(r"'((?:[^']|'')*)'")
_NUMBER = re.compile(r"(?<![\w:.'-])\d+(?:\.\d+)?(?![\w'])")
_ONE = re.compile(r"SELECT 1\b|LIMIT \d+")
"""What holds a number that nobody stores."""
_BRACES = re.compile("[{}]")


def given_values(
    service: Service, context: CallContext, action: Any, tool: Tool | None, rows: Iterable[ConcernedRow]
) -> dict[str, Any]:
    """Return what a call gives, by name.

    The arguments have their own names, and so do `now`, `today` and `user`; `=` is the mark of a sum. `-amount` is an
    argument with the other sign, and `items/0/sku` is of an entry of an argument. `#orders` is the next number of a
    table to which rows are added, which is `new_id` and `order_id`, too, where no argument is.

    Args:
        service: The scenario.
        context: The time of the episode, and who is signed in.
        action: The call; any other action has no arguments.
        tool: The tool that is called; None where there is none, or where its body is no SQL.
        rows: The described rows that the call names.
    """
    arguments = action.get("arguments") if isinstance(action, Mapping) else None
    # Who is signed in comes before an argument that is equal: a message to oneself is sent by the user, too.
    given: dict[str, Any] = {"user": context.user} if context.user else {}
    if isinstance(arguments, Mapping):
        given.update(_arguments(arguments, {} if tool is None else tool.parameters.get("properties", {})))
    clock = {"=": SUMMED, "now": context.now, "today": context.now[:10], "user": context.user}
    numbers = [row for row in rows if isinstance(row.content, int)]
    further = [(f"#{row.path}", row.content) for row in numbers]
    for row in numbers:
        further += [(service.key(row.path), row.content), ("new_id", row.content)]
    for name, value in (*clock.items(), *further):
        given.setdefault(name, value)
    return _named(given)


def found_values(service: Service, tool: Tool | None, rows: Iterable[ConcernedRow]) -> dict[str, Any]:
    """Return the values of described rows, by name.

    `products/KE-008/price` is a column of a row, and `projects/BEE/last_number+1` one more than such a number, where
    tools count with it. Words and numbers that the statements of the tool say themselves have no names.

    Args:
        service: The scenario.
        tool: The tool that is called; None where there is none, or where its body is no SQL.
        rows: The described rows that the call names.
    """
    said = frozenset[Any]() if tool is None else _statement_words(tool)
    return _named({name: value for row in rows for name, value in _cells(service, row) if value not in said})


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not _BRACES.search(name)}


def _arguments(arguments: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments, then what they are made of, then the numbers with the other sign."""
    typed = {name: _typed(value, properties.get(name, {})) for name, value in arguments.items()}
    parts = [pair for name, value in typed.items() for pair in _parts(name, value)]
    yield from typed.items()
    yield from parts
    yield from ((f"-{name}", -value) for name, value in (*typed.items(), *parts) if type(value) in (int, float))


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a list or an object holds, by its path."""
    inner = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, Mapping) else ()
    for key, item in inner:
        yield f"{name}/{key}", item
        yield from _parts(f"{name}/{key}", item)


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an argument as a row would store it: a number as decimal, and a whole number as whole."""
    if schema.get("type") == "number" and type(value) is int:
        return float(value)
    if schema.get("type") == "integer" and type(value) is float and value.is_integer():
        return int(value)
    return value


def _cells(service: Service, row: ConcernedRow) -> Iterator[tuple[str, Any]]:
    if isinstance(row.content, Mapping):
        table = row.path.partition("/")[0]
        for column, value in row.content.items():
            yield f"{row.path}/{column}", value
            if type(value) is int and (table, column) in service.counting:
                yield f"{row.path}/{column}+1", value + 1


def _statement_words(tool: Tool) -> frozenset[Any]:
    """Return the words of all statements of a tool, and the numbers of those that write."""
    assert isinstance(tool.call, SqlCall)
    call = tool.call
    writes = [sql for _, sql in named((*call.spec.run, *(call.each.run if call.each else ()), *call.spec.then))]
    checks = [check.sql for check in (*call.checks, *(call.each.checks if call.each else ()))]
    words = {word for sql in (*writes, *checks) for word in _WORD.findall(sql)}
    numbers = {float(number) for sql in writes for number in _NUMBER.findall(_ONE.sub("", sql))}
    return frozenset(words | numbers)
