"""Recordings of other systems as rows: what comes over, and that nothing is dropped in silence."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import os
import pickle
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from agentworld_gym import SpecError
from agentworld_gym.cli.app import app
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens import read_screen
from agentworld_gym.llm.prompting.parsing import parse_completion
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.importers import Importer
from agentworld_gym.recipe.importers.browsergym import MAX_CHARS, SHOWN, browsed, flat_tree, page
from agentworld_gym.recipe.importers.conversation import (
    ImportedCall,
    ImportedConversation,
    ImportedMessage,
    ImportedResult,
    ImportTally,
)
from agentworld_gym.recipe.importers.pickles import plain, read_pickle
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


def imported(tmp_path: Path, *records: Any, **options: Any) -> tuple[list[Row], ImportTally]:
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    importer = Importer(**options)
    return list(importer.rows(path)), importer.tally


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


def page_seen(tree: str, url: str = "http://shop.example/", **more: Any) -> dict[str, Any]:
    """What BrowserGym's agents see of a page."""
    return {"goal": "Buy a lamp.", "url": url, "axtree_txt": tree, "last_action_error": "", **more}


STEPS: list[dict[str, Any]] = [
    {
        "step": 0,
        "obs": page_seen("RootWebArea 'Shop'\n\t[7] link 'Lamp', clickable", screenshot=[[0]]),
        "action": "click('7')",
        "reward": 0,
        "agent_info": {"think": "The lamp.", "extra": None},
        "stats": {"n_token_axtree_txt": 9},
    },
    {
        "step": 1,
        "obs": page_seen(
            "RootWebArea 'Lamp'\n\t[9] button 'Buy'",
            "http://shop.example/lamp",
            open_pages_urls=["http://shop.example/lamp", "about:blank"],
            open_pages_titles=["Lamp", ""],
            active_page_index=[0],
            focused_element_bid="9",
            last_action_error="TimeoutError: Locator.click",
        ),
        "action": 'click("9")\nnoop()',
        "reward": 0,
        "agent_info": {},
    },
    {"step": 2, "obs": page_seen("RootWebArea 'Thanks'"), "action": None, "reward": 1.0, "terminated": True},
]


KEYS = ("steps", "obs", "action", "step", "reward", "nodes", "nodeId", "childIds", "role", "name", "value")


