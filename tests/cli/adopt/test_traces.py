"""Recordings alone are adopted: their sessions are split, learned from, measured, and played without their system."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from worlds import make

from agentworld_gym.base.errors import SpecError
from agentworld_gym.cli.adopt.traces import LEAST, TakenSessions, spec_of_traces, take
from agentworld_gym.cli.app import app
from agentworld_gym.cli.common import spec_source
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.evaluation.results.fidelity import FidelityResult
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.recipe.importers import Importer
from agentworld_gym.worlds.recorded_tasks import RecordedTasks


def chat(number: int, task: str) -> dict[str, Any]:
    """A session with a shelf of books, as chat messages with calls of tools."""
    call = {"name": "lend", "arguments": json.dumps({"title": f"Emma {number}"})}
    return {
        "messages": [
            {"role": "user", "content": task},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": "1", "content": f"Emma {number} is lent"},
        ]
    }


def recorded(folder: Path, sessions: Iterable[dict[str, Any]], **changes: Any) -> Path:
    """A file of rows that the importer makes of some sessions, with some changes."""
    file = folder / "rows.jsonl"
    foreign = folder / f"{file.stat().st_size if file.exists() else 0}.jsonl"  # Sessions are named after it.
    foreign.write_text("".join(json.dumps(session) + "\n" for session in sessions))
    rows = [row.model_copy(update=changes) for row in Importer(domain="mcp").rows(foreign)]
    foreign.unlink()
    with file.open("a") as written:
        written.writelines(row.model_dump_json() + "\n" for row in rows)
    return file


def taken(
    folder: Path, *paths: Path, most: int = 1000, chosen: bool = False, spec: str = "mcp"
) -> tuple[TakenSessions, dict[str, list[Row]]]:
    """How the sessions of some files are split, and the rows of each split."""
    out = folder / "out"
    found = take(paths, load_spec(spec), out, folder / "tasks.json", most, 100, chosen)
    return found, {file.stem: list(read_rows(file)) for file in out.glob("*.jsonl")}


def test_sessions_of_one_task_are_all_learned_from_or_all_held_out(tmp_path: Path) -> None:
    file = recorded(tmp_path, (chat(number, f"Lend a book to reader {number // 2}.") for number in range(50)))
    found, splits = taken(tmp_path, file)
    assert found.by == "task" and found.sessions == {"train": 38, "validation": 6, "test": 6}
    asked = {split: {row.instruction for row in rows} for split, rows in splits.items()}
    assert not asked["train"] & asked["test"] and not asked["train"] & asked["validation"]


def test_without_enough_tasks_single_sessions_are_split_and_one_that_repeats_another_is_left_out(
    tmp_path: Path,
) -> None:
    file = recorded(tmp_path, (chat(number % 30, "Lend a book.") for number in range(40)))
    found, splits = taken(tmp_path, file, most=20)
    assert (found.by, found.sessions, found.left["repeats another one"]) == (
        "session",
        {"train": 20, "validation": 3, "test": 3},
        10,
    )
    assert len({row.actions for rows in splits.values() for row in rows}) == 26


def test_splits_that_sessions_state_are_kept(tmp_path: Path) -> None:
    stated: dict[str, Any] = {"family": "free_play", "provenance": RowProvenance(source="collect")}
    for split, numbers in (("train", range(30)), ("test", range(30, 35))):
        file = recorded(tmp_path, (chat(number, "Lend.") for number in numbers), split=split, **stated)
    found, splits = taken(tmp_path, file)
    assert found.sessions == {"train": 27, "validation": 3, "test": 5}
    assert {row.id for row in splits["test"]} == {row.id for row in read_rows(file) if row.split == "test"}


def test_rows_are_written_as_a_small_model_reads_them_and_their_tasks_with_the_tools_that_were_called(
    tmp_path: Path,
) -> None:
    file = recorded(tmp_path, (chat(number, "Lend a book.") for number in range(30)))
    _, splits = taken(tmp_path, file)
    [row, *_] = splits["test"]
    assert (row.profile, row.split, row.response) == ("compact", "test", row.observations)
    tasks = RecordedTasks.read(tmp_path / "tasks.json")
    assert [tool["name"] for tool in tasks.tools] == ["lend"]
    assert [task.id for task in tasks.tasks if task.split == "test"] == [one.task_id for one in splits["test"]]
    assert sum(task.split == "train" for task in tasks.tasks) == 1  # All sessions to learn from have one task.


def test_what_is_no_row_is_refused_with_the_command_that_makes_rows_of_it(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(json.dumps(chat(0, "Lend.")) + "\n")
    with pytest.raises(SpecError, match=r"chat\.jsonl: line 1: .* `agentworld import .*chat\.jsonl --out rows\.jsonl`"):
        spec_of_traces([tmp_path])


def test_recordings_of_a_text_environment_name_its_spec(tmp_path: Path) -> None:
    sessions = (chat(number, "Lend.") for number in range(30))
    file = recorded(tmp_path, sessions, task="text_environment", dialect="")
    spec = spec_of_traces([tmp_path])
    assert spec == spec_source("custom")
    found, splits = taken(tmp_path, file, spec=spec)
    assert found.sessions["train"] and {row.domain for row in splits["train"]} == {"text_environment"}


def test_sessions_of_two_domains_are_adopted_one_domain_at_a_time(tmp_path: Path) -> None:
    recorded(tmp_path, (chat(number, "Lend.") for number in range(LEAST)))
    recorded(tmp_path, [chat(99, "Lend.")], task="terminal", dialect="")
    with pytest.raises(SpecError, match="got 'terminal', expected mcp, as in the first session; --domain takes"):
        taken(tmp_path, tmp_path / "rows.jsonl")
    found, _ = taken(tmp_path, tmp_path / "rows.jsonl", chosen=True)
    assert found.left == {"of another domain": 1}


def test_too_few_sessions_are_refused(tmp_path: Path) -> None:
    file = recorded(tmp_path, (chat(number % 3, "Lend.") for number in range(9)))
    with pytest.raises(SpecError, match="got 3, expected at least 20 different ones; 6 left out: repeats another one"):
        taken(tmp_path, file)


def test_recordings_are_never_replaced_by_what_is_taken_of_them(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    file = recorded(tmp_path / "out", (chat(number, "Lend.") for number in range(LEAST)))
    with pytest.raises(SpecError, match=r"--out: .* another folder: .*rows\.jsonl would be replaced"):
        taken(tmp_path, file)


def test_recordings_that_are_all_for_testing_leave_nothing_to_learn_from(tmp_path: Path) -> None:
    stated: dict[str, Any] = {"family": "free_play", "split": "test", "provenance": RowProvenance(source="collect")}
    file = recorded(tmp_path, (chat(number, "Lend.") for number in range(LEAST)), **stated)
    with pytest.raises(SpecError, match="got 20, expected some for train and validation, beside those"):
        taken(tmp_path, file)


@pytest.mark.parametrize("given", [[], ["my.yaml", "--traces", "rows.jsonl"]])
def test_either_a_system_or_recordings_are_adopted(given: list[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    refused = CliRunner().invoke(app, ["adopt", *given, "--out", str(tmp_path / "run")])
    assert refused.exit_code == 2 and "CONFIG, --traces" in refused.output and "recordings of it" in refused.output


def test_the_world_of_recordings_says_what_to_trust_and_plays_without_options(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = recorded(tmp_path, (chat(number, "Lend a book.") for number in range(LEAST)))
    run = tmp_path / "run"
    command = ["adopt", "--traces", str(file), "--out", str(run), "--tokens", "2000"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    assert "16 sessions to learn from, 2 to watch the training by, 2 to measure on, split by session" in found.output
    page = (run / "README.md").read_text()
    assert "learned from 16 recorded sessions" in page and "no step can be grounded in it" in page
    [measured] = FidelityResult.read(run / "fidelity.json").domains
    assert (measured.sessions, measured.steps, measured.stale) == (2, 2, 0)
    assert measured.taught is not None and measured.free is not None and measured.nearest is not None
    env = make("AgentWorld/MCP-v0", world=str(run / "world"))
    _, info = env.reset(seed=0)
    assert [tool["name"] for tool in info["tools"]] == ["lend"]
    env.close()
