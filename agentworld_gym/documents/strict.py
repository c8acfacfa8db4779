"""Strict documents: models that refuse unknown keys, YAML read as plain data, and errors that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agentworld_gym.documents.keys import keys_at, nearest, value_at
from agentworld_gym.documents.plain_yaml import load_yaml
from agentworld_gym.errors import MissingFile, SpecError

M = TypeVar("M", bound=BaseModel)


class Strict(BaseModel):
    """A frozen model that refuses unknown keys, and numbers that JSON cannot hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def read_yaml(path: Path) -> Any:
    """A YAML file as plain data (safe loader, UTF-8).

    Raises:
        SpecError: if the file cannot be read or is not YAML, or means too much; see
            `agentworld_gym.documents.plain_yaml`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingFile(path, "a YAML file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(path, "file", type(error).__name__, "a readable UTF-8 file") from error
    return load_yaml(text, path)


def validated(model: type[M], data: Any, file: str | Path) -> M:
    """Validate data against a model, with the first error told as file, key, value and expectation.

    A validator of a whole model names one of its keys by beginning its message with it: `train.max_steps: at least 1`.
    Where a key does not exist, those that do are told, the nearest first.

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Of a key that may hold several kinds of value, pydantic adds the name of one of them.
        place = [part for part in map(str, first["loc"]) if "[" not in part]
        value = None if first["type"] == "missing" else first.get("input")
        expected = expectation(first)
        if first["type"] == "extra_forbidden":
            known = nearest(place[-1], keys_at(model, place[:-1]))
            expected += f", but one of: {', '.join(known)}" if known else ""
        named, colon, rest = expected.partition(": ")
        if colon and named.partition(".")[0] in keys_at(model, place):
            place, value, expected = [*place, named], value_at(value, named), rest
        raise SpecError(file, ".".join(place) or "the whole document", value, expected) from error


def expectation(error: Mapping[str, Any]) -> str:
    """What pydantic expected, in a few words."""
    if error["type"] == "missing":
        return "this key to be there"
    if error["type"] == "extra_forbidden":
        return "no such key"
    message: str = error["msg"]
    for start in ("Value error, ", "Input should be "):
        message = message.removeprefix(start)
    return message[:1].lower() + message[1:]
