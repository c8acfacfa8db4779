"""Recordings and fidelity that other processes work on: the same as in one process, whoever is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from crews import Crew

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.base.process.parallel import WorkerDied
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.rows.row_reading import read_rows

MCP = load_spec("mcp")
CONFIG = CollectConfig(policies={"menu": 1.0}, levels={1: 1.0}, families=("pay_bill",))


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """What one process records."""
    collect([MCP], tmp_path / "whole.jsonl", 20, 0, CONFIG)
    return (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("lost", [0, 2])
def test_other_processes_record_the_same_rows_even_if_some_of_them_are_lost(
    tmp_path: Path, whole: bytes, lost: int
) -> None:
    crew, out = Crew(lost=lost), tmp_path / "there.jsonl"
    assert collect([MCP], out, 20, 0, CONFIG, elsewhere=crew) == 20
    assert out.read_bytes() == whole
    assert crew.rounds[0] == 20 and crew.open == 0


def test_a_recording_goes_on_elsewhere_where_it_was_stopped_here(tmp_path: Path, whole: bytes) -> None:
    out = tmp_path / "parts.jsonl"
    collect([MCP], out, 7, 0, CONFIG)
    crew = Crew()
    assert collect([MCP], out, 20, 0, CONFIG, elsewhere=crew) == 13
    assert out.read_bytes() == whole and crew.rounds[0] == 16


def test_a_session_that_ends_every_worker_is_tried_in_a_process_of_its_own_when_the_recording_goes_on(
    tmp_path: Path, whole: bytes
) -> None:
    out = tmp_path / "rows.jsonl"

    def dying(make, items, ahead):
        yield from list(Crew()(make, items[:3], ahead))
        died = WorkerDied("the episode in place 3 ended three workers")
        died.item = 3
        raise died

    with pytest.raises(WorkerDied):
        collect([MCP], out, 20, 0, CONFIG, elsewhere=dying)
    assert max(row.number for row in read_rows(out)) < 3
    assert (tmp_path / "rows.jsonl.playing").read_text() == "3"
    collect([MCP], out, 20, 0, CONFIG, elsewhere=Crew())
    assert out.read_bytes() == whole and not (tmp_path / "rows.jsonl.playing").exists()
