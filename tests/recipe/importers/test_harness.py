"""Steps of world-model-harness as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.importers import Importer, ImportTally


def step(task: str, command: str, shown: str, **more: Any) -> dict[str, Any]:
    return {
        "action": {"kind": "tool_call", "name": "bash", "arguments": {"command": command}, "content": None},
        "observation": {"content": shown, "is_error": False, "reward": None, "metadata": {}, **more},
        "state_before": {"structured": {}, "scratchpad": ""},
        "task": task,
        "raw_span_ids": ["1", "2"],
    }


def imported(tmp_path: Path, *records: Any) -> tuple[list[Row], ImportTally]:
    path = tmp_path / "steps.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    importer = Importer()
    return list(importer.rows(path)), importer.tally


def test_steps_in_a_row_with_the_same_task_are_a_session(tmp_path: Path) -> None:
    rows, tally = imported(
        tmp_path, step("Look.", "ls", "a"), step("Look.", "cat a", "x", reward=1.0), step("Go.", "pwd", "/")
    )
    assert [(row.instruction, row.observations, row.success) for row in rows] == [
        ("Look.", ("a", "x"), True),
        ("Go.", ("/",), None),
    ]
    commands = [json.loads(json.loads(action)["arguments"])["command"] for action in rows[0].actions]
    assert commands == ["ls", "cat a"]
    assert (tally.records, tally.turns, dict(tally.left)) == (2, 3, {})


def test_a_session_may_be_one_object(tmp_path: Path) -> None:
    [row], _ = imported(tmp_path, {"trace_id": "t9", "source": "x", "steps": [step("Look.", "ls", "a")]})
    assert (row.id, row.observations) == ("t9", ("a",))


def test_what_a_row_cannot_hold_is_counted(tmp_path: Path) -> None:
    stateful = {**step("Ask.", "ls", "no", is_error=True), "state_before": {"structured": {"a": 1}, "scratchpad": ""}}
    asked = {"action": {"kind": "message", "content": "Which one?"}, "observation": {"content": "b"}, "task": "Ask."}
    said = {"action": {"kind": "message", "content": "Done."}, "observation": {"content": ""}, "task": "Ask."}
    [row], tally = imported(tmp_path, stateful, asked, said)
    assert (row.observations, row.finish) == (("no",), "finish: Done.")
    assert tally.left == {
        "state before a step": 1,
        "mark of an error": 1,
        "user message after the first": 1,
        "text of the agent beside its calls": 1,
    }
