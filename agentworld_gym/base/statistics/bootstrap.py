"""Means with intervals: bootstrapped over sessions, because the turns of one session are not independent."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from agentworld_gym.base.documents.strict import Strict

LEVEL = 0.95
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
"""The quantiles at the ends of an interval."""

Z = 1.959964
"""The quantile of the standard normal distribution for a 95% interval."""

DRAWS = 1000
DRAWN_AT_ONCE = 200_000
"""The number of drawn groups that are held in memory together."""

SAME = 1e-12
"""The greatest distance of means that count as equal."""


class Share(Strict):
    """A mean with its 95% interval, over `count` values of so many independent `groups`, such as sessions.

    >>> print(Share(share=0.5, low=0.25, high=0.75, count=8))
    0.500 [0.250, 0.750]
    """

    share: float
    low: float
    high: float
    count: int = Field(ge=1)
    groups: int = Field(default_factory=lambda known: known.get("count", 1), ge=1)

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(
    values: Sequence[float] | Sequence[bool],
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    bounds: tuple[float, float] | None = None,
) -> Share:
    """Compute the mean of some values and its 95% interval, bootstrapped over groups.

    Where all groups have the same mean, a bootstrap has no width, however few groups there are. If the values are
    bounded, the interval is then Wilson's for that number of groups.

    Args:
        values: The values, such as one for each turn; booleans give a share.
        groups: The session of each value, which is drawn as a whole; None takes each value for itself.
        seed: The seed; equal seeds give equal intervals.
        draws: The number of bootstrap samples.
        bounds: The least and the greatest value that is possible; None stands for 0 and 1 where the values are
            booleans, and for no known bounds otherwise.

    Raises:
        ValueError: There are no values, or not one group for each value.

    >>> interval([True, True, False, True]).share
    0.75
    >>> print(interval([True] * 40, groups=[number % 20 for number in range(40)]))
    1.000 [0.839, 1.000]
    """
    numbers = np.asarray(values)
    sums, sizes = _grouped(numbers.astype(np.float64), groups)
    share = float(sums.sum() / sizes.sum())
    if bounds is None and numbers.dtype == np.bool_:
        bounds = (0.0, 1.0)
    if bounds is not None and np.ptp(sums / sizes) < SAME:
        least, span = bounds[0], bounds[1] - bounds[0]
        low, high = (least + span * end for end in wilson((share - least) / span, len(sums)))
    else:
        sample = _drawn(sums, sizes, np.random.default_rng(seed), draws)
        low, high = np.quantile(sample, ENDS).tolist()
    return Share(share=share, low=low, high=high, count=len(numbers), groups=len(sums))


def ratio_interval(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable],
    seed: int = 0,
    draws: int = DRAWS,
) -> Share | None:
    """Compute the sum of some values divided by that of others, with its 95% interval, bootstrapped over groups.

    A bootstrap sample draws groups whole, and takes both values of each. Samples whose second values are all 0 have no
    ratio and are left out. Where no first value differs from 0, a bootstrap has no width: the upper end is then that of
    Wilson's interval for the share of 0 over that number of groups, divided by the mean of the second values.

    Args:
        first: The values above the line, such as the errors of a model.
        second: The values below it, as many of them.
        groups: The session of each pair.
        seed: The seed; equal seeds give equal intervals.
        draws: The number of bootstrap samples.

    Returns:
        The ratio; None where the second values are all 0.

    Raises:
        ValueError: There are no values, or not one group for each pair.

    >>> found = ratio_interval([1, 0] * 20, [1, 1] * 20, [number // 2 for number in range(40)])
    >>> found.share, found.groups
    (0.5, 20)
    """
    above, _ = _grouped(np.asarray(first, dtype=np.float64), groups)
    below, sizes = _grouped(np.asarray(second, dtype=np.float64), groups)
    if not below.sum():
        return None
    ratio = float(above.sum() / below.sum())
    if above.any():
        low, high = np.quantile(_drawn(above, below, np.random.default_rng(seed), draws), ENDS).tolist()
    else:
        low, high = 0.0, wilson(0.0, len(sizes))[1] * float(sizes.sum() / below.sum())
    return Share(share=ratio, low=min(low, ratio), high=max(high, ratio), count=len(first), groups=len(sizes))


def mean_interval(
    strata: Iterable[tuple[Sequence[float] | Sequence[bool], Sequence[Hashable] | None]],
    seed: int = 0,
    draws: int = DRAWS,
    bounds: tuple[float, float] | None = None,
) -> Share:
    """Compute the mean of the strata's means (macro average) with its 95% interval, from that of each stratum (MOVER).

    The errors of the strata are independent, so that the squares of the distances between their means and the ends of
    their intervals add up (Zou and Donner 2008).

    Args:
        strata: The values and the groups of each stratum, such as a domain; see `interval`.
        seed: The seed; equal seeds give equal intervals.
        draws: The number of bootstrap samples.
        bounds: The bounds of the values; see `interval`.

    Raises:
        ValueError: There is no stratum, or one without values.

    >>> mean_interval([([1, 1, 1], None), ([0], None)]).share
    0.5
    """
    intervals = [interval(values, groups, seed, draws, bounds) for values, groups in strata]
    if not intervals:
        raise ValueError("an interval needs values")
    share = sum(one.share for one in intervals) / len(intervals)
    return Share(
        share=share,
        low=share - math.hypot(*(one.share - one.low for one in intervals)) / len(intervals),
        high=share + math.hypot(*(one.high - one.share for one in intervals)) / len(intervals),
        count=sum(one.count for one in intervals),
        groups=sum(one.groups for one in intervals),
    )


def bootstrap_interval(
    runs: Sequence[ArrayLike], level: float = 0.95, samples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Return the percentile interval of the mean over several runs of a training, such as those of several seeds.

    The bootstrap resamples the runs, and then the episodes of each run.

    Args:
        runs: The values of the episodes of each run.
        level: The level of the interval, from 0 to 1.
        samples: The number of bootstrap samples.
        seed: The seed; equal seeds give equal intervals.

    Returns:
        The ends of the interval; NaN where there is no run, or a run without episodes.

    >>> low, high = bootstrap_interval([[0.0, 1.0] * 50, [1.0, 1.0] * 50])
    >>> 0.4 < low < 0.75 < high <= 1.0
    True
    """
    rng = np.random.default_rng(seed)
    values = [np.asarray(run, float) for run in runs]
    if not values or any(not len(run) for run in values):
        return float("nan"), float("nan")
    drawn = np.stack([run[rng.integers(len(run), size=(samples, len(values), len(run)))].mean(2) for run in values])
    picks = rng.integers(len(values), size=(samples, len(values)))
    means = drawn[picks, np.arange(samples)[:, None], np.arange(len(values))]
    low, high = np.quantile(means.mean(1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the ends of the 95% interval of a share of `count` independent draws (Wilson 1927).

    >>> [round(end, 3) for end in wilson(1.0, 20)]
    [0.839, 1.0]
    """
    middle, weight = share + Z * Z / (2 * count), 1 + Z * Z / count
    half = Z * math.sqrt(share * (1 - share) / count + (Z / (2 * count)) ** 2)
    low, high = (middle - half) / weight, (middle + half) / weight
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def _grouped(
    given: NDArray[np.float64], groups: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum and the size of each group."""
    if not len(given):
        raise ValueError("an interval needs values")
    if groups is None:
        return given, np.ones_like(given)
    if len(groups) != len(given):
        raise ValueError(f"{len(given)} values, but {len(groups)} groups")
    places: dict[Hashable, int] = {}
    place = np.array([places.setdefault(group, len(places)) for group in groups])
    return np.bincount(place, given).astype(np.float64), np.bincount(place).astype(np.float64)


def _drawn(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], dice: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """Return the mean of each bootstrap sample that has a size; some samples are drawn at a time, so that memory stays
    small."""
    means = []
    block = max(1, DRAWN_AT_ONCE // len(sums))
    for start in range(0, draws, block):
        drawn = dice.integers(len(sums), size=(min(block, draws - start), len(sums)))
        whole = sizes[drawn].sum(1)
        means.append(sums[drawn].sum(1)[whole > 0] / whole[whole > 0])
    return np.concatenate(means)
