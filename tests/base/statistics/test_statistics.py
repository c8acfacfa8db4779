"""Shares with intervals: over sessions, repeatable, and honest about how little a few sessions say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.statistics.bootstrap import Share, interval, mean_interval, wilson


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 5))
def test_the_share_is_the_mean_and_lies_within_its_values(values: list[float], sessions: int) -> None:
    found = interval(values, [number % sessions for number in range(len(values))], draws=50)
    assert found.share == pytest.approx(sum(values) / len(values)) and found.count == len(values)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_turns_of_one_session_count_as_one_draw() -> None:
    values = [float(number % 2) for number in range(10) for _ in range(20)]
    sessions = [number for number in range(10) for _ in range(20)]
    apart, together = interval(values), interval(values, sessions)
    assert apart.share == together.share == 0.5
    assert together.high - together.low > 3 * (apart.high - apart.low)


def test_equal_seeds_give_equal_intervals() -> None:
    values = [0.1, 0.9, 0.4, 0.4]
    assert interval(values) == interval(values) != interval(values, seed=1)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    dice = random.Random(0)
    held = 0
    for _ in range(200):
        values = [dice.random() < 0.7 for _ in range(100)]
        found = interval(values, draws=200)
        held += found.low <= 0.7 <= found.high
    assert 180 <= held <= 199  # 95%, and the bootstrap of a hundred values is a little narrow


def test_sessions_that_agree_say_no_more_than_there_are_of_them() -> None:
    """However many turns they have: 40 right steps of one session prove little."""
    one, twenty = interval([True] * 40, ["a"] * 40), interval([True] * 40, [number // 2 for number in range(40)])
    assert (one.count, one.groups, twenty.groups) == (40, 1, 20)
    assert (one.low, twenty.low) == (wilson(1.0, 1)[0], wilson(1.0, 20)[0]) and one.low < 0.3 < 0.8 < twenty.low
    assert one.high == twenty.high == 1.0
    half = interval([True, False], ["a", "a"])
    assert half.low < 0.1 and half.high > 0.9


def test_values_of_another_scale_say_what_they_can_be() -> None:
    best = interval([100.0] * 3, bounds=(0, 100))
    assert (best.low, best.high) == (100 * wilson(1.0, 3)[0], 100.0)
    gain = interval([0.0] * 5, bounds=(-1, 1))
    assert gain.low == pytest.approx(-gain.high) and gain.high > 0.1
    unknown = interval([7.0] * 5)
    assert unknown.low == unknown.high == 7.0


def test_a_macro_mean_of_domains_that_agree_has_a_width_too() -> None:
    found = mean_interval([([True] * 10, None), ([False] * 10, None)])
    assert found.share == 0.5 and found.groups == 20
    assert 0.5 - wilson(0.5, 10)[0] > 0.5 - found.low == pytest.approx((1 - wilson(1.0, 10)[0]) / 2)


def test_a_share_of_an_older_result_can_be_read() -> None:
    assert Share.model_validate({"share": 1.0, "low": 1.0, "high": 1.0, "count": 8}).groups == 8


def test_the_macro_mean_weighs_domains_alike() -> None:
    large, small = [1.0] * 90 + [0.0] * 10, [0.0, 1.0]
    found = mean_interval([(large, None), (small, None)])
    assert found.share == pytest.approx((0.9 + 0.5) / 2) and found.count == 102
    assert found.high - found.low > 0.3  # two values say little, whatever the other domain has


@pytest.mark.parametrize("strata", [[], [([], None)], [([1.0], None), ([], None)], [([1.0], ["a", "b"])]])
def test_no_values_have_no_interval(strata: list[tuple[list[float], None]]) -> None:
    with pytest.raises(ValueError, match="values"):
        mean_interval(strata)
