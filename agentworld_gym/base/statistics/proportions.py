"""Intervals for successes of independent episodes.

A bootstrap of a few episodes that all went alike has no width, so that one episode would prove anything. The intervals
of this module keep a width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentworld_gym.base.statistics.bootstrap import Share, Z, wilson


def proportion(successes: Sequence[bool]) -> Share:
    """Compute the share of successes with its 95% interval (Wilson 1927).

    Raises:
        ValueError: There are no episodes.

    >>> print(proportion([True] * 20))
    1.000 [0.839, 1.000]
    """
    count = len(successes)
    if not count:
        raise ValueError("a share needs episodes")
    share = sum(successes) / count
    low, high = wilson(share, count)
    return Share(share=share, low=low, high=high, count=count)


def paired_gap(pairs: Sequence[tuple[bool, bool]]) -> Share:
    """Compute the share of first successes minus that of second ones, on the same tasks, with its 95% interval.

    The interval is that of Bonett and Price (2012), whose coverage holds from few pairs on.

    Raises:
        ValueError: There are no pairs.

    >>> print(paired_gap([(True, False)]))
    1.000 [-0.734, 1.000]
    >>> print(paired_gap([(True, False)] * 10 + [(True, True)] * 30))
    0.250 [0.093, 0.383]
    """
    count = len(pairs)
    if not count:
        raise ValueError("a gap needs pairs")
    first, second = sum(one and not two for one, two in pairs), sum(two and not one for one, two in pairs)
    above, below = (first + 1) / (count + 2), (second + 1) / (count + 2)
    middle = above - below
    half = Z * math.sqrt((above + below - middle * middle) / (count + 2))
    gap = (first - second) / count
    low, high = max(-1.0, min(middle - half, gap)), min(1.0, max(middle + half, gap))
    return Share(share=gap, low=low, high=high, count=count)


def paired_ratio(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float, float] | None:
    """Compute the share of first successes divided by that of second ones, on the same tasks, with its 95% interval.

    The interval is Wald's for the logarithm, with half a success more on both sides, so that it has a width where the
    two never differ.

    Returns:
        The ratio and the ends of its interval; None where nothing succeeds second.

    >>> [round(value, 2) for value in paired_ratio([(True, True)] * 28 + [(False, True)] * 2)]
    [0.93, 0.83, 1.05]
    >>> paired_ratio([(True, False)])
    """
    first, second = sum(one for one, _ in pairs), sum(two for _, two in pairs)
    if not second:
        return None
    differ = sum(one != two for one, two in pairs)
    above, below = first + 0.5, second + 0.5
    half = Z * math.sqrt((differ + 1) / (above * below))
    ratio = first / second
    low, high = above / below * math.exp(-half), above / below * math.exp(half)
    return ratio, min(low, ratio), max(high, ratio)
