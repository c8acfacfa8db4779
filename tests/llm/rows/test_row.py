"""The row of a recorded session: what it holds, how it is read, and its way through Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.row import Row, applied, changes_between
from agentworld_gym.llm.rows.row_reading import read_rows

RECORDER = Recorder([load_spec("terminal")], CollectConfig(controls_share=0.5, probe_share=0.5), seed=7)
ROWS = [row for number in range(24) if (row := RECORDER.row(number)) is not None]

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=5)
STATES = st.dictionaries(st.sampled_from("abcdef"), SCALARS)


def data(**changes: Any) -> dict[str, Any]:
    """A row of two turns as plain data."""
    return {
        "task": "mcp",
        "id": "m1",
        "system_str": "You are a server.",
        "prompt": ["### Turn 1", "### Turn 2\n\nPredict."],
        "response": ["one", "two"],
        "current_prompt": "### Turn 2",
        "turn_idx": 2,
        "total_turns": 2,
        **changes,
    }


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_eight_keys_of_the_benchmark_come_first_and_are_enough() -> None:
    row = Row.model_validate(data())
    assert list(row.model_dump())[:8] == list(data())
    assert row.success is None and row.actions == ()


def test_a_request_ends_with_the_closing_request_and_the_session_has_none() -> None:
    row = Row.model_validate(data())
    assert [message["content"] for message in row.request()][1:] == ["### Turn 1", "one", "### Turn 2\n\nPredict."]
    assert [message["content"] for message in row.messages()][1:] == ["### Turn 1", "one", "### Turn 2", "two"]


@pytest.mark.parametrize("row", ROWS[:8], ids=lambda row: row.id)
def test_the_row_of_an_earlier_turn_is_that_of_a_session_that_was_shorter(row: Row) -> None:
    for turn, earlier in enumerate(row.turns(), 1):
        assert Row.model_validate(earlier.model_dump()) == earlier
        assert earlier.turn_idx == turn and earlier.total_turns == row.total_turns
        assert earlier.request() == [*row.messages()[: 2 * turn - 1], earlier.request()[-1]]
        assert earlier.request()[-1]["content"] == row.messages()[2 * turn - 1]["content"] + row.closing
        assert earlier.observations == row.observations[:turn]
        assert earlier.state_after(turn) == row.state_after(turn)


def test_a_turn_beyond_the_row_is_refused() -> None:
    for turn in (0, 3):
        with pytest.raises(IndexError, match="turns 1 to 2"):
            Row.model_validate(data()).at(turn)
    with pytest.raises(IndexError, match="turns 1 to 2"):
        Row.model_validate(data()).state_after(3)


@given(STATES, STATES)
def test_changes_lead_from_one_state_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    changes = changes_between(before, after)
    found = applied(before, changes)
    assert {key: (type(value), value) for key, value in found.items()} == {
        key: (type(value), value) for key, value in after.items()
    }
    assert len(changes) == sum(
        (key in before, type(before.get(key)), before.get(key)) != (key in after, type(after.get(key)), after.get(key))
        for key in before | after
    )


def test_the_desktop_has_another_official_name() -> None:
    assert Row.model_validate(data(task="eval/os")).domain == "desktop"
    assert Row.model_validate(data(task="mcp")).domain == "mcp"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn_idx": 3}, r"line 2: turn_idx: got 3, expected 2, the length of `prompt`"),
        ({"response": ["one"]}, r"line 2: turn_idx: got 2, expected 1, the length of `response`"),
        ({"total_turns": 1}, r"line 2: total_turns: got 1, expected at least turn_idx"),
        ({"actions": ["a"]}, r"line 2: actions: got .*, expected one entry for each of the 2 turns"),
        ({"split": "all"}, r"line 2: split: got 'all', expected 'train', 'validation' or 'test'"),
        ({"observations": ["a", "b"], "spans": [[], [{"start": 0, "end": 9, "kind": "metadata"}]]}, r"line 2: spans"),
        ({"changes": [[], []], "fields_changed": [1, 0]}, r"line 2: fields_changed: got \[1, 0\], expected \[0, 0\]"),
        ({"comment": "x"}, r"line 2: comment: got 'x', expected no such key"),
    ],
)
def test_a_wrong_row_is_named_by_file_line_and_key(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = lines(tmp_path / "bad.jsonl", data(), data(**change))
    with pytest.raises(SpecError, match=rf"bad.jsonl: {message}"):
        list(read_rows(path))


def test_lines_end_at_line_feeds_only_and_a_torn_one_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    whole = json.dumps(data(system_str="a\u2028b"), ensure_ascii=False) + "\n"
    path.write_text(whole + whole[:40], encoding="utf-8")
    assert [row.system_str for row in read_rows(path)] == ["a\u2028b"]
    path.write_text(whole + "no json\n", encoding="utf-8")
    with pytest.raises(SpecError, match="line 2: got 'no json"):
        list(read_rows(path))


def test_rows_come_back_from_parquet_as_they_were(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from agentworld_gym.llm.rows.parquet import read_parquet, write_parquet

    foreign = Row.model_validate(data(initial_state={"a": 1, "b": 1.0, "c": None, "d": True, "e": "x"}))
    path = tmp_path / "new" / "rows.parquet"
    assert write_parquet([*ROWS, foreign], path) == len(ROWS) + 1
    back = list(read_parquet(path))
    assert [row.model_dump_json() for row in back] == [row.model_dump_json() for row in (*ROWS, foreign)]
    assert [file.name for file in path.parent.iterdir()] == ["rows.parquet"]


def test_shards_hold_all_rows_once_and_whole_ones_stay_as_they_are(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from agentworld_gym.llm.rows.parquet import read_parquet, write_shards

    file = tmp_path / "train.jsonl"

    def shards(count: int, size: int) -> list[Path]:
        lines = [json.dumps(data(id=f"row-{number}")) for number in range(count)]
        file.write_text("\n".join([*lines, '{"torn']), encoding="utf-8")
        written = write_shards(file, size)
        assert [row.id for shard in written for row in read_parquet(shard)] == [f"row-{n}" for n in range(count)]
        return written

    first, *_ = shards(5, 2)
    before = first.stat().st_mtime_ns
    assert [shard.name for shard in shards(6, 2)] == [f"train-0000{number}.parquet" for number in range(3)]
    assert first.stat().st_mtime_ns == before
    shards(6, 4)
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == ["train-00000.parquet", "train-00001.parquet"]


def test_a_parquet_file_of_something_else_is_named(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from agentworld_gym.llm.rows.parquet import read_parquet

    parquet.write_table(arrow.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(SpecError, match=r"other.parquet: row 1"):
        list(read_parquet(tmp_path / "other.parquet"))
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    with pytest.raises(SpecError, match=r"text.parquet: file: .* a Parquet file"):
        list(read_parquet(tmp_path / "text.parquet"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"task": "mcp",}', r"line 2: got .*, expected a JSON object \(trailing comma.*column 15\)"),
        ('{"task": NaN}', r"NaN and Infinity are no JSON values, column 10"),
        ("{'task': 'mcp'}", r"line 2: got .*, expected a JSON object \(.*column 2\)"),
        ("", r"line 2: got '', expected a JSON object \(.*column 1\)"),
        ("[1]", r"line 2: the whole document: got \[1\], expected .*"),
        ('{"task": "mcp", "id": "a"}', r"line 2: system_str: got None, expected this key to be there"),
    ],
)
def test_a_line_that_is_no_row_is_refused_with_the_reason(tmp_path: Path, line: str, says: str) -> None:
    file = tmp_path / "train.jsonl"
    row = next(row for n in range(9) if (row := Recorder([load_spec("mcp")], CollectConfig(), seed=1).row(n)))
    file.write_text(f"{row.model_dump_json()}\n{line}\n{row.model_dump_json()}\n")
    with pytest.raises(SpecError, match=f"train.jsonl: {says}" if says.startswith("line") else says):
        list(read_rows(file))
