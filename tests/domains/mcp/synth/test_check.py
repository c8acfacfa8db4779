"""The check of worlds that are there: shipped ones pass, and what somebody has broken is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import synth_author

from agentworld_gym.base.errors import MissingFile
from agentworld_gym.domains.mcp.engine.scenario import scenario_folder
from agentworld_gym.domains.mcp.synth.backends.declarative import DeclarativeBackend
from agentworld_gym.domains.mcp.synth.check.examination import Examined, alike_worlds
from agentworld_gym.domains.mcp.synth.check.folders import examine
from agentworld_gym.domains.mcp.synth.config import SynthConfig
from agentworld_gym.domains.mcp.synth.pipeline import WORLDS, Synthesis

WORLD = "tool_library"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The folder of a made world."""
    author = synth_author.Author([WORLD])
    Synthesis(author.generator(), DeclarativeBackend(), tmp_path, SynthConfig(worlds=1, tasks=2)).run()
    return tmp_path / WORLDS / WORLD


def only(folder: Path) -> Examined:
    [found] = examine(folder)
    return found


def broken(folder: Path, file: str, old: str, new: str) -> str:
    """Change a file of a world, and return what the check says."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new), encoding="utf-8")
    return "\n".join(only(folder).problems)


def test_a_made_world_passes_wherever_its_folder_is_named(world: Path) -> None:
    for folder in (world, world.parent, world.parent.parent):
        found = only(folder)
        assert (found.problems, found.tools, found.answered, found.tasks, found.held) == ((), 6, 6, 2, 2)


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("schema.sql", "REFERENCES members (member_id)", "REFERENCES people (id)", "no such table: main.people"),
        ("rows.yaml", "member_id: 3\n    due", "member_id: 99\n    due", "a row of members that it refers to"),
        ("rows.yaml", "category: garden", "category: kitchen", "CHECK constraint failed"),
        ("tools.yaml", "FROM members WHERE", "FROM persons WHERE", "no such table: persons"),
        ("tools.yaml", "state = 'broken'", "state = 'in'", "tool mark_broken: the right call"),
        ("calls.yaml", "mark_broken", "break_tool", "there is no tool break_tool"),
        ("tasks/1.yaml", '"loan_id": 2}}\'\n- ', '"loan_id": 1}}\'\n- ', "1.yaml: call 2 of the solution, return_tool"),
        ("tasks/2.yaml", "number: 1", "number: 2", "2.yaml: the verifier refuses the solution"),
        ("tasks/2.yaml", "instruction:", "instructions:", "instructions"),
        ("scenario.yaml", "title: Tool library", "title: ''", "title"),
    ],
)
def test_what_is_broken_is_named(world: Path, file: str, old: str, new: str, told: str) -> None:
    assert told in broken(world, file, old, new)


def test_a_scenario_that_is_shipped_passes_without_recorded_calls() -> None:
    found = only(scenario_folder() / "shop")
    assert found.problems == () and found.tools == 35 and found.answered > 20


def test_what_a_check_does_not_foresee_costs_one_world(world: Path) -> None:
    told = broken(world, "schema.sql", "CREATE TABLE members (", "CREATE TABLE members (shout TEXT AS (upper(name)),")
    assert "the check failed: ValueError" in told


def test_twins_are_named(world: Path) -> None:
    one = only(world)
    assert alike_worlds([one, one]) == ["tool_library is too much like tool_library (1.00)"]


def test_a_folder_without_worlds_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingFile):
        list(examine(tmp_path / "nowhere"))
    with pytest.raises(MissingFile):
        list(examine(tmp_path))
