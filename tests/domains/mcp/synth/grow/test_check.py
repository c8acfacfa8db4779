"""The check of grown worlds: worlds of one scenario may be alike, and the tasks of each are proved as episodes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.engine import ToolMachine
from agentworld_gym.domains.mcp.synth.check.examination import Examined, alike_worlds
from agentworld_gym.domains.mcp.synth.check.folders import examine
from agentworld_gym.domains.mcp.synth.grow.folder import GrowConfig, grow_worlds
from agentworld_gym.domains.mcp.synth.grow.world import dumped


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A grown world with one task, in which some leave is approved and some is refused."""
    config = GrowConfig("hr", (9,), tasks=1, families=("settle_leave",), levels=(1,))
    [(folder, _)] = grow_worlds(config, tmp_path / "grown")
    return folder


def checked(folder: Path) -> Examined:
    [found] = examine(folder)
    return found


def faults_with(world: Path, **changes: object) -> str:
    """What the check says of the world's task once parts of its file are replaced."""
    [file] = (world / "tasks").glob("*.yaml")
    file.write_text(dumped({**read_yaml(file), **changes}), encoding="utf-8")
    return "\n".join(checked(world).problems)


def test_worlds_that_grew_from_one_scenario_hold_beside_each_other(world: Path) -> None:
    list(grow_worlds(GrowConfig("hr", (7,), tasks=1, families=("settle_leave",), levels=(2,)), world.parent))
    found = list(examine(world.parent))
    assert [(one.problems, one.held, one.tasks) for one in found] == [((), 1, 1), ((), 1, 1)]
    assert alike_worlds(found) == []


def test_a_copy_of_a_grown_world_is_named(world: Path) -> None:
    shutil.copytree(world, world.parent / "hr_10")
    assert alike_worlds(list(examine(world.parent))) == ["hr_9 is too much like hr_10 (1.00)"]


def test_an_expert_that_does_not_solve_the_task_is_named(world: Path) -> None:
    assert "the expert does not solve it" in faults_with(world, expert=["finish"])
    assert "the last of which is finish" in faults_with(world, expert=[])


def test_a_call_of_the_expert_that_success_does_not_take_is_named(world: Path) -> None:
    [file] = (world / "tasks").glob("*.yaml")
    told = faults_with(world, success=read_yaml(file)["success"][:1], free=["leave_requests/504/**"])
    assert told.count("solves it") == 1
    assert "the expert without call 5" in told


def test_a_question_may_be_answered_at_once_and_not_without_an_answer(world: Path) -> None:
    asked = {"expert": ["finish: 7"], "success": [{"answer": {"number": 7}}]}
    assert faults_with(world, **asked) == ""
    held = {"probe": '{"name": "hr_9-list_departments", "arguments": {}}', "expect": {"contains": "departments"}}
    assert "'finish' solves it at the start" in faults_with(world, **asked | {"success": [held]})


def test_a_world_that_fails_is_a_fault_of_its_own(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(machine: ToolMachine, action: object) -> str:
        raise EngineError("the server is away")

    monkeypatch.setattr(ToolMachine, "act", fail)
    assert any("the world failed (engine): the server is away" in problem for problem in checked(world).problems)
