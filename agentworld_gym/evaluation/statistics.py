"""Shares with intervals: bootstrapped over sessions, because the turns of one session are not independent."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from agentworld_gym.task import Strict

LEVEL = 0.95
DRAWS = 1000
DRAWN_AT_ONCE = 200_000
"""Drawn groups held in memory together."""


class Share(Strict):
    """A mean with its 95% interval, over `count` values.

    >>> print(Share(share=0.5, low=0.25, high=0.75, count=8))
    0.500 [0.250, 0.750]
    """

    share: float
    low: float
    high: float
    count: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(
    values: Sequence[float] | Sequence[bool],
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> Share:
    """The mean of some values and its 95% interval, bootstrapped over groups.

    Args:
        values: one a turn; booleans give a share.
        groups: the session of each value, drawn as a whole; None takes each value for itself.
        seed: equal seeds give equal intervals.
        draws: bootstrap samples.

    Raises:
        ValueError: there are no values, or not one group a value.

    >>> interval([True, True, False, True]).share
    0.75
    >>> interval([1.0, 0.0], groups=["a", "a"]).low
    0.5
    """
    return mean_interval([(values, groups)], seed, draws)


def mean_interval(
    strata: Iterable[tuple[Sequence[float] | Sequence[bool], Sequence[Hashable] | None]],
    seed: int = 0,
    draws: int = DRAWS,
) -> Share:
    """The mean of the strata's means (macro average) with its 95% interval: each stratum is drawn from by itself.

    Args:
        strata: values and groups of each stratum, such as a domain; see `interval`.
        seed: equal seeds give equal intervals.
        draws: bootstrap samples.

    Raises:
        ValueError: there is no stratum, or one without values.

    >>> mean_interval([([1, 1, 1], None), ([0], None)]).share
    0.5
    """
    dice = np.random.default_rng(seed)
    means, samples, count = [], [], 0
    for values, groups in strata:
        sums, sizes = _grouped(values, groups)
        means.append(sums.sum() / sizes.sum())
        samples.append(_drawn(sums, sizes, dice, draws))
        count += len(values)
    if not means:
        raise ValueError("an interval needs values")
    low, high = np.quantile(np.mean(samples, axis=0), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Share(share=float(np.mean(means)), low=float(low), high=float(high), count=count)


def _grouped(
    values: Sequence[float] | Sequence[bool], groups: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and size of each group."""
    given = np.asarray(values, dtype=np.float64)
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
    """The mean of each bootstrap sample, drawn some samples at a time, so that memory stays small."""
    found = []
    block = max(1, DRAWN_AT_ONCE // len(sums))
    for start in range(0, draws, block):
        drawn = dice.integers(len(sums), size=(min(block, draws - start), len(sums)))
        found.append(sums[drawn].sum(1) / sizes[drawn].sum(1))
    return np.concatenate(found)
