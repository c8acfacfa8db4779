"""Recorded calls that a full prompt shows of the tools of an episode: one of each tool, with what it returned.

They lie in a file of JSON lines that the spec names, and come from sessions of the grounded world. A call from a task
with the seed of the task at hand is passed over, so that no prompt tells what its own episode will show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task


class FewShot(Strict):
    """One recorded call of a tool."""

    tool: str
    """The name of the tool."""

    seed: int
    """The seed of the task in whose session the call was made."""

    action: dict[str, Any]
    """The call as the domain reads it."""

    observation: str
    """What the call returned."""


def read_few_shots(path: Path) -> tuple[FewShot, ...]:
    """Read the recorded calls in a file.

    Raises:
        SpecError: There is no such file, or a line is no recorded call.
    """
    try:
        return _parsed(path, path.read_bytes())
    except OSError as error:
        raise MissingFile(path, "recorded calls of tools") from error


def few_shots_of(spec: DomainSpec) -> tuple[FewShot, ...]:
    """Read the recorded calls that a spec names; there are none where it names no file.

    Raises:
        SpecError: The file is missing or broken.
    """
    if spec.action.few_shots is None:
        return ()
    return read_few_shots(spec.path.parent / spec.action.few_shots)


def choose_few_shots(known: Iterable[FewShot], task: Task, tools: Sequence[Mapping[str, Any]]) -> list[FewShot]:
    """Choose the first recorded call of each tool that is not from a task with the seed of this one, in the order of
    the tools.

    >>> look = {"tool": "look", "action": {"name": "look"}}
    >>> calls = [FewShot(**look, seed=seed, observation=str(seed)) for seed in (1, 2)]
    >>> task = Task(id="t", domain="d", instruction="i", seed=1, success=[{"answer": {"equals": "1"}}])
    >>> [found.observation for found in choose_few_shots(calls, task, [{"name": "look"}, {"name": "go"}])]
    ['2']
    """
    first: dict[str, FewShot] = {}
    for call in known:
        if task.seed is None or call.seed != task.seed:
            first.setdefault(call.tool, call)
    names = dict.fromkeys(tool.get("name") for tool in tools)
    return [first[name] for name in names if name in first]


@lru_cache(maxsize=32)
def _parsed(path: Path, data: bytes) -> tuple[FewShot, ...]:
    calls = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            calls.append(validated(FewShot, orjson.loads(line), path))
        except orjson.JSONDecodeError as error:
            raise SpecError(path, f"line {number}", error.msg, "a recorded call as JSON") from error
    return tuple(calls)
