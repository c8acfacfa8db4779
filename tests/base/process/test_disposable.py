"""Processes whose death costs one piece of work: what they answer is believed in nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentworld_gym.base.process.disposable import Disposable, WorkLost
from tests.helpers.hostile_workers import RAW


@pytest.fixture(scope="module")
def hostile() -> Iterator[Disposable]:
    made = Disposable("tests.helpers.hostile_workers:work")
    yield made
    made.close()


@pytest.mark.parametrize("way", RAW)
def test_what_is_no_answer_costs_a_piece_of_work_and_its_process(hostile: Disposable, way: str) -> None:
    with pytest.raises(WorkLost):
        hostile.call(way, seconds=20)
    assert hostile.call("another", seconds=20) == "another"


def test_a_long_answer_is_refused_before_it_is_read(hostile: Disposable) -> None:
    with pytest.raises(WorkLost, match="a message of 1152921504606846976 bytes"):
        hostile.call("endless", seconds=600)


def test_work_that_no_process_would_read_is_lost_at_once(hostile: Disposable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworld_gym.base.process.disposable.LONGEST_MESSAGE", 1000)
    with pytest.raises(WorkLost, match="too long"):
        hostile.call("x" * 2000, seconds=20)
