"""A scenario: a server with its database and tools, read from one folder of data files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.mcp.engine.tool_spec import ToolFile, ToolSpec
from agentworld_gym.kit.tables.row_file import RowFile, Words
from agentworld_gym.kit.tables.word_lists import common_words


class ScenarioFile(Strict):
    """`scenario.yaml`: the description of a server."""

    title: str = Field(min_length=1)
    """The title of the server."""
    description: str = Field(min_length=1)
    """The description of the server."""
    now: str
    """The time at which its episodes play."""
    user: str
    """The user who is signed in."""
    words: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Word lists beside the common ones."""
    policies: dict[str, str | int | float] = Field(default_factory=dict)
    """The limits, deadlines and rights that the tools enforce, by name, for the families of tasks that play by them."""
    rules: tuple[str, ...] = ()
    """The policies in sentences, which the instruction of each task cites."""
    grown_from: str | None = None
    """The scenario that this one grew from, as a seed varied it; None where it was written or made."""

    @field_validator("now", mode="before")
    @classmethod
    def _plain(cls, now: Any) -> Any:
        if not isinstance(now, str):
            raise ValueError('a time in quotes, such as "2026-03-04T09:30:00Z"')
        return now


FILES = ("scenario.yaml", "schema.sql", "rows.yaml", "tools.yaml")
"""The files of a scenario."""

Version = tuple[int, ...]
"""When the files of a scenario were changed; it is empty for those of the package."""


@dataclass(frozen=True)
class ToolScenario:
    """One scenario as its files define it."""

    name: str
    """The name of the scenario."""
    folder: Path
    """The folder of the scenario's files."""
    about: ScenarioFile
    """The content of `scenario.yaml`."""
    schema: str
    """The SQL that makes the tables."""
    rows: RowFile
    """The recipes of the rows."""
    tools: tuple[ToolSpec, ...]
    """The tools as `tools.yaml` defines them."""
    words: Words
    """The common word lists and those of the scenario."""


def scenario_names() -> tuple[str, ...]:
    """Return the names of the scenarios that are shipped, sorted."""
    return tuple(sorted(path.parent.name for path in scenario_folder().glob("*/scenario.yaml")))


def scenario_folder() -> Path:
    """Return the folder that holds one folder for each scenario."""
    return data_folder("domain_specs") / "scenarios" / "mcp"


def find_scenario(name: str) -> tuple[Path, Version]:
    """Return the folder of a shipped scenario, or that of any scenario by its path, and the version of its files.

    Raises:
        SpecError: there is no such scenario.
    """
    folder = Path(name) if "/" in name else scenario_folder() / name
    if not (folder / "scenario.yaml").is_file():
        expected = f"one of {', '.join(scenario_names())}, or the path of a scenario's folder"
        raise SpecError("task state", "scenario", name, expected)
    if "/" not in name:
        return folder, ()  # The files of the package stay as they are.
    files = (folder / file for file in FILES)
    return folder, tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


def read_scenario(folder: Path) -> ToolScenario:
    """Read the scenario of a folder as it is at this moment.

    Raises:
        SpecError: one of its files is wrong; the error names file, key, value and what was expected.
    """
    about = validated(ScenarioFile, read_yaml(folder / "scenario.yaml"), folder / "scenario.yaml")
    rows = validated(RowFile, read_yaml(folder / "rows.yaml"), folder / "rows.yaml")
    tools = validated(ToolFile, read_yaml(folder / "tools.yaml"), folder / "tools.yaml")
    try:
        schema = (folder / "schema.sql").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(folder / "schema.sql", "file", type(error).__name__, "a readable UTF-8 file") from error
    words = {**common_words(), **about.words}
    return ToolScenario(folder.name, folder, about, schema, rows, tools.tools, words)
