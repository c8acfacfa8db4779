"""Samples, which every stage of training reads: chat messages with the weight of each answer, one JSON object a
line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, ValidationInfo, field_validator

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import Message

TEXT = "text"
"""The role of plain text, which stands outside any chat template."""

ROLES = ("system", "user", "assistant")

Weight = Annotated[float, Field(ge=0, le=1)]


class Sample(Strict):
    """Chat messages to learn from, or a plain text.

    >>> messages = [{"role": "user", "content": "ls"}, {"role": "assistant", "content": "a.txt"}]
    >>> Sample(id="a", domain="terminal", messages=messages, weights=[0.5]).weights
    (0.5,)
    """

    id: str = Field(min_length=1)
    """The id of the sample, as that of its session."""

    domain: str
    """The id of the domain."""

    messages: tuple[Message, ...] = Field(min_length=1)
    """The chat messages, whose assistant messages may begin with `<think>…</think>`; a plain text is one message of the
    role `text`."""

    weights: tuple[Weight, ...]
    """The weight of each assistant message in the loss, from 0 (context only) to 1."""

    context_weight: Weight = 0.0
    """The weight of everything else."""

    group: str = ""
    """The key by which pools are drawn: samples of one group never part."""

    @field_validator("messages")
    @classmethod
    def _known_roles(cls, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        roles = {message["role"] for message in messages}
        if roles != {TEXT} and not roles <= set(ROLES):
            raise ValueError(f"the roles {', '.join(ROLES)}, or one message of the role {TEXT}")
        if roles == {TEXT} and len(messages) > 1:
            raise ValueError(f"one message of the role {TEXT}")
        return messages

    @field_validator("weights")
    @classmethod
    def _one_an_answer(cls, weights: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        answers = sum(message["role"] == "assistant" for message in info.data.get("messages", ()))
        if "messages" in info.data and len(weights) != answers:
            raise ValueError(f"{answers} weights, one for each assistant message")
        return weights


def read_samples(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Sample]:
    """Read the samples of a JSONL file one by one, split at line feeds only.

    Args:
        path: The file.
        start: The first line to read, counted from 0.
        stop: The line to stop before; None reads to the end.

    Raises:
        SpecError: A line is not a sample, or the last one is torn; names file, line, key, value and what was expected.
    """
    with path.open("rb") as file:
        for number, line in enumerate(islice(file, start, stop), start + 1):
            place = f"line {number}"
            try:
                data = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise SpecError(path, place, line[:80].decode("utf-8", "replace"), "a JSON object") from error
            try:
                yield validated(Sample, data, path)
            except SpecError as error:
                raise SpecError(path, f"{place}: {error.key}", error.value, error.expected) from error


def write_samples(path: Path, samples: Iterable[Sample]) -> int:
    """Write samples as they come; the file appears once it is whole, and replaces an earlier one.

    Returns:
        How many there were.

    Raises:
        OSError: The file cannot be written; an earlier one is left as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    count = 0
    try:
        with partial.open("wb") as file:
            for sample in samples:
                file.write(orjson.dumps(sample.model_dump()) + b"\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return count