class TestBrowserGym:
    """Steps of BrowserGym and AgentLab, as JSON and as pickles."""

    def check(self, row: Row) -> None:
        assert (row.task, row.turn_idx, row.score, row.success) == ("web", 2, 1.0, True)
        assert row.actions == ("click('7')", 'click("9")\nnoop()')
        assert row.first_observation == "URL: http://shop.example/\n\nRootWebArea 'Shop'\n\t[7] link 'Lamp', clickable"
        assert row.observations == (
            "URL: http://shop.example/lamp\nOpen tabs:\n  0: Lamp (http://shop.example/lamp), active\n"
            "  1:  (about:blank)\nFocused element: 9\nError of the last action: TimeoutError: Locator.click\n\n"
            "RootWebArea 'Lamp'\n\t[9] button 'Buy'",
            "URL: http://shop.example/\n\nRootWebArea 'Thanks'",
        )
        assert "\nBuy a lamp.\n" in row.system_str
        assert "[7] link 'Lamp', clickable" in row.prompt[0]
        assert row.prompt[0].endswith("**Action:**\n```text\nclick('7')\n```")
        assert [node.name for node in read_screen("web", row.observations[0])] == ["Lamp", "Buy"]

    def test_steps_one_a_line_are_one_session_up_to_the_next_step_0(self, tmp_path: Path) -> None:
        (first, second), tally = imported(tmp_path, *STEPS, *STEPS)
        assert (first.id, second.id) == ("records-1", "records-4")
        self.check(first)
        self.check(second)
        assert tally.records == 2
        # `click("9")\nnoop()` counts as read: one action of BrowserGym may hold several calls.
        assert tally.left == {"obs.screenshot": 2, "agent_info.think": 2, "step.stats": 2}

    def test_a_session_in_one_object(self, tmp_path: Path) -> None:
        record = {"id": "s-1", "task_name": "shop.lamp", "steps": STEPS, "cum_reward": 0.5}
        [row], _ = imported(tmp_path, record, form="browsergym", profile="compact")
        assert (row.id, row.task_id, row.score, row.success) == ("s-1", "shop.lamp", 0.5, False)

    def test_sessions_that_name_themselves_are_kept_apart(self, tmp_path: Path) -> None:
        rows, _ = imported(tmp_path, *({**step, "episode_id": name} for name in ("a", "b") for step in STEPS))
        assert [row.id for row in rows] == ["a", "b"]

    def test_what_an_action_led_to_may_be_missing(self, tmp_path: Path) -> None:
        [row], tally = imported(tmp_path, *STEPS[:2])
        assert row.actions == ("click('7')",)
        assert tally.left["action without an observation after it"] == 1

    def test_a_raw_tree_is_written_as_text(self) -> None:
        def node(key: str, role: str, name: str | None, *children: str, **more: Any) -> dict[str, Any]:
            named = {} if name is None else {"name": {"value": name}}
            return {"nodeId": key, "role": {"value": role}, "childIds": list(children), **named, **more}

        def told(**values: Any) -> list[dict[str, Any]]:
            return [{"name": key, "value": {"value": value}} for key, value in values.items()]

        tree = {
            "nodes": [
                node("1", "RootWebArea", "Shop", "2", "5", "1", properties=told(focusable=True, focused=True)),
                node("2", "generic", "", "3"),
                node("3", "button", "Add", "4", browsergym_id="12", properties=told(invalid="false")),
                node("4", "StaticText", "Add"),
                node("5", "textbox", "It's", browsergym_id="13", value={"value": "x"}, properties=told(required=True)),
                node("6", "link", "nobody's child"),
            ]
        }
        assert flat_tree(tree, {"12": {"clickable": True}}).split("\n") == [
            "RootWebArea 'Shop', focused",
            "\t[12] button 'Add', clickable",
            "\t[13] textbox \"It's\" value='x', required",
        ]
        assert flat_tree({"nodes": "x"}) == flat_tree(None) == ""

    @pytest.fixture
    def experiment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """An experiment's folder, pickled by classes that are gone when it is read."""
        module = types.ModuleType("browsergym.experiments.loop")
        home = {"__module__": module.__name__}
        fields = ("step", "obs", "action", "reward", "agent_info", "stats", "terminated")
        made = {
            name: dataclasses.make_dataclass(name, [(key, Any, None) for key in keys], namespace=home)
            for name, keys in {"StepInfo": fields, "ExpArgs": ("env_args",), "EnvArgs": ("task_name",)}.items()
        }
        vars(module).update(made)
        folder = tmp_path / "study" / "2025-01-01_agent_on_shop.lamp_3"
        folder.mkdir(parents=True)
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, module.__name__, module)
            patched.setitem(sys.modules, "browsergym", types.ModuleType("browsergym"))
            patched.setitem(sys.modules, "browsergym.experiments", types.ModuleType("browsergym.experiments"))
            for step in STEPS:
                seen = {**step["obs"], "goal": None}
                if "active_page_index" in seen:
                    seen["active_page_index"] = np.array([0])
                data = pickle.dumps(made["StepInfo"](**{**step, "obs": seen, "reward": np.float64(step["reward"])}))
                (folder / f"step_{step['step']}.pkl.gz").write_bytes(gzip.compress(data))
            arguments = made["ExpArgs"](made["EnvArgs"]("shop.lamp"))
            (folder / "exp_args.pkl").write_bytes(pickle.dumps(arguments, protocol=2))
        goal = [{"type": "text", "text": "Buy a lamp."}, {"type": "image_url", "image_url": {"url": "data:"}}]
        (folder / "goal_object.pkl.gz").write_bytes(gzip.compress(pickle.dumps(goal)))
        (folder / "summary_info.json").write_text('{"cum_reward": 1.0, "n_steps": 2}')
        return folder

    def test_an_experiment_is_read_without_its_classes(self, experiment: Path) -> None:
        importer = Importer()
        [row] = importer.rows(experiment.parent)
        self.check(row)
        assert (row.id, row.task_id) == (experiment.name, "shop.lamp")
        assert importer.tally.left["picture in the goal"] == 1
        assert "browsergym" not in sys.modules

    def test_a_pickle_that_names_code_is_refused_and_nothing_runs(self, experiment: Path, tmp_path: Path) -> None:
        class Hostile:
            def __reduce__(self) -> Any:
                return os.mkdir, (str(tmp_path / "made"),)

        (experiment / "step_1.pkl.gz").write_bytes(gzip.compress(pickle.dumps({"obs": {}, "action": Hostile()})))
        with pytest.raises(SpecError, match=r"step_1\.pkl\.gz: pickle: .*mkdir.*export them as JSON lines"):
            list(Importer().rows(experiment))
        assert not (tmp_path / "made").exists()

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"garbage",
            b"\x1f\x8bgarbage",
            b"cos\nsystem\n(S'true'\ntR.",
            b"cbuiltins\neval\n(S'1'\ntR.",
            b"c__builtin__\ngetattr\n.",
            b"cagentworld_gym.core.traces.importers.pickles\nread_pickle\n.",
            b"(S'os'\nS'system'\ni.",
            b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
            b"\x82\x01.",
            b"P1\n.",
            b"r\xff\xff\xff\x7fN.",
            b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.",
            b"c_codecs\nencode\n}S'__defaults__'\nNsb.",
            b"cbrowsergym.x\nY\n}S'update'\nNsb.",
            b"]" + b"(t" * 3 + b"R.",
            b"}(" + b")" + b"\x86".join([b"2"] * 60) + b"\x86Ns.",
            b"I" + b"9" * 9000 + b"\n.",
            b"]" * 3000 + b".",
            pickle.dumps(np.dtype([("a", object)])),
        ],
    )
    def test_a_hostile_pickle_is_data_or_is_refused(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "step_0.pkl"
        path.write_bytes(data)
        try:
            found = read_pickle(path)
        except SpecError as error:
            assert "export them as JSON lines" in str(error) or "a readable file" in str(error)
        else:
            assert found is None or isinstance(found, str | int | list | dict)

    @pytest.mark.parametrize(
        "data",
        [
            # 60 levels that hold the level below twice: the hash of the outermost would take 2**60 steps.
            b"})" + b"2\x86" * 60 + b"Ns.",
            # One text that is handed to very many calls.
            b"c_codecs\nencode\n0X"
            + (10**6).to_bytes(4, "little")
            + b"a" * 10**6
            + b"\x94"
            + b"0c_codecs\nencode\nh\x00\x85R" * 10**4
            + b".",
            # A path that is twice as long at each level.
            b"cpathlib\nPath\n\x94X\x02\x00\x00\x00ab" + b"\x94h\x00h\x01h\x01\x86R" * 60 + b".",
        ],
    )
    def test_a_small_pickle_stays_small(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, LookupError):
            assert len(str(plain(data))) < 10**7

    def test_plain_data_of_every_protocol(self) -> None:
        data = {"a": [1, -(2**40), 2.5, None, True, "ü\U0001f600", b"\x00\xff"], "b": {"c": {}}, "d": [[], ["x"]]}
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert plain(pickle.dumps(data, protocol)) == data
            assert plain(pickle.dumps((1, (2, 3), {4}), protocol)) == [1, [2, 3], [4]]
            assert plain(pickle.dumps(np.array([[1, 2]], dtype=np.int16), protocol)) == {"values": [1, 2]}
            assert plain(pickle.dumps([np.float32(0.5), Path("/a/b"), OrderedDict(c=1)], protocol)) == [
                0.5,
                "//a/b" if sys.version_info < (3, 12) else "/a/b",
                {"c": 1},
            ]

    @given(st.binary(max_size=60))
    def test_any_bytes_are_data_or_are_refused(self, tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
        path = tmp_path_factory.getbasetemp() / "any.pkl"
        path.write_bytes(data)
        with contextlib.suppress(SpecError):
            read_pickle(path)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            *SHOWN,
                            "steps",
                            "obs",
                            "action",
                            "step",
                            "nodes",
                            "nodeId",
                            "childIds",
                            "role",
                            "name",
                            "value",
                            "reward",
                        ]
                    ),
                    inner,
                    max_size=6,
                )
            ),
            max_leaves=20,
        )
    )
    def test_any_record_is_read(self, data: Any) -> None:
        steps = data if isinstance(data, list) else [data]
        found = browsed({"steps": steps}, "x", ImportTally())
        assert len(found.turns.actions) == len(found.turns.observations)

    def test_on_the_command_line(self, experiment: Path, tmp_path: Path) -> None:
        out = tmp_path / "rows.jsonl"
        done = CliRunner().invoke(app, ["import", str(experiment), "--format", "browsergym", "--out", str(out)])
        assert done.exit_code == 0, done.output
        assert "1 rows, 2 turns, of 1 records" in done.output and "agent_info.think" in done.output
        [row] = read_rows(out)
        assert row.provenance.source == "browsergym"


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


def test_a_long_text_that_is_named_many_times_does_not_fill_the_memory() -> None:
    long, tally = "x" * 1_000_000, ImportTally()
    role, children = {"value": "button"}, [str(number) for number in range(1, 2000)]
    root = {"nodeId": "0", "role": {"value": "RootWebArea"}, "name": {"value": "A"}, "childIds": children}
    tree = {"nodes": [root, *({"nodeId": key, "role": role, "name": {"value": long}} for key in children)]}
    seen = {"url": "http://a.example/", "open_pages_urls": [long] * 2000, "axtree_object": tree}
    assert len(page(seen, tally)) < 4 * MAX_CHARS
    assert tally.left["tabs beyond what a page may say"] > 1900
