"""The tools an agent can call, and what a tool server says about a call it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from agentworld_gym.errors import SpecError

MAX_PROBLEMS = 8
"""How many problems with one action are told."""


class Problem(Exception):
    """An action has a known shape but cannot be read; the message says why."""


def compiled(schema: Any, spec: DomainSpec, key: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(schema, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SpecError(spec.path, key, schema, f"a JSON Schema ({first_line(error)})") from error


def errors(schema: jsonschema_rs.Validator, value: Any) -> Sequence[jsonschema_rs.ValidationError]:
    try:
        return [] if schema.is_valid(value) else list(islice(schema.iter_errors(value), MAX_PROBLEMS))
    except (ValueError, OverflowError, RecursionError) as error:
        raise Problem(first_line(error)) from None


def where(error: jsonschema_rs.ValidationError) -> str:
    path = ".".join(str(part) for part in error.instance_path)
    return f"{path}: " if path else ""


def _lines(schema: jsonschema_rs.Validator, arguments: dict[str, Any]) -> list[str]:
    """What is wrong with arguments, in the words of a tool server that validates with pydantic."""
    return [line for error in errors(schema, arguments) for line in _pydantic(error)]


_TYPES = {
    "string": ("a valid string", "string_type"),
    "integer": ("a valid integer", "int_type"),
    "number": ("a valid number", "float_type"),
    "boolean": ("a valid boolean", "bool_type"),
    "object": ("a valid dictionary", "dict_type"),
    "array": ("a valid list", "list_type"),
    "null": ("None", "none_required"),
}


def _pydantic(error: jsonschema_rs.ValidationError) -> list[str]:
    path, value = [str(part) for part in error.instance_path], error.instance
    detail: Mapping[str, Any] = error.kind.as_dict()
    match error.kind.name:
        case "required":
            return [_problem([*path, detail["property"]], "Field required", "missing", value)]
        case "additionalProperties":
            return [
                _problem([*path, key], "Unexpected keyword argument", "unexpected_keyword_argument", value[key])
                for key in detail["unexpected"]
            ]
        case "type" if len(detail["types"]) == 1:
            words, code = _TYPES[detail["types"][0]]
            return [_problem(path, f"Input should be {words}", code, value)]
        case "enum":
            return [_problem(path, f"Input should be {_either([repr(o) for o in detail['options']])}", "enum", value)]
    return [_problem(path, error.message, "value_error", value)]


def _problem(path: Sequence[str], words: str, code: str, value: Any) -> str:
    shown_value = repr(value)
    if len(shown_value) > 50:
        shown_value = f"{shown_value[:25]}...{shown_value[-24:]}"
    where = ".".join(path) or "arguments"
    return f"{where}\n  {words} [type={code}, input_value={shown_value}, input_type={type(value).__name__}]"


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
