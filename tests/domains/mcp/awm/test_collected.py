"""Sessions of AWM's worlds, recorded to train and to evaluate a world model on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awm_worlds
import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.mcp.awm.menu import menu_of
from agentworld_gym.llm.generators.scripted import ScriptedGenerator


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the handle of a folder with the easy world."""
    if reason := awm_worlds.unplayable():
        pytest.skip(reason)
    return f"awm:{awm_worlds.write(tmp_path_factory.mktemp('awm'), awm_worlds.library())}"


def test_a_menu_holds_a_call_of_each_tool_with_what_the_database_and_the_task_name() -> None:
    tools = [
        {"name": "list_ports", "parameters": {"properties": {"country": {"type": "string"}}}},
        {
            "name": "move_ship",
            "parameters": {
                "properties": {
                    "ship_id": {"type": "integer"},
                    "kind": {"type": "string", "enum": ["a", "b"]},
                    "day": {"type": "string", "format": "date"},
                },
                "required": ["ship_id", "kind", "day"],
            },
        },
    ]
    tables = {"ports": [{"id": 1, "country": "NL"}], "ships": [{"id": 4}, {"id": 5, "day": "2026-01-02"}]}
    *calls, last = menu_of(tools, tables, "Move ship 5.", "seed")
    assert last == "finish"
    moves = [call["arguments"] for call in map(json.loads, calls) if call["name"] == "move_ship"]
    assert moves[0] == {"ship_id": 5, "kind": "a", "day": "2026-01-02"}
    assert {"name": "list_ports", "arguments": {}} in map(json.loads, calls)


CODE = {"type": "string", "pattern": "^[A-Z]{2}$"}


@pytest.mark.parametrize(
    ("schema", "calls"),
    [
        (CODE, [{"code": "NL"}]),
        ({**CODE, "pattern": "^[a-z]{3}$"}, []),
        ({**CODE, "pattern": "^[a-z]{3}$", "example": "abc"}, [{"code": "abc"}]),
        ({"type": "array", "items": CODE, "examples": [["NL", "DE"]]}, [{"code": ["NL", "DE"]}]),
        ({"anyOf": [{**CODE, "minLength": 2}, {"type": "null"}], "type": "string"}, [{"code": "NL"}]),
    ],
)
def test_a_menu_holds_only_calls_that_fit_the_schema_of_their_tool(
    schema: dict[str, Any], calls: list[dict[str, Any]]
) -> None:
    tool = {"name": "get_port", "parameters": {"properties": {"code": schema}, "required": ["code"]}}
    *menu, _ = menu_of([tool], {"ports": [{"code": "nl"}, {"code": "NL"}]}, "Look at the port 'Delft'.", "seed")
    assert [json.loads(call)["arguments"] for call in menu] == calls


def test_sessions_are_recorded_with_rows_schema_and_changes_and_go_on_after_an_interruption(
    world: str, tmp_path: Path
) -> None:
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    config = CollectConfig(world=world)
    assert collect([load_spec("mcp")], whole, 6, 0, config) == 6

    def interrupt(row: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect([load_spec("mcp")], torn, 6, 0, config, on_row=interrupt)
    with torn.open("ab") as file:
        file.write(b'{"task":"mcp","id":"to')
    collect([load_spec("mcp")], torn, 6, 0, config)
    assert torn.read_bytes() == whole.read_bytes()
    rows = [json.loads(line) for line in whole.read_text().splitlines()]
    assert {row["family"] for row in rows} == {"corner_library"} and len({row["number"] for row in rows}) == 6
    assert all("CREATE TABLE books" in row["system_str"] and "Ulysses" in row["system_str"] for row in rows)
    assert any(change for row in rows for change in row["changes"])


def test_a_language_model_of_the_users_may_play(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: ChatRequest) -> str:
        borrow = '```json\n{"name": "borrow_book", "arguments": {"book_id": 1}}\n```'
        return f"I borrow it.\n{borrow}" if len(request.messages) == 2 else "finish: There are 2 copies."

    opened = "agentworld_gym.agents.policies.registry.open_generator"
    monkeypatch.setattr(opened, lambda handle, **options: ScriptedGenerator(answer))
    recorder = Recorder([load_spec("mcp")], CollectConfig(world=world, agent="http://localhost:1/v1"), 0)
    rows = [row for row in (recorder.row(number) for number in range(6)) if row is not None]
    assert {row.policy for row in rows} == {"model"} and all(len(row.actions) == 1 for row in rows)
    assert {row.task_id: row.success for row in rows if row.task_id != "corner_library-3"} == {
        row.task_id: True for row in rows if row.task_id != "corner_library-3"
    }


def test_what_such_worlds_do_not_have_is_refused(world: str) -> None:
    with pytest.raises(SpecError, match=r"families: got .*, expected its default: awm:.* brings its tasks"):
        Recorder([load_spec("mcp")], CollectConfig(world=world, families=("pay_bill",)), 0)
