"""A menu for a task of AWM: calls whose arguments fit the tools and come from the database and the task's sentence."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.toolset import CompiledSchema, example_call
from agentworld_gym.domains.mcp.awm.database import Rows, forms_of

VARIANTS = 2
"""How many calls a menu has of each tool that takes arguments."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|“([^”]+)”")


def menu_of(
    tools: Sequence[Mapping[str, Any]], tables: Mapping[str, Rows], instruction: str, seed: str
) -> tuple[str, ...]:
    """Return the menu of a task; it ends with `finish`. A tool for which no fitting arguments are known has no call.

    Args:
        tools: The tools, with the JSON Schema of their arguments.
        tables: Rows of the database.
        instruction: The sentence of the task, whose numbers and quoted texts are arguments too.
        seed: What the draws follow from.

    >>> schema = {"properties": {"port_id": {"type": "integer"}}, "required": ["port_id"]}
    >>> menu_of([{"name": "get_port", "parameters": schema}], {"ports": [{"id": 7}]}, "Look at port 7.", "a")
    ('{"name": "get_port", "arguments": {"port_id": 7}}', 'finish')
    """
    draw = random.Random(seed)
    calls: dict[str, None] = {}
    for tool in tools:
        schema = tool.get("parameters") or {}
        fitting = _compiled(schema)
        for variant in range(VARIANTS if schema.get("properties") else 1):
            arguments = _arguments(str(tool["name"]), schema, tables, instruction, draw, variant)
            if fitting is not None and fitting.fits(arguments):
                calls[json.dumps({"name": tool["name"], "arguments": arguments}, ensure_ascii=False)] = None
    return (*calls, "finish")


def likely_arguments(tool: Mapping[str, Any], tables: Mapping[str, Rows], instruction: str) -> dict[str, Any] | None:
    """Return the fewest arguments of a call that the rows or an instruction suggest; None where they suggest none.

    Args:
        tool: The tool, with the JSON Schema of its arguments.
        tables: Rows of the database.
        instruction: A sentence whose numbers and quoted texts are arguments too.

    >>> schema = {"properties": {"port_id": {"type": "integer"}}, "required": ["port_id"]}
    >>> likely_arguments({"name": "get_port", "parameters": schema}, {"ports": [{"id": 7}]}, "Look.")
    {'port_id': 7}
    >>> likely_arguments({"name": "get_port", "parameters": schema}, {}, "Look.") is None
    True
    """
    schema = tool.get("parameters") or {}
    found = {}
    for name in schema.get("required") or ():
        inner = (schema.get("properties") or {}).get(name)
        values = _values(str(tool["name"]), name, inner if isinstance(inner, Mapping) else {}, tables, instruction)
        for value in values:
            found[name] = value
            break
        else:
            return None
    return found


def _compiled(schema: Mapping[str, Any]) -> CompiledSchema | None:
    """Return a schema; None for a part of one that says nothing by itself, as it refers to the whole."""
    try:
        return CompiledSchema(schema, "menu", "schema")
    except SpecError:
        return None


def _arguments(
    tool: str,
    schema: Mapping[str, Any],
    tables: Mapping[str, Rows],
    instruction: str,
    draw: random.Random,
    variant: int,
) -> dict[str, Any]:
    """Return arguments of a call: the first variant has those that must be there, the next ones some of the others."""
    arguments = {}
    smallest = json.loads(example_call({"name": tool, "parameters": schema}))["arguments"]
    for name, given in (schema.get("properties") or {}).items():
        inner = given if isinstance(given, Mapping) else {}
        needed = name in (schema.get("required") or ())
        if not needed and (variant == 0 or draw.random() < 0.5):
            continue
        values = list({json.dumps(value): value for value in _values(tool, name, inner, tables, instruction)}.values())
        if values:
            arguments[name] = values[0] if variant == 0 else draw.choice(values)
        elif needed:
            arguments[name] = smallest[name]
    return arguments


def _values(
    tool: str, name: str, schema: Mapping[str, Any], tables: Mapping[str, Rows], instruction: str
) -> Iterator[Any]:
    """Yield values for an argument: those of the task that the database holds, then others of either."""
    if schema.get("enum"):
        yield from schema["enum"]
        return
    fitting = _compiled(schema)
    if fitting is None:
        return
    mentioned = [] if schema.get("format") else list(_mentioned(schema.get("type"), instruction))
    held = dict.fromkeys(_held(tool, name, tables))
    known = [value for value in dict.fromkeys((*mentioned, *held)) if _is_drawn(value, schema) and fitting.fits(value)]
    yield from (value for value in known if value in mentioned and value in held)
    yield from [value for value in known if value in held][:8] or known
    examples = schema.get("examples")
    told = (schema.get("example"), *(examples if isinstance(examples, list) else ()))
    yield from (value for value in told if fitting.fits(value))


def _held(tool: str, name: str, tables: Mapping[str, Rows]) -> Iterator[Any]:
    """Yield what columns hold that an argument is named after; numbers of the path are ids of the tool's own table."""
    owner = forms_of(name.removesuffix("_id"))
    words = forms_of(tool)
    for table, rows in tables.items():
        own = name in ("id", "number") and words & forms_of(table)
        refers = name.endswith("_id") and owner & forms_of(table)
        for row in rows:
            if name in row and row[name] is not None:
                yield row[name]
            elif "id" in row and (own or refers):
                yield row["id"]


def _is_drawn(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a value is drawn for a type: a plain one, and for a text in the format of dates a day."""
    match schema.get("type"):
        case "integer" | "number" | "boolean":
            return isinstance(value, int | float)
        case "string":
            dated = str(schema.get("format", "")).startswith("date")
            return isinstance(value, str) and (not dated or DATE.match(value) is not None)
    return False


def _mentioned(kind: Any, instruction: str) -> Iterator[Any]:
    match kind:
        case "integer":
            yield from (int(text) for text in NUMBER.findall(instruction) if "." not in text)
        case "number":
            yield from (float(text) for text in NUMBER.findall(instruction))
        case "boolean":
            yield from (True, False)
        case "string":
            yield from (next(filter(None, found)) for found in QUOTED.findall(instruction))
