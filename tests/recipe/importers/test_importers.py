"""Recordings of other systems as rows: what comes over, and that nothing is dropped in silence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imports import imported
from typer.testing import CliRunner

from agentworld_gym import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.importers import Importer
from agentworld_gym.recipe.importers.conversation import (
    ImportedCall,
    ImportedConversation,
    ImportedMessage,
    ImportedResult,
    ImportTally,
)
from agentworld_gym.recipe.importers.turns import turns_of

ROOT = Path(__file__).resolve().parents[3]
SESSIONS = Path(os.environ.get("AGENTWORLD_RECORDED_SESSIONS", ROOT.parent / "shared" / "data"))

CHAT: dict[str, Any] = {
    "id": "chat-1",
    "tools": [{"type": "function", "function": {"name": "mail-find", "description": "Finds.", "parameters": {}}}],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How many mails from Ida?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "mail-find", "arguments": '{"from": "Ida"}'}},
                {"id": "b", "type": "function", "function": {"name": "mail-find", "arguments": '{"from": "Ada"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": "[]"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "[1, 2]"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "Two."},
    ],
    "reward": 1.0,
}
RESPONSES: dict[str, Any] = {
    "responses_create_params": {"input": [{"role": "user", "content": "Fix it."}], "tools": None},
    "response": {
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "name": "bash", "call_id": "1", "arguments": '{"command": "ls"}'},
            {"type": "function_call_output", "call_id": "1", "output": "a.py"},
            {"type": "function_call", "name": "bash", "call_id": "2", "arguments": "{broken"},
            {"type": "function_call_output", "call_id": "2", "output": "error"},
            {"type": "function_call", "name": "bash", "call_id": "3", "arguments": "{}"},
        ]
    },
    "reward": 0.5,
}
ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "atif-1",
    "agent": {"name": "terminus-2", "version": "2.0"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Make a.txt."},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Two commands.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash_command", "arguments": {"keystrokes": "touch a.txt\n"}},
                {
                    "tool_call_id": "c2",
                    "function_name": "bash_command",
                    "arguments": {"keystrokes": "ls\n", "duration": 0.1},
                },
            ],
            "observation": {"results": [{"content": "New Terminal Output:\n$ touch a.txt\n$ ls\na.txt\n$"}]},
        },
        {
            "step_id": 3,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "c3", "function_name": "mark_task_complete", "arguments": {}}],
            "observation": {"results": [{"content": "Are you sure?"}]},
        },
    ],
}
BENCH: dict[str, Any] = {
    "task": "agentworld/terminal",
    "id": "t-9",
    "system_str": "You are a terminal.",
    "prompt": [
        "### Turn 1\n\n**Action:**\n```json\n[]\n```",
        "### Turn 2\n\n**Action:**\n```text\nls\n```\n\nPredict.",
    ],
    "response": ["**Environment Observation:**\nSure?", "**Environment Observation:**\na\u2028b"],
    "current_prompt": "### Turn 2\n\n**Action:**\n```text\nls\n```",
    "turn_idx": 2,
    "total_turns": 5,
    "extra": 1,
}


def test_chat_messages_become_turns_in_the_order_of_their_results(tmp_path: Path) -> None:
    [row], tally = imported(tmp_path, CHAT)
    assert (row.task, row.id, row.success, row.finish) == ("mcp", "chat-1", True, "finish: Two.")
    assert [json.loads(action)["arguments"] for action in row.actions] == [{"from": "Ada"}, {"from": "Ida"}]
    assert row.observations == ("[]", "[1, 2]")
    assert row.instruction == "How many mails from Ida?" and f"\n{row.instruction}\n" in row.system_str
    assert "### 1. mail-find" in row.system_str
    assert tally.left == {
        "system message": 1,
        "content of type image_url": 1,
        "text of the agent beside its calls": 1,
    }


def test_responses_keep_broken_calls_and_name_what_has_no_result(tmp_path: Path) -> None:
    [row], tally = imported(tmp_path, RESPONSES)
    assert (row.task, row.turn_idx, row.success, row.score) == ("swe", 2, False, 0.5)
    assert json.loads(row.actions[0]) == {"name": "bash", "arguments": '{"command": "ls"}'}
    assert "{broken" in row.actions[1]
    assert tally.left["reasoning"] == 1
    assert tally.left["call without a result"] == 1
    assert tally.left["arguments that are no JSON (kept as the agent wrote them)"] == 1


def test_a_session_of_claude_code_is_written_in_its_dialect(tmp_path: Path) -> None:
    calls = [("Read", {"file_path": "/app/a.py", "offset": 3}, "     3→x = 1"), ("Task", {"prompt": "Look"}, "Done.")]
    for some in (calls[:1], calls):
        output: list[dict[str, Any]] = []
        for name, arguments, text in some:
            output += [
                {"type": "function_call", "call_id": name, "name": name, "arguments": json.dumps(arguments)},
                {"type": "function_call_output", "call_id": name, "output": text},
            ]
        record = {"responses_create_params": {"input": "Fix it."}, "response": {"output": output}, "reward": 1.0}
        [row], tally = imported(tmp_path, record)
        assert (row.task, row.dialect) == ("swe", "claude-code") and not tally.left
        for text, (name, arguments, shown) in zip(row.prompt, some, strict=True):
            block = json.loads(text.partition("```json\n")[2].partition("\n```")[0])
            assert block == {"name": name, "arguments": json.dumps(arguments)}
            assert shown in row.observations


def test_keystrokes_of_one_step_are_one_batch(tmp_path: Path) -> None:
    [row], tally = imported(tmp_path, ATIF)
    assert (row.task, row.id) == ("terminal", "atif-1")
    first, done = map(json.loads, row.actions)
    assert [entry["keystrokes"] for entry in first] == ["touch a.txt\n", "ls\n"]
    assert done == []
    assert row.observations[0] == "$ touch a.txt\n$ ls\na.txt\n$"
    assert tally.left == {"reasoning": 1, "text of the agent beside its calls": 1}


def test_screens_begin_with_the_prompt_line_and_the_first_one_is_the_first_state(tmp_path: Path) -> None:
    asked = "Make a.txt.\n\nCurrent terminal state:\nCurrent Terminal Screen:\nroot@f00d:/app#\n"
    outputs = ["New Terminal Output:\n\nroot@f00d:/app# touch a.txt", "Current Terminal Screen:\nroot@f00d:/app#"]
    steps: list[dict[str, Any]] = [{"source": "user", "message": asked}]
    for number, output in enumerate(outputs):
        call = {"function_name": "bash_command", "arguments": {"keystrokes": "touch a.txt\n", "duration": number}}
        steps.append({"source": "agent", "tool_calls": [call], "observation": {"results": [{"content": output}]}})
    [row], tally = imported(tmp_path, {**ATIF, "steps": steps})
    assert (row.first_observation, row.observations) == (
        "root@f00d:/app#",
        ("root@f00d:/app# touch a.txt", "root@f00d:/app#"),
    )
    assert "**Current State:**\nroot@f00d:/app#\n" in row.prompt[0] and '"duration": 0.0' in row.prompt[0]
    assert "Make a.txt." in row.prompt[0] + row.system_str and "Terminal Screen" not in row.prompt[0]
    assert not tally.left


def test_benchmark_rows_stay_as_they_are_and_tell_their_actions(tmp_path: Path) -> None:
    [row], tally = imported(tmp_path, BENCH)
    for key in ("task", "id", "system_str", "current_prompt", "turn_idx", "total_turns"):
        assert getattr(row, key) == BENCH[key]
    assert list(row.prompt) == BENCH["prompt"]
    assert row.domain == "terminal"
    assert row.actions == ("[]", "ls")
    assert row.observations == ("Sure?", "a\u2028b")
    assert tally.left == {"key extra": 1}


def test_a_row_that_was_imported_is_not_imported_again_as_one_of_a_benchmark(tmp_path: Path) -> None:
    [row], _ = imported(tmp_path, CHAT)
    with pytest.raises(SpecError, match=r"provenance.*this is a row already"):
        imported(tmp_path, row.model_dump(mode="json"))


def test_one_file_may_mix_formats_and_a_folder_is_walked(tmp_path: Path) -> None:
    folder = tmp_path / "jobs" / "one"
    folder.mkdir(parents=True)
    (folder / "trajectory.json").write_text(json.dumps(ATIF, indent=2))
    (folder / "config.json").write_text("{}")
    (folder / "more.jsonl").write_text(json.dumps(CHAT) + "\n\n" + json.dumps(RESPONSES) + "\n")
    importer = Importer()
    assert sorted(row.task for row in importer.rows(tmp_path)) == ["mcp", "swe", "terminal"]
    assert importer.tally.left["record of no known format (config.json)"] == 1


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("{broken\n", "file", "JSON, or one JSON object a line"),
        ('{"a": 1}\n', "line 1: keys", "a record of"),
        ("[1]\n", "line 1", "a JSON object"),
        ('{"system_str": "s", "prompt": ["a"], "task": "mcp", "id": "x"}\n', "response", "this key to be there"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, text: str, key: str, expected: str) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        list(Importer().rows(path))
    assert caught.value.key == key
    assert expected in str(caught.value)


@given(
    st.lists(
        st.one_of(
            st.builds(ImportedMessage, st.sampled_from(["user", "agent", "system"]), st.text(max_size=5)),
            st.builds(
                ImportedCall,
                st.sampled_from(["", "1", "2"]),
                st.sampled_from(["bash", "f"]),
                st.sampled_from(["{}", "x"]),
            ),
            st.builds(ImportedResult, st.sampled_from(["", "1", "2"]), st.text(max_size=5)),
        ),
        max_size=12,
    )
)
def test_every_call_and_result_is_a_turn_or_is_counted(events: list[Any]) -> None:
    tally = ImportTally()
    turns = turns_of(ImportedConversation("c", events), load_spec("mcp"), tally)
    calls = {(event.id or f"#{number}") for number, event in enumerate(events) if isinstance(event, ImportedCall)}
    results = sum(isinstance(event, ImportedResult) for event in events)
    assert len(turns.actions) == len(turns.observations)
    assert len(turns.actions) + tally.left["result without a call"] == results
    assert len(turns.actions) + tally.left["call without a result"] + tally.left[
        "call that another one replaced"
    ] == sum(isinstance(event, ImportedCall) for event in events)
    assert calls or not turns.actions


def test_the_command_line_writes_rows_and_tells_what_it_left(tmp_path: Path) -> None:
    source, out = tmp_path / "chat.jsonl", tmp_path / "rows.jsonl"
    source.write_text(json.dumps(CHAT) + "\n")
    done = CliRunner().invoke(app, ["import", str(source), "--out", str(out), "--profile", "compact"])
    assert done.exit_code == 0, done.output
    assert "1 rows, 2 turns, of 1 records" in done.output
    assert "system message" in done.output
    [row] = read_rows(out)
    assert (row.profile, row.provenance.source) == ("compact", "chat")
    again = CliRunner().invoke(app, ["import", str(source), "--out", str(out)])
    assert (again.exit_code, "--force" in again.output) == (2, True)
    (tmp_path / "silent.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello."}]}\n')
    nothing = CliRunner().invoke(app, ["import", str(tmp_path / "silent.jsonl"), "--out", str(out), "--force"])
    assert (nothing.exit_code, list(read_rows(out))) == (1, [row])


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="no recorded sessions beside the checkout")
@pytest.mark.parametrize(
    ("name", "domain", "turns", "left"),
    [
        ("swe.responses.jsonl", "swe", 124, {"call without a result": 5}),
        ("terminal-keystrokes.harbor.jsonl", "terminal", 11, {"screen without an action": 1}),
        ("terminal-tools.responses.jsonl", "swe", 52, {}),
        ("tools.responses.jsonl", "mcp", 8, {}),
    ],
)
def test_real_sessions_come_over_whole(name: str, domain: str, turns: int, left: dict[str, int]) -> None:
    importer = Importer()
    rows = list(importer.rows(SESSIONS / name))
    assert {row.task for row in rows} == {domain}
    assert importer.tally.turns == turns
    for row in rows:
        assert Row.model_validate_json(row.model_dump_json()) == row and row.dialect == load_spec(domain).dialect
        for prompt, action, response, observation in zip(
            row.prompt, row.actions, row.response, row.observations, strict=True
        ):
            block = prompt.partition("```json\n")[2].partition("\n```")[0]
            assert domain != "swe" or json.loads(block) == json.loads(action)
            assert parse_completion(response) == observation
    talk = {"system message", "text of the agent beside its calls"}
    assert {what: count for what, count in importer.tally.left.items() if what not in talk} == left
