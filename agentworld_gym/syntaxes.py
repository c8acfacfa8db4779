"""The ways of writing an action, each read into plain data."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Sequence
from typing import Any

from agentworld_gym.escaping import is_valid
from agentworld_gym.spec import Syntax
from agentworld_gym.toolset import Problem, Tools, first_line

MAX_DEPTH = 64
"""How deep the JSON of an action may nest."""


# Each reader gives the action, or None if the text does not have its shape, or raises what is wrong with it.


def _keystroke_batch(text: str, _known: Tools) -> list[dict[str, Any]] | None:
    if not text.lstrip().startswith("["):
        return None
    batch = read_json(text)
    for index, item in enumerate(batch):
        if not isinstance(item, dict) or not isinstance(item.get("keystrokes"), str):
            raise Problem(f"item {index} must be an object with a string 'keystrokes'")
        if isinstance(item.get("duration", 1.0), bool) or not isinstance(item.get("duration", 1.0), int | float):
            raise Problem(f"item {index}: 'duration' must be a number of seconds")
    return [{"keystrokes": item["keystrokes"], "duration": float(item.get("duration", 1.0))} for item in batch]


def _command_line(text: str, _known: Tools) -> list[dict[str, Any]] | None:
    if text.lstrip().startswith("["):
        return None
    return [{"keystrokes": text.rstrip("\r\n") + "\n", "duration": 1.0}]


def _tool_call(text: str, known: Tools) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    call = read_json(text)
    name, arguments = call.get("name"), call.get("arguments")
    if not isinstance(name, str):
        raise Problem("a tool call needs a string 'name'")
    if isinstance(arguments, str):
        arguments = read_json(arguments, "'arguments'") if arguments.strip() else None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise Problem("'arguments' must be an object")
    return known.call(name, arguments)


def _function_call(text: str, known: Tools) -> dict[str, Any] | None:
    if not text.rstrip().endswith(")") or text.lstrip().startswith(("{", "[")):
        return None
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        name = call.func.id
        positional = [ast.literal_eval(argument) for argument in call.args]
        arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise Problem(f"not a call with literal arguments: {first_line(error)}") from None
    if len(arguments) != len(call.keywords):
        raise Problem("not a call with literal arguments: ** is not one")
    names = known.parameters.get(name, [])
    if positional and known.parameters and name not in known.parameters:
        raise Problem(f"Unknown tool: {name}")
    if len(positional) > len(names):
        if names or known.parameters:
            given = f"{len(positional)} {'was' if len(positional) == 1 else 'were'} given"
            raise Problem(f"{name}() takes {len(names)} positional arguments but {given}")
        names = [f"arg{index}" for index in range(len(positional))]
    for parameter, value in zip(names, positional, strict=False):
        if parameter in arguments:
            raise Problem(f"{name}() got multiple values for argument '{parameter}'")
        arguments[parameter] = value
    return known.call(name, _plain(arguments))


def _json_object(text: str, _known: Tools) -> dict[str, Any] | None:
    value = read_json(text) if text.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None


def _text(text: str, _known: Tools) -> str | None:
    return text if text.strip() else None


def expected(syntax: Sequence[Syntax]) -> str:
    words = {
        "keystroke_batch": "a JSON array of keystrokes",
        "command_line": "a command line",
        "tool_call": 'a tool call {"name": …, "arguments": {…}}',
        "function_call": "a function call",
        "json_object": "a JSON object",
        "python_code": "Python code",
        "plain_text": "a text",
    }
    return " or ".join(words[name] for name in syntax)


def _not_finite(text: str) -> float:
    raise ValueError(f"{text} is not a number JSON knows")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)


_DECODER = json.JSONDecoder(parse_constant=_not_finite, parse_float=_finite)


def read_json(text: str, what: str = "the action") -> Any:
    """JSON of bounded depth that can be written as UTF-8 again."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Problem(f"{what} is not valid JSON: {first_line(error)}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Problem(f"{what} nests deeper than {MAX_DEPTH} levels")
    if "\\u" in text and not is_valid(json.dumps(value, ensure_ascii=False)):
        raise Problem(f"{what} is not valid Unicode: it holds a lone surrogate")
    return value


def json_or_none(text: str | None) -> Any:
    try:
        return None if text is None else read_json(text)
    except Problem:
        return None


def _plain(value: Any) -> Any:
    """Python literals as the JSON data they are closest to."""
    try:
        return read_json(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise Problem(f"an argument is not plain data: {first_line(error)}") from None


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
    return depth
