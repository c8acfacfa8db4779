"""What the page of a check says of a system."""

from __future__ import annotations

from typing import Any

import pytest

from agentworld_gym.evaluation.live_check.coverage import coverage_of
from agentworld_gym.evaluation.live_check.report import LiveReport, Plays, page_of


def report(equal: int = 10, masked: int = 10, **fields: Any) -> LiveReport:
    """A report of a system of whose ten answers some repeated."""
    plays = Plays(answers=10, equal=equal, masked=masked)
    given: dict[str, Any] = {
        "system": "notes",
        "domain": "mcp",
        "episodes": 2,
        "actions": 10,
        "again": plays,
        "load": plays,
        "at_a_time": 2,
        "after": plays,
        "varied": (),
        "masks": (),
        "forks": "exact",
        "fork_seconds": None,
        "start_seconds": 0.1,
        "steps_per_second": 1.0,
        "steps_per_second_load": 1.0,
        "memory_mb": None,
        "failures": {},
        "reset": "restart",
        "coverage": coverage_of([], [], []),
        "read_only": 0,
    }
    return LiveReport(**{**given, **fields})


@pytest.mark.parametrize(
    ("found", "deterministic", "told"),
    [
        (report(), True, "with `deterministic: true` in its configuration"),
        (report(equal=5, masks=(r"\d+",)), False, "with the masks below in its configuration"),
        (report(equal=5), False, "with the masks that its configuration has"),
    ],
    ids=["repeats", "new masks", "masks from before"],
)
def test_the_page_asks_for_what_write_writes(found: LiveReport, deterministic: bool, told: str) -> None:
    assert found.learned({})["deterministic"] is deterministic
    assert page_of(found).endswith(f"Fit for training, {told}.")


def test_the_page_tells_how_the_system_failed_first() -> None:
    assert "\nthe first   the site is gone\n" in page_of(report(failures={"engine": 2}, why="the site is gone"))


def test_a_system_that_cannot_write_is_fit_for_nothing() -> None:
    assert report(read_only=1).verdict.startswith("Fit for training")
    assert report(read_only=3).verdict.startswith("Not fit for training: 3 of 10 answers name a read-only file system.")
