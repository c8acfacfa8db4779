"""A scenario: a server with its database and tools, read from one folder of data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.engines.mcp.tool_spec import ToolFile, ToolSpec
from agentworld_gym.engines.tables.row_file import RowFile, Words
from agentworld_gym.engines.tables.word_lists import common_words
from agentworld_gym.errors import SpecError


class ScenarioFile(Strict):
    """`scenario.yaml`: what the server is, when its episodes play, who is signed in, and word lists of its own."""

    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    now: str
    user: str
    words: dict[str, tuple[Any, ...]] = Field(default_factory=dict)

    @field_validator("now", mode="before")
    @classmethod
    def _plain(cls, now: Any) -> Any:
        if not isinstance(now, str):
            raise ValueError('a time in quotes, such as "2026-03-04T09:30:00Z"')
        return now


@dataclass(frozen=True)
class Scenario:
    """One scenario as its files say it. `words` are the common lists and its own."""

    name: str
    folder: Path
    about: ScenarioFile
    schema: str
    rows: RowFile
    tools: tuple[ToolSpec, ...]
    words: Words


def scenario_names() -> tuple[str, ...]:
    """The scenarios that are shipped, sorted."""
    return tuple(sorted(path.parent.name for path in scenario_folder().glob("*/scenario.yaml")))


def scenario_folder() -> Path:
    """Where the scenarios lie, one folder each."""
    return data_folder("domain_specs") / "scenarios" / "mcp"


@lru_cache(maxsize=32)
def load_scenario(name: str) -> Scenario:
    """A shipped scenario by its name, or any by the path of its folder.

    Raises:
        SpecError: there is no such scenario, or a file of it is wrong; names file, key, value and expectation.
    """
    folder = Path(name) if "/" in name else scenario_folder() / name
    if not (folder / "scenario.yaml").is_file():
        expected = f"one of {', '.join(scenario_names())}, or the path of a scenario's folder"
        raise SpecError("task state", "scenario", name, expected)
    about = validated(ScenarioFile, read_yaml(folder / "scenario.yaml"), folder / "scenario.yaml")
    rows = validated(RowFile, read_yaml(folder / "rows.yaml"), folder / "rows.yaml")
    tools = validated(ToolFile, read_yaml(folder / "tools.yaml"), folder / "tools.yaml")
    try:
        schema = (folder / "schema.sql").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(folder / "schema.sql", "file", type(error).__name__, "a readable UTF-8 file") from error
    words = {**common_words(), **about.words}
    return Scenario(folder.name, folder, about, schema, rows, tools.tools, words)
