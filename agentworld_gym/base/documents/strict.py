"""Strict documents: models that refuse unknown keys, YAML read as plain data, and errors that name the place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from agentworld_gym.base.documents.keys import keys_at, nearest, resembles, value_at
from agentworld_gym.base.documents.plain_yaml import load_yaml
from agentworld_gym.base.errors import MissingFile, SpecError

M = TypeVar("M", bound=BaseModel)

Positive = Annotated[int, Field(ge=1)]
"""A whole number from 1 on."""


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from error
    return pattern


Regex = Annotated[str, AfterValidator(_compiled)]
"""A regular expression."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A share from 0 to 1."""


class Strict(BaseModel):
    """A frozen model that refuses unknown keys, and numbers that JSON cannot hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def read_yaml(path: Path, expected: str = "a YAML file") -> Any:
    """Read a YAML file in UTF-8 as plain data.

    Args:
        path: The file.
        expected: What it holds, for the error of a file that is not there.

    Raises:
        MissingFile: There is no such file.
        SpecError: The file cannot be read, is not YAML, or stands for too much data; see
            `agentworld_gym.base.documents.plain_yaml`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingFile(path, expected) from error
    except (OSError, ValueError) as error:  # Also no UTF-8, and a path with a zero byte.
        raise SpecError(path, "file", type(error).__name__, "a readable UTF-8 file") from error
    return load_yaml(text, path)


def read_document(model: type[M], path: Path, expected: str) -> M:
    """Read a YAML file that holds a document of one kind.

    Args:
        model: The model of the document.
        path: The file.
        expected: What it holds, for the error of a file that is not there or holds something else.

    Raises:
        MissingFile: There is no such file.
        SpecError: The file lacks a key that every such document has, so that it is another one, or a value is wrong.
    """
    data = read_yaml(path, expected)
    keys = [name for name, field in model.model_fields.items() if field.is_required()]
    if not isinstance(data, Mapping) or not data.keys() >= set(keys):
        raise SpecError(path, "the whole document", data, f"{expected}, with the keys {', '.join(keys)}")
    return validated(model, data, path)


def validated(model: type[M], data: Any, file: str | Path) -> M:
    """Validate data against a model.

    A validator of a whole model names one of its keys at the beginning of its message: `train.max_steps: at least 1`.

    Args:
        model: The model.
        data: The plain data.
        file: The file that it stood in, for errors.

    Raises:
        SpecError: The data does not fit: the error names file, key, value and what was expected. Where there is no such
            key, it lists the keys that there are, the most similar first, and asks whether that was meant. Where a key
            is missing, it names those beside it that do not exist.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        # Where a key may hold several kinds of value, pydantic adds the name of one of them.
        place = [part for part in map(str, first["loc"]) if "[" not in part]
        value = None if first["type"] == "missing" else first.get("input")
        expected = expectation(first)
        if first["type"] == "extra_forbidden":
            keys = nearest(place[-1], keys_at(model, place[:-1]))
            expected += f", but one of: {', '.join(keys)}" if keys else ""
            expected += f"; did you mean {keys[0]}?" if keys and resembles(place[-1], keys[0]) else ""
        if first["type"] == "model_type" and (keys := keys_at(model, place)):
            expected = f"keys by name: {', '.join(keys)}"
        if first["type"] == "missing":
            unknown = [one["loc"] for one in others if one["type"] == "extra_forbidden"]
            names = [str(last) for *parents, last in unknown if parents == list(first["loc"][:-1])]
            expected += f" (there is no key {', '.join(names)})" if names else ""
        named, colon, rest = expected.partition(": ")
        if colon and named.partition(".")[0] in keys_at(model, place):
            place, value, expected = [*place, named], value_at(value, named), rest
        raise SpecError(file, ".".join(place) or "the whole document", value, expected) from error


def expectation(error: Mapping[str, Any]) -> str:
    """Return what pydantic expected, in a few words."""
    if error["type"] == "missing":
        return "this key to be there"
    if error["type"] == "extra_forbidden":
        return "no such key"
    message: str = error["msg"]
    for start in ("Value error, ", "Input should be "):
        message = message.removeprefix(start)
    return message[:1].lower() + message[1:]
