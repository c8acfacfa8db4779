"""A scenario's own folder is played by `gym.make` with its tasks, in grounded and in language worlds."""

from __future__ import annotations

import shutil
from pathlib import Path

import gymnasium as gym
import pytest
import yaml

import agentworld_gym  # noqa: F401
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.mcp.engine.scenario import scenario_folder
from agentworld_gym.domains.mcp.engine.service import Service
from agentworld_gym.domains.mcp.scenario_tasks import ScenarioTasks
from agentworld_gym.llm.prompting.prompt import Prompts

ROWS = {
    "rooms": [{"room_id": 1, "name": "Blue", "seats": 4}, {"room_id": 2, "name": "Green", "seats": 9}],
    "bookings": [{"booking_id": 1, "room_id": 2, "day": "2026-03-05", "guest": "Ana"}],
}
TOOLS = [
    {
        "name": "list_bookings",
        "description": "Lists the bookings of a day.",
        "parameters": {"properties": {"day": {"type": "string"}}, "required": ["day"]},
        "result": {"key": "bookings", "many": "SELECT booking_id, room_id, guest FROM bookings WHERE day = :day"},
    },
    {
        "name": "book_room",
        "description": "Books a room for a day.",
        "parameters": {
            "properties": {"room_id": {"type": "integer"}, "day": {"type": "string"}, "guest": {"type": "string"}},
            "required": ["room_id", "day", "guest"],
        },
        "run": ["INSERT INTO bookings (room_id, day, guest) VALUES (:room_id, :day, :guest)"],
        "result": {"text": "Booked."},
    },
]
BOOK = '{"name": "rooms-book_room", "arguments": {"room_id": 1, "day": "2026-03-06", "guest": "Bo"}}'
TASK = {
    "instruction": "Book room 1 for Bo on 2026-03-06.",
    "success": [
        {
            "probe": '{"name": "rooms-list_bookings", "arguments": {"day": "2026-03-06"}}',
            "expect": {"contains": '"room_id": 1, "guest": "Bo"'},
        }
    ],
    "expert": [BOOK, "finish"],
}


def write(folder: Path, name: str = "rooms", tasks: int = 1) -> Path:
    """Write a scenario of its own, with some tasks."""
    place = folder / name
    (place / "tasks").mkdir(parents=True)
    about = {"title": "Rooms", "description": "A small guest house.", "now": "2026-03-04T09:00:00Z", "user": "desk"}
    files = {"scenario.yaml": about, "rows.yaml": {"rows": ROWS, "sizes": {"small": {}, "full": {}}}}
    for file, data in {**files, "tools.yaml": {"tools": TOOLS}}.items():
        (place / file).write_text(yaml.safe_dump(data), encoding="utf-8")
    (place / "schema.sql").write_text(
        "CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, name TEXT, seats INTEGER);\n"
        "CREATE TABLE bookings (booking_id INTEGER PRIMARY KEY AUTOINCREMENT, "
        "room_id INTEGER NOT NULL REFERENCES rooms (room_id), day TEXT, guest TEXT);\n"
    )
    for number in range(tasks):
        (place / "tasks" / f"{number + 1}.yaml").write_text(yaml.safe_dump(TASK), encoding="utf-8")
    return place


def test_a_folder_is_played_without_any_python(tmp_path: Path) -> None:
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(write(tmp_path))})
    observation, info = env.reset(seed=3)
    assert observation.startswith("Book room 1 for Bo on 2026-03-06.\n\nConnected to server rooms. Signed in as desk.")
    assert [tool["name"] for tool in info["tools"]] == ["rooms-list_bookings", "rooms-book_room"]
    env.step(BOOK)
    assert env.step("finish")[1] == 1.0


def test_rows_that_a_task_states_are_all_rows_and_no_others_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path)
    stated = {**TASK, "state": {"tables": {"rooms": [{"room_id": 1, "name": "Red", "seats": 2}]}}}
    (place / "tasks" / "1.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")
    monkeypatch.setattr(Service, "generated", None)
    task = ScenarioTasks(place, load_spec("mcp")).pick(0)
    assert task.state == {"scenario": str(place), "now": "2026-03-04T09:00:00Z", "user": "desk", **stated["state"]}


def test_seeds_walk_through_scenarios_and_then_through_their_tasks(tmp_path: Path) -> None:
    for name in ("attic", "rooms"):
        write(tmp_path, name, tasks=11)
    tasks = ScenarioTasks(tmp_path, load_spec("mcp"))
    assert tasks.ids[:3] == ("attic-1", "attic-2", "attic-3") and tasks.ids[9:11] == ("attic-10", "attic-11")
    shutil.rmtree(tmp_path / "attic")
    tasks = ScenarioTasks(tmp_path, load_spec("mcp"))
    assert [tasks.pick(seed).id for seed in (0, 1, 11)] == ["rooms-1", "rooms-2", "rooms-1"]
    assert tasks.find("rooms-7") is not None and tasks.find("rooms-12") is None


def test_what_other_changes_an_agent_makes_costs_it_the_success(tmp_path: Path) -> None:
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(write(tmp_path))})
    env.reset(seed=0)
    env.step(BOOK)
    env.step(BOOK.replace("Bo", "Cy"))
    *_, info = env.step("finish")
    assert info["success"] is False and info["collateral"]


