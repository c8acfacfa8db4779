"""The files that a stage learns from: rows and samples are told apart by what they are, not by words in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.rows.samples import write_samples
from agentworld_gym.recipe.data.data_files import samples_of_files
from agentworld_gym.recipe.data.preparation import Preparation


@pytest.fixture(scope="module")
def row() -> Row:
    """A recorded session of the terminal."""
    recorder = Recorder([load_spec("terminal")], CollectConfig(policies={"expert": 1.0}), seed=0)
    recorded = recorder.row(0)
    assert recorded is not None
    return recorded


def test_a_row_whose_world_has_something_named_messages_is_a_row(row: Row, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    named = row.model_copy(update={"initial_state": {"messages": "", **row.initial_state}})
    path.write_text(named.model_dump_json() + "\n")
    assert '"messages"' in path.read_text()

    (sample,) = samples_of_files([path], ["terminal"], Preparation(pool=None))

    assert sample.domain == "terminal"
    assert sum(message["role"] == "assistant" for message in sample.messages) == len(row.actions)


def test_a_file_of_samples_is_read_as_samples(row: Row, tmp_path: Path) -> None:
    rows, path = tmp_path / "rows.jsonl", tmp_path / "samples.jsonl"
    rows.write_text(row.model_dump_json() + "\n")
    (sample,) = samples_of_files([rows], [], Preparation(pool=None))
    path.write_text(sample.model_dump_json() + "\n")

    assert list(samples_of_files([path], [], Preparation(pool=None))) == [sample]


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"messages": \n')
    with pytest.raises(SpecError, match=r"rows\.jsonl: line 1"):
        list(samples_of_files([path], [], Preparation(pool=None)))


def test_a_stage_keeps_the_dialect_that_its_data_names(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    collect([load_spec("swe"), load_spec("swe:claude-code")], file, 3, 5, CollectConfig(mix={"swe:claude-code": 2}))
    dialects = [row.dialect for row in read_rows(file)]
    assert dialects == ["cli", "claude-code", "claude-code"]
    spoken = {row.id: row.dialect for row in read_rows(file)}
    names = ("swe", "swe:cli", "swe:claude-code", "mcp")
    kept = {name: list(samples_of_files([file], [name], Preparation(pool=None))) for name in names}
    found = {name: {spoken[sample.id] for sample in samples} for name, samples in kept.items()}
    assert found == {
        "swe": {"cli", "claude-code"},
        "swe:cli": {"cli"},
        "swe:claude-code": {"claude-code"},
        "mcp": set(),
    }
    assert len(kept["swe"]) == len(kept["swe:cli"]) + len(kept["swe:claude-code"])
    write_samples(tmp_path / "samples.jsonl", kept["swe"])
    with pytest.raises(SpecError, match="samples do not name their dialects"):
        list(samples_of_files([tmp_path / "samples.jsonl"], ["swe:cli"]))
