"""Grown worlds: the same seed gives the same bytes, another seed another world, and every database holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.domains.mcp.synth.grow.folder import GrowConfig, grow_worlds
from agentworld_gym.domains.mcp.synth.grow.growth import growable_scenarios, read_growth
from agentworld_gym.domains.mcp.synth.grow.world import dumped, grown_files, grown_tasks, task_data
from agentworld_gym.domains.mcp.tasks.grown_families import families_on
from agentworld_gym.domains.mcp.tasks.scene import ToolFamily, ToolScene
from agentworld_gym.kit.tables.database import open_image

scenarios = st.sampled_from(growable_scenarios())
seeds = st.integers(0, 2**31 - 1)
quick = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def names_of(words: dict[str, Any], recipes: dict[str, Any]) -> set[str]:
    """The entries of the word lists that vary."""
    return {str(entry) for name in recipes for entry in words[name]}


@quick
@given(scenarios, seeds)
def test_the_same_seed_gives_the_same_bytes(scenario: str, seed: int) -> None:
    first, second = grown_files(scenario, seed), grown_files(scenario, seed)
    assert [dumped(part) for part in (first.about, first.rows, first.tools)] == [
        dumped(part) for part in (second.about, second.rows, second.tools)
    ]


@quick
@given(scenarios, seeds, seeds)
def test_other_seeds_give_other_names(scenario: str, seed: int, other: int) -> None:
    recipes = read_growth(scenario)[1].words
    one, two = (grown_files(scenario, each).about["words"] for each in (seed, other))
    shared = names_of(one, recipes) & names_of(two, recipes)
    assert (len(shared) < 0.2 * len(names_of(one, recipes))) or seed == other


@pytest.mark.parametrize("scenario", growable_scenarios())
def test_policies_rules_and_users_differ_between_seeds(scenario: str) -> None:
    worlds = [grown_files(scenario, seed).about for seed in range(8)]
    growth = read_growth(scenario)[1]
    assert len({str(world["policies"]) for world in worlds}) >= 7
    assert len({str(world["rules"]) for world in worlds}) >= 7
    assert {world["user"] for world in worlds} >= set(growth.users)


@quick
@given(scenarios, seeds, seeds)
def test_every_database_holds_its_constraints_and_differs_from_others(
    tmp_path: Path, scenario: str, seed: int, other: int
) -> None:
    images = {}
    for each in (seed, other):
        folder = tmp_path / f"{scenario}_{each}"
        if not folder.is_dir():
            grown_files(scenario, each).write(folder)
        service = load_service(str(folder))
        for image in (service.generated("small", 0), service.generated("full", each)):
            connection = open_image(image)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
        images[each] = service.generated("small", 0)
    assert len(set(images.values())) == len(images)


@pytest.mark.parametrize("scenario", growable_scenarios())
def test_the_policies_stand_in_what_the_agent_reads(tmp_path: Path, scenario: str) -> None:
    folder = tmp_path / f"{scenario}_3"
    files = grown_files(scenario, 3)
    files.write(folder)
    told = " ".join(str(tool["description"]) for tool in files.tools["tools"])
    values = [str(value) for value in files.about["policies"].values()]
    assert all(value in " ".join(files.about["rules"]) for value in values)
    assert all(value in told for value in values)
    for task in grown_tasks(scenario, folder, 3, 2):
        assert all(f"- {rule}" in task.instruction for rule in files.about["rules"])


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    """A run that is stopped within a world, or between two, goes on and ends with what one run writes."""
    config = GrowConfig("hr", (0, 1, 2), tasks=2)
    worlds = grow_worlds(config, tmp_path / "stopped")
    next(worlds)
    worlds.close()
    half = tmp_path / "stopped" / ".hr_1.partial" / "hr_1"
    half.mkdir(parents=True)
    (half / "scenario.yaml").write_text("title: half", encoding="utf-8")
    first = (tmp_path / "stopped" / "hr_0" / "rows.yaml").stat().st_mtime_ns

    grown = [missing for _, missing in grow_worlds(config, tmp_path / "stopped")]
    list(grow_worlds(config, tmp_path / "whole"))

    assert grown == [False, True, True]
    assert (tmp_path / "stopped" / "hr_0" / "rows.yaml").stat().st_mtime_ns == first
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


def test_runs_that_grow_the_same_world_at_a_time_leave_each_other_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run begins when the first one has written half of a world, and finishes it."""
    config = GrowConfig("hr", (0, 1), tasks=1)
    second: list[bool] = []

    def tasks(*arguments: Any) -> Iterator[Task]:
        if not second:
            second.append(False)
            second[:] = [grown for _, grown in grow_worlds(config, tmp_path / "two")]
        return grown_tasks(*arguments)

    list(grow_worlds(config, tmp_path / "one"))
    monkeypatch.setattr("agentworld_gym.domains.mcp.synth.grow.folder.grown_tasks", tasks)
    first = [grown for _, grown in grow_worlds(config, tmp_path / "two")]
    assert (first, second) == ([False, False], [True, True])
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_an_error_leaves_no_half_of_a_world(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="one of settle_leave, decide_leave"):
        list(grow_worlds(GrowConfig("hr", (0,), families=("pay_bill",)), tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


def test_what_cannot_grow_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="got 'zoo', expected one of bank, hr, office, shop, tracker"):
        grown_files("zoo", 0)
    with pytest.raises(SpecError, match="scenario: got 'zoo'"):
        list(grow_worlds(GrowConfig("zoo", (0,)), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_tasks_of_a_world_belong_to_its_split(tmp_path: Path) -> None:
    folder = tmp_path / "bank_19"
    grown_files("bank", 19).write(folder)
    tasks = [task_data(task) for task in grown_tasks("bank", folder, 19, 5)]
    assert {task["split"] for task in tasks} == {"test"}
    assert [task["family"] for task in tasks] == [
        *("settle_charges", "duplicate_charge", "move_standing_orders", "pay_bill"),
        "settle_charges",
    ]
    assert [task["level"] for task in tasks] == [1, 1, 1, 1, 2]


def test_a_task_for_which_the_policies_leave_no_room_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def impossible(scene: ToolScene, level: int) -> TaskDraft:
        raise Unfit("no room")

    families = {"impossible": ToolFamily(impossible, "hr"), **families_on("hr")}
    monkeypatch.setattr("agentworld_gym.core.tasks.scene.ATTEMPTS", 200)
    monkeypatch.setattr("agentworld_gym.domains.mcp.synth.grow.world.families_on", lambda scenario: families)
    folder = tmp_path / "hr_2"
    grown_files("hr", 2).write(folder)
    assert [task.family for task in grown_tasks("hr", folder, 2, 2)] == ["settle_leave"]
    assert "hr_2 has no task impossible-1-2" in caplog.text


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files below a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_a_world_are_plain_data(tmp_path: Path) -> None:
    ((folder, _),) = grow_worlds(GrowConfig("tracker", (5,), tasks=1), tmp_path)
    assert sorted(path.suffix for path in folder.rglob("*") if path.is_file()) == [".sql", *[".yaml"] * 4]
    assert read_yaml(folder / "scenario.yaml")["policies"]["reserved"] in ("high", "critical")
