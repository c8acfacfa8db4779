"""What a curious agent asks of tool servers in vain: ids of nothing, values of no schema, tools of no server."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agentworld_gym.agents.policies.exploring.base import call
from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.explorer import ToolExplorer
from agentworld_gym.domains.mcp.schema_explorer import SchemaExplorer

Values = Mapping[str, Any]


class _Attempts(Refusals):
    """The attempts of both explorers of tool servers."""

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        raise NotImplementedError

    def changed(self, fits: Callable[[str, Values], bool], value: Callable[[Any, Values], Any]) -> str | None:
        """Return a call with another value for one parameter that fits; None where a few tools have none such."""
        for _ in range(8):
            name, schema, arguments = self.tool()
            properties = schema.get("properties") or {}
            keys = [key for key in arguments if fits(key, properties.get(key) or {})]
            if keys:
                key = self.rng.choice(keys)
                return call(name, **{**arguments, key: value(arguments[key], properties.get(key) or {})})
        return None

    def unknown_id(self, told: Callable[[Any], Any]) -> str | None:
        """Return a call with the id of nothing."""
        return self.changed(lambda key, _: names_one(key), lambda value, _: told(value))

    def strange(self, value: Any) -> Any:
        """Return an id of nothing that looks like a known one."""
        if type(value) in (int, float):
            return self.names.number
        text = str(value)
        head = text.rstrip("0123456789")
        if head == text:
            return self.names.near(text)
        return f"{head}{self.names.number}"

    def missing(self) -> str | None:
        """Return a call without one of the arguments that its tool asks for."""
        for _ in range(8):
            name, schema, arguments = self.tool()
            needed = [key for key in schema.get("required") or () if key in arguments]
            if needed:
                del arguments[self.rng.choice(needed)]
                return call(name, **arguments)
        return None

    def unknown_tool(self, change: Callable[[str], str]) -> str:
        """Return a call of a tool that no server has."""
        name, _, arguments = self.tool()
        server, dash, tool = name.rpartition("-")
        return call(f"{server}{dash}{change(tool)}", **arguments)

    def extra(self, value: Any) -> str:
        """Return a call with an argument that its tool does not know."""
        name, _, arguments = self.tool()
        return call(name, **{**arguments, self.names.word: value})

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "unknown id": (
            lambda t: t.unknown_id(t.strange),
            lambda t: t.unknown_id(t.strange),
            lambda t: t.unknown_id(lambda value: value if type(value) not in (int, float) else -value - 1),
            lambda t: t.unknown_id(lambda value: t.names.number if type(value) in (int, float) else t.names.word),
        ),
        "missing argument": (lambda t: t.missing(),),
        "wrong type": (
            lambda t: t.changed(is_text, lambda value, _: [value]),
            lambda t: t.changed(is_text, lambda value, _: t.names.number),
            lambda t: t.changed(is_number, lambda value, _: t.names.word),
            lambda t: t.changed(is_number, lambda value, _: f"{value}x"),
            lambda t: t.changed(lambda key, schema: True, lambda value, _: None),
        ),
        "value that is not allowed": (
            lambda t: t.changed(lambda key, schema: "enum" in schema, lambda value, _: t.names.word),
            lambda t: t.changed(lambda key, schema: "enum" in schema, lambda value, _: t.names.near(str(value))),
            lambda t: t.changed(is_number, lambda value, _: -t.names.number),
            lambda t: t.changed(is_text, lambda value, _: ""),
            lambda t: t.changed(is_patterned, lambda value, _: t.names.word),
            lambda t: t.changed(is_patterned, lambda value, _: t.names.word[:2]),
        ),
        "unknown argument": (
            lambda t: t.extra(t.names.number),
            lambda t: t.extra(t.names.word),
            lambda t: t.extra(True),
        ),
        "unknown tool": (
            lambda t: t.unknown_tool(lambda tool: f"{tool}_{t.names.word}"),
            lambda t: t.unknown_tool(t.names.near),
            lambda t: t.unknown_tool(lambda tool: f"{t.names.word}_{tool.rpartition('_')[2]}"),
        ),
        "nothing found": (
            lambda t: t.changed(lambda key, _: searches(key), lambda value, _: t.names.word),
            lambda t: t.changed(lambda key, _: searches(key), lambda value, _: f"{t.names.word} {t.names.word}"),
        ),
    }
    """The kinds of calls."""


class ToolRefusals(_Attempts, ToolExplorer):
    """Attempts at the servers of a scenario."""

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        name = self.rng.choice(sorted(self._tools))
        return name, self._tools[name], self._arguments(name)


class SchemaRefusals(_Attempts, SchemaExplorer):
    """Attempts at any other server."""

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        name = self.rng.choice(sorted(self._tools))
        schema = self._tools[name]
        return name, schema, self._object(schema, schema, 4)


def open_refusals(task: Task, rng: random.Random) -> Refusals:
    """Return who makes attempts in a task."""
    return ToolRefusals(task, rng) if "scenario" in task.state else SchemaRefusals(task, rng)


def names_one(key: str) -> bool:
    """Whether a parameter names one thing.

    >>> names_one("order_id"), names_one("sku"), names_one("query")
    (True, True, False)
    """
    return key.endswith(("id", "_number", "_code", "_key")) or key in ("sku", "path")


def searches(key: str) -> bool:
    """Whether a parameter holds what is looked for.

    >>> searches("query"), searches("limit")
    (True, False)
    """
    return key in ("query", "q", "search", "pattern")


def is_text(key: str, schema: Values) -> bool:
    """Whether a parameter is a text."""
    return schema.get("type") == "string"


def is_number(key: str, schema: Values) -> bool:
    """Whether a parameter is a number."""
    return schema.get("type") in ("integer", "number")


def is_patterned(key: str, schema: Values) -> bool:
    """Whether a parameter is a text of a certain form."""
    return schema.get("type") == "string" and ("pattern" in schema or "format" in schema or "email" in key)
