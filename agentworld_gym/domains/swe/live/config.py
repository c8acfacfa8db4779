"""What a user says of a repository: the option `live` of this domain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.kit.live import LiveConfig, LiveSource
from agentworld_gym.kit.live.config import SandboxFiles

NAMED = "named tests"
"""The command of a check that runs the named tests of a row over a clean copy."""


def _names(given: Any) -> Any:
    """Read a list of names that is written as JSON, as the data sets of SWE-bench do."""
    with suppress(ValueError):
        return json.loads(given) if isinstance(given, str) else given
    raise ValueError("names of tests in a list, or that list as JSON")


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class RepositoryConfig(LiveConfig):
    """A repository, and how its tests run.

    >>> RepositoryConfig(repository="~/src/mylib").tests
    'python3 -m pytest'
    """

    repository: str = Field(min_length=1)
    """A folder of this machine that git knows. Episodes work on private clones of it."""

    commit: str = "HEAD"
    """The commit at which an episode begins. The clone holds no later ones."""

    tests: str = Field(default="python3 -m pytest", min_length=1)
    """The command that runs the tests, in the root of the repository. For rows, the names of files follow it."""

    setup: str | None = None
    """A command that runs once in a clone, before all episodes."""

    rows: str | None = None
    """A file of JSON lines in the form of SWE-bench, each of which is a task."""


class RepositoryRow(Strict, extra="ignore"):
    """One row in the form of SWE-bench; other keys are ignored."""

    instance_id: str = Field(min_length=1)
    """The id of the task."""

    problem_statement: str = Field(min_length=1)
    """What is asked for."""

    base_commit: str = Field(min_length=1)
    """The commit at which the episode begins."""

    patch: str = ""
    """The change that solves it."""

    test_patch: str = ""
    """The change that brings the tests."""

    FAIL_TO_PASS: Names = Field(min_length=1)
    """The tests that have to pass, and fail before."""

    PASS_TO_PASS: Names = ()
    """The tests that have to go on passing."""

    def task(self) -> dict[str, Any]:
        """Return the row as a task."""
        return {
            "id": self.instance_id,
            "instruction": self.problem_statement,
            "state": {"commit": self.base_commit},
            "hidden": {"row": self.model_dump()},
            "success": [{"run": NAMED}],
            "family": "rows",
        }


class RepositoryTaskState(Strict):
    """What a task states to a repository."""

    commit: str | None = None
    """The commit at which the episode begins; None takes that of the configuration."""

    files: SandboxFiles = Field(default_factory=dict)
    """Texts of files by path from the root of the repository, which are written before the agent acts."""

    setup: str | None = None
    """A command that runs in the root of the repository after that."""

    root: Any = None
    """The root of the repository; for the prompts of language worlds."""

    python: Any = None
    """The version of Python, likewise."""

    git: Any = None
    """What git tells, likewise."""


def rows_of(source: LiveSource, file: str) -> list[RepositoryRow]:
    """Read the rows of a file.

    Raises:
        SpecError: A line is no such row, or there is none.
        MissingFile: There is no such file.
    """
    path = source.path(file)
    if not path.is_file():
        raise MissingFile(path, "JSON lines in the form of SWE-bench", key="rows")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(path, "file", type(error).__name__, "a readable UTF-8 file") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            raise SpecError(path, f"line {number}", line, "a JSON object") from error
        if not isinstance(data, Mapping):
            raise SpecError(path, f"line {number}", data, "a JSON object")
        rows.append(validated(RepositoryRow, dict(data), f"{path}, line {number}"))
    if not rows:
        raise SpecError(path, "the whole document", "", "at least one row in the form of SWE-bench")
    return rows
