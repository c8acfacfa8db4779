"""The tools an agent can call, and what a tool server says about a call it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema_rs

from agentworld_gym.base.errors import SpecError

UNKNOWN_TOOL = "Unknown tool: "
"""What stands before the name of a tool that there is none of."""

MAX_PROBLEMS = 8
"""How many problems with one action a message lists."""

MAX_MESSAGE = 300
"""How long the message of one problem may be; it can quote the whole value."""

MAX_EXAMPLE = 4_000
"""How many characters and values the arguments of an example may have."""

_TYPES = {
    "string": ("a valid string", "string_type"),
    "integer": ("a valid integer", "int_type"),
    "number": ("a valid number", "float_type"),
    "boolean": ("a valid boolean", "bool_type"),
    "object": ("a valid dictionary", "dict_type"),
    "array": ("a valid list", "list_type"),
    "null": ("None", "none_required"),
}

_ERRORS = "https://errors.pydantic.dev/2.11/v"
"""The pages of pydantic that explain its errors by their codes."""

_MISSING = (("Missing required argument", "missing_argument"), ("Field required", "missing"))
"""The words and the code for an argument that is missing, and for a key inside an argument."""

_UNEXPECTED = (
    ("Unexpected keyword argument", "unexpected_keyword_argument"),
    ("Extra inputs are not permitted", "extra_forbidden"),
)
"""The words and the code for an argument that the tool does not have, and for a key inside an argument."""


class UnreadableAction(Exception):
    """An action that has a known shape but cannot be read; the message says why."""


class CompiledSchema:
    """A compiled JSON Schema that never looks anything up outside itself.

    >>> CompiledSchema({"type": "integer"}, "spec.yaml", "schema").problems({"a": 1})
    ['{"a":1} is not of type "integer"']
    """

    def __init__(self, schema: Any, file: str | Path, key: str) -> None:
        try:
            self._validator = jsonschema_rs.validator_for(schema, offline=True)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
            raise SpecError(file, key, schema, f"a JSON Schema ({first_line(error)})") from error

    def fits(self, value: Any) -> bool:
        """Return whether nothing is wrong with a value."""
        with suppress(UnreadableAction):
            return not self._errors(value)
        return False

    def problems(self, value: Any) -> list[str]:
        """Return what is wrong with a value, each problem with the path to it."""
        return [_path(error, ": ") + _message(error) for error in self._errors(value)]

    def refusals(self, value: Any) -> list[str]:
        """Return what is wrong with a value, in the words of a server that validates with pydantic."""
        return [line for error in self._errors(value) for line in _pydantic(error)]

    def _errors(self, value: Any) -> list[jsonschema_rs.ValidationError]:
        try:
            if self._validator.is_valid(value):
                return []
            return list(islice(self._validator.iter_errors(value), MAX_PROBLEMS))
        except (ValueError, OverflowError, RecursionError) as error:
            raise UnreadableAction(first_line(error)) from None


class Toolset:
    """The tools that can be called. Without any tool, every name may be called.

    >>> tools = Toolset([{"name": "add", "parameters": {"required": ["a"]}}], "spec.yaml")
    >>> tools.call("add", {"a": 1})
    {'name': 'add', 'arguments': {'a': 1}}

    Args:
        tools: The tools under the names by which they are called.
        file: The file that errors name.
        full_names: The names that calls are given instead, by the names that were called.

    Raises:
        SpecError: A tool has no name, or its parameters are no JSON Schema.
    """

    def __init__(
        self, tools: Sequence[Mapping[str, Any]], file: str | Path, full_names: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._full_names = full_names
        self._parameters: dict[str, Mapping[str, Any]] = {}
        self._schemas: dict[str, CompiledSchema] = {}
        for index, tool in enumerate(tools):
            name = tool.get("name")
            if not isinstance(name, str):
                raise SpecError(file, f"tools.{index}.name", name, "a name")
            schema = tool.get("parameters") or {}
            self._schemas[name] = CompiledSchema(schema, file, f"tools.{index}.parameters ({name})")
            self._parameters[name] = schema.get("properties", {})

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the call of a tool.

        Raises:
            UnreadableAction: There is no such tool, or the arguments do not fit it.
        """
        schema = self._schemas.get(name)
        if schema is None:
            if self._schemas:
                raise UnreadableAction(f"{UNKNOWN_TOOL}{name}")
        elif refusals := schema.refusals(arguments):
            order = {parameter: index for index, parameter in enumerate(self._parameters[name])}
            refusals.sort(key=lambda refusal: order.get(refusal.split("\n", 1)[0].split(".")[0], len(order)))
            count = "1 validation error" if len(refusals) == 1 else f"{len(refusals)} validation errors"
            raise UnreadableAction("\n".join([f"Error calling tool '{name}': {count} for call[{name}]", *refusals]))
        return {"name": self._full_names.get(name, name), "arguments": arguments}

    @property
    def names(self) -> frozenset[str]:
        """The names by which tools are called."""
        return frozenset(self._schemas)

    def knows(self, name: str) -> bool:
        """Return whether a tool of that name can be called."""
        return name in self._schemas or not self._schemas

    def ordered(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call with its arguments, and the keys of objects in them, in the order of the tool's schema.

        >>> tools = Toolset([{"name": "add", "parameters": {"properties": {"a": {}, "b": {}}}}], "spec.yaml")
        >>> tools.ordered({"name": "add", "arguments": {"b": 2, "a": 1}})
        {'name': 'add', 'arguments': {'a': 1, 'b': 2}}
        """
        schema = {"properties": self._parameters.get(call["name"], {})}
        return {"name": call["name"], "arguments": _ordered(call["arguments"], schema)}

    def bind(self, name: str, positional: Sequence[Any]) -> dict[str, Any]:
        """Return positional arguments by the names of the parameters, in the order of the tool's schema."""
        if not positional or (self._schemas and name not in self._schemas):
            return {}
        names = list(self._parameters.get(name, ())) if self._schemas else [f"arg{n}" for n in range(len(positional))]
        if len(positional) > len(names):
            given = "1 was" if len(positional) == 1 else f"{len(positional)} were"
            raise UnreadableAction(f"{name}() takes {len(names)} positional arguments but {given} given")
        return dict(zip(names, positional, strict=False))


def example_call(tool: Mapping[str, Any]) -> str:
    """Write a call of a tool with the fewest arguments that its schema admits.

    >>> example_call({"name": "pay", "parameters": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}})
    '{"name": "pay", "arguments": {"id": 1}}'
    """
    arguments = _Examples().of({"type": "object", **(tool.get("parameters") or {})})
    return json.dumps({"name": tool.get("name"), "arguments": arguments}, ensure_ascii=False, default=str)


class _Examples:
    """Makes values that plain schemas admit; a schema with further conditions, or one that wants much, may refuse them.

    Nobody vouches for a schema, so that what is made has a bounded size.
    """

    def __init__(self) -> None:
        self._left = MAX_EXAMPLE

    def of(self, schema: Any) -> Any:
        """Return a value of a schema."""
        schema = schema if isinstance(schema, Mapping) else {}
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        if schema.get("enum"):
            return schema["enum"][0]
        kinds = schema.get("type", "string")
        match kinds if isinstance(kinds, str) else kinds[0]:
            case "object":
                properties = schema.get("properties") or {}
                names = list(schema.get("required") or ())
                return {name: self.of(properties.get(name)) for name in names[: self._taken(len(names))]}
            case "array":
                return [self.of(schema.get("items")) for _ in range(self._taken(schema.get("minItems")))]
            case "integer" | "number":
                return schema.get("minimum", schema.get("maximum", 1))
            case "boolean":
                return False
            case "null":
                return None
        return "x" * self._taken(max(1, schema.get("minLength") or 0))

    def _taken(self, count: Any) -> int:
        """Return how many of some parts there may be, which are then taken."""
        taken = int(min(count or 0, self._left))
        self._left -= taken
        return taken


def _ordered(value: Any, schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        return [_ordered(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties") or {}
    names = [*(name for name in properties if name in value), *(name for name in value if name not in properties)]
    return {name: _ordered(value[name], properties.get(name)) for name in names}


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an exception."""
    return (str(error) or type(error).__name__).splitlines()[0]


def _path(error: jsonschema_rs.ValidationError, end: str) -> str:
    path = ".".join(str(part) for part in error.instance_path)
    return path + end if path else ""


def _message(error: jsonschema_rs.ValidationError) -> str:
    """Return what is wrong, with every choice there is where the library names only some of them."""
    kind: Any = error.kind
    if kind.name == "enum":
        choices = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in kind.options)
        return f"{json.dumps(error.instance, ensure_ascii=False)} is not one of {choices}"
    if kind.name == "anyOf" and all(one.kind.name == "required" for branch in kind.context for one in branch):
        return "needs " + ", or ".join(" and ".join(one.kind.property for one in branch) for branch in kind.context)
    return error.message


def _pydantic(error: jsonschema_rs.ValidationError) -> list[str]:
    path, value = [str(part) for part in error.instance_path], error.instance
    kind: Any = error.kind
    match kind.name:
        case "required":
            words, code = _MISSING[bool(path)]
            return [_refusal([*path, kind.property], words, code, value)]
        case "additionalProperties":
            given, (words, code) = value if isinstance(value, dict) else {}, _UNEXPECTED[bool(path)]
            return [_refusal([*path, key], words, code, given.get(key)) for key in kind.unexpected]
        case "type" if len(kind.types) == 1:
            words, code = _TYPES[kind.types[0]]
            return [_refusal(path, f"Input should be {words}", code, value)]
        case "enum":
            *most, last = [repr(option) for option in kind.options]
            words = f"{', '.join(most)} or {last}" if most else last
            return [_refusal(path, f"Input should be {words}", "literal_error", value)]
    return [_refusal(path, _message(error)[:MAX_MESSAGE], "value_error", value)]


def _refusal(path: Sequence[str], words: str, code: str, value: Any) -> str:
    quoted = repr(value)
    if len(quoted) > 50:
        quoted = f"{quoted[:25]}...{quoted[-24:]}"
    detail = f"{words} [type={code}, input_value={quoted}, input_type={type(value).__name__}]"
    return f"{'.'.join(path)}\n  {detail}\n    For further information visit {_ERRORS}/{code}"
