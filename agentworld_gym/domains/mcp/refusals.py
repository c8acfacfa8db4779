"""What a curious agent asks of tool servers in vain: ids of nothing, values of no schema, tools of no server."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agentworld_gym.agents.policies.exploring.base import call
from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.mcp.explorer import ToolExplorer
from agentworld_gym.domains.mcp.schema_explorer import SchemaExplorer

Values = Mapping[str, Any]

FINAL = (
    *("accept", "approve", "archive", "cancel", "close", "complete", "confirm", "decline", "delete", "end"),
    *("merge", "refund", "reject", "release", "remove", "resolve", "return", "start"),
)
"""How the names of tools begin that do something once."""

_CALLED = re.compile(r'"name": "(?:[\w.]+-)?(\w+)"')


class _Attempts(Refusals):
    """The attempts of both explorers of tool servers."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._final: list[str] = []

    def note(self, action: str, observation: str) -> None:
        """Remember a call that can be made only once."""
        found = _CALLED.search(action)
        if found is not None and found[1].startswith(FINAL) and '"error"' not in observation:
            self._final.append(action)

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        raise NotImplementedError

    def again(self) -> str | None:
        """Return a call that was made and can be made only once; None where there was none."""
        return str(self.rng.choice(self._final)) if self._final else None

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
        if not is_word(value):
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
            lambda t: t.unknown_id(lambda value: f"{value}{t.names.number}" if is_word(value) else 10 * value + 7),
            lambda t: t.unknown_id(lambda value: t.names.number if not is_word(value) else t.names.word),
        ),
        "nothing found": (
            lambda t: t.changed(lambda key, _: searches(key), lambda value, _: t.names.word),
            lambda t: t.changed(lambda key, _: searches(key), lambda value, _: t.names.near(str(value))),
            lambda t: t.changed(lambda key, _: searches(key), lambda value, _: f"{t.names.word} {t.names.word}"),
        ),
        "value out of bounds": (
            lambda t: t.changed(is_number, lambda value, _: 100 * t.names.number),
            lambda t: t.changed(is_number, lambda value, _: 0),
            lambda t: t.changed(is_address, lambda value, _: t.names.word),
            lambda t: t.changed(is_address, lambda value, _: t.names.word[:2]),
        ),
        "done already": (lambda t: t.again(),),
        "unknown argument": (
            lambda t: t.extra(t.names.number),
            lambda t: t.extra(t.names.word),
            lambda t: t.extra(True),
        ),
        "broken schema": (
            lambda t: t.missing(),
            lambda t: t.unknown_tool(lambda tool: f"{tool}_{t.names.word}"),
            lambda t: t.unknown_tool(t.names.near),
            lambda t: t.changed(is_text, lambda value, _: [value]),
            lambda t: t.changed(is_number, lambda value, _: t.names.word),
            lambda t: t.changed(lambda _, schema: "enum" in schema, lambda value, _: t.names.word),
            lambda t: t.changed(is_text, lambda value, _: t.names.number),
        ),
    }
    """The kinds of calls. What breaks a schema reaches no world: the parser refuses it."""


class ToolRefusals(_Attempts, ToolExplorer):
    """Attempts at the servers of a scenario."""

    def see(self, action: str, observation: str) -> None:
        """Remember what an answer showed."""
        super().see(action, observation)
        self.note(action, observation)

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        name = self.rng.choice(sorted(self._tools))
        return name, self._tools[name], self._arguments(name)


class SchemaRefusals(_Attempts, SchemaExplorer):
    """Attempts at any other server."""

    def see(self, action: str, observation: str) -> None:
        """Remember what an answer showed."""
        super().see(action, observation)
        self.note(action, observation)

    def tool(self) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
        """Draw a tool, its schema, and arguments that it admits."""
        name = self.rng.choice(sorted(self._tools))
        return name, self._tools[name], self.arguments_of(name)


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


def is_word(value: Any) -> bool:
    """Whether a value is no number."""
    return type(value) not in (int, float)


def is_address(key: str, schema: Values) -> bool:
    """Whether a parameter is an address of mail.

    >>> is_address("email", {"type": "string"}), is_address("city", {"type": "string"})
    (True, False)
    """
    return schema.get("type") == "string" and "email" in key