def test_another_scenario_is_another_world(tmp_path: Path) -> None:
    place = write(tmp_path)

    def digest() -> str:
        env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(place)})
        return str(env.unwrapped.world.fingerprint.digest)  # type: ignore[attr-defined]

    before = digest()
    assert digest() == before
    (place / "tasks" / "1.yaml").write_text(yaml.safe_dump({**TASK, "max_steps": 4}))
    assert digest() == before
    (place / "tools.yaml").write_text((place / "tools.yaml").read_text().replace("Booked.", "Done."))
    assert digest() != before
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(place)})
    env.reset(seed=0)
    assert env.step(BOOK)[0] == "Done."


def test_a_language_world_is_told_all_rows(tmp_path: Path) -> None:
    task = ScenarioTasks(write(tmp_path), load_spec("mcp")).pick(0)
    system = Prompts(load_spec("mcp")).system(task)
    assert "Green" in system and "rooms-book_room" in system


def test_errors_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="a scenario, or a folder with folders of scenarios"):
        gym.make("AgentWorld/MCP-v0", world_options={"scenario": "shop"})
    with pytest.raises(MissingFile, match="at least one task of a scenario"):
        gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(scenario_folder() / "shop")})
    with pytest.raises(SpecError, match="None: scenarios belong to mcp, not to terminal"):
        gym.make("AgentWorld/Terminal-v0", world_options={"scenario": str(tmp_path)})
    place = write(tmp_path)
    (place / "tasks" / "1.yaml").write_text(
        yaml.safe_dump({**TASK, "menu": ['{"name": "rooms-burn", "arguments": {}}']})
    )
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(place)})
    with pytest.raises(SpecError, match=r"1.yaml: menu.0: .* an action that can be read"):
        env.reset(seed=0)


def spoil(place: Path, **parameters: object) -> None:
    """Give the first tool of a scenario other parameters."""
    tools = [{**TOOLS[0], "parameters": parameters}, *TOOLS[1:]]
    (place / "tools.yaml").write_text(yaml.safe_dump({"tools": tools}), encoding="utf-8")


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"day": {"type": "date"}}},
        {"properties": {"day": {"pattern": "[a-"}}},
        {"properties": {"day": {"examples": "abc"}}},
        {"properties": ["day"]},
        {"properties": "day"},
        {"properties": {"day": 5}},
        {"type": "array"},
        {"required": True},
    ],
)
def test_a_tool_with_an_odd_schema_is_left_out_and_named_and_the_others_are_played(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, parameters: dict[str, object]
) -> None:
    place = write(tmp_path)
    spoil(place, **parameters)
    alone = {**TASK, "success": [{"answer": {"equals": "done"}}], "expert": ["finish: done"]}
    (place / "tasks" / "1.yaml").write_text(yaml.safe_dump(alone), encoding="utf-8")
    env = gym.make("AgentWorld/MCP-v0", world_options={"scenario": str(place)})
    _, info = env.reset(seed=0)
    assert [tool["name"] for tool in info["tools"]] == ["rooms-book_room"]
    assert "rooms: 1 of 2 tools are left out: list_bookings (" in caplog.text
    assert env.step(BOOK)[0] == "Booked."
    assert env.step('{"name": "rooms-list_bookings", "arguments": {}}')[0] == "Unknown tool: rooms-list_bookings"


def test_a_scenario_that_cannot_be_played_does_not_stop_the_others_of_its_folder(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("attic", "barn", "cellar", "rooms"):
        write(tmp_path, name, tasks=2)
    for name in ("attic", "barn", "cellar"):
        for file in (tmp_path / name / "tasks").glob("*.yaml"):
            file.write_text(file.read_text().replace("rooms-", f"{name}-"))
    spoil(tmp_path / "attic", type="array")
    (tmp_path / "barn" / "schema.sql").write_text("CREATE NOTHING")
    (tmp_path / "cellar" / "rows.yaml").unlink()
    envs = gym.make_vec("AgentWorld/MCP-v0", num_envs=8, world_options={"scenario": str(tmp_path)})
    _, infos = envs.reset(seed=0)
    assert set(infos["task_id"]) == {"rooms-1", "rooms-2"}
    for name in ("attic-1", "attic-2", "barn-1", "barn-2", "cellar-1", "cellar-2"):
        assert f"task {name} cannot be played: " in caplog.text
    envs.close()


def test_rows_that_are_stated_may_be_referred_to_and_must_hold(tmp_path: Path) -> None:
    place = write(tmp_path)
    rows = yaml.safe_load((place / "rows.yaml").read_text())
    drawn = {"sizes": {"small": {"bookings": 2}, "full": {"bookings": 9}}}
    recipe = {"booking_id": {"count": 5}, "room_id": {"of": "rooms.room_id"}, "day": "2026-03-09", "guest": "Di"}
    mixed = {"rows": {"rooms": rows["rows"]["rooms"]}, **drawn, "tables": {"bookings": recipe}}
    (place / "rows.yaml").write_text(yaml.safe_dump(mixed))
    task = ScenarioTasks(place, load_spec("mcp")).pick(0)
    assert len(task.state["tables"]["rooms"]) == 2 and len(task.state["tables"]["bookings"]) == 2
