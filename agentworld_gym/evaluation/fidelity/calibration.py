"""Calibration of a world model's confidence: of predictions made with confidence 0.8, eight in ten should be exact."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.statistics.bootstrap import interval
from agentworld_gym.core.contracts import Observation
from agentworld_gym.evaluation.results.fidelity import Bin, Calibration, Trusted

BINS = 10
FEWEST = 10
"""The number of predictions that a bin should hold at least, because the share of fewer says nothing."""

LEAST = (0.9, 0.99)
"""The thresholds for which the report says how many of the accepted answers are wrong."""

Measure = Literal["sequence", "token"]


def probability(observed: Observation, measure: Measure) -> float | None:
    """Return how likely a prediction is by the model's own account; None where the generator does not tell.

    The measure `token` is the geometric mean of the probabilities of its tokens, and `sequence` is their product: the
    probability that the model gives to every one of them being right.

    >>> from agentworld_gym.core.contracts import Usage
    >>> sure = Observation("a", Usage(completion_tokens=2), confidence=math.log(0.9))
    >>> round(probability(sure, "token"), 3), round(probability(sure, "sequence"), 3)
    (0.9, 0.81)
    """
    if measure == "sequence" or observed.confidence is None:
        return observed.probability
    return math.exp(min(0.0, observed.confidence))


def calibration(
    measure: Measure,
    sure: Sequence[float],
    exact: Sequence[bool],
    sessions: Sequence[Hashable] | None = None,
    bins: int = BINS,
) -> Calibration:
    """Compare confidence with exactness, in bins of about as many predictions each.

    A model that copies well is sure of nearly everything: bins of equal width would put all of that into the last one.
    Equal confidences share a bin.

    Args:
        measure: What the confidence is.
        sure: The probability of each prediction.
        exact: Whether each prediction was exact.
        sessions: The session of each prediction, over which the intervals are drawn; None takes each prediction for
            itself.
        bins: The most bins; there are fewer where they would hold less than `FEWEST` predictions.

    Raises:
        ValueError: There are no predictions.

    >>> found = calibration("token", [0.5] * 20 + [0.75] * 20, [True, False] * 10 + [True] * 20)
    >>> found.error, [(one.confidence, one.exact.share, one.exact.count) for one in found.bins]
    (0.125, [(0.5, 0.5, 20), (0.75, 1.0, 20)])
    """
    confidences, right = np.asarray(sure, float), np.asarray(exact, bool)
    if not len(confidences):
        raise ValueError("a calibration needs predictions")
    calibrated = []
    for inside in _bins(confidences, min(bins, len(confidences) // FEWEST)):
        held = confidences[inside]
        owners = None if sessions is None else [sessions[one] for one in inside]
        calibrated.append(
            Bin(
                low=float(held.min()),
                high=float(held.max()),
                confidence=float(held.mean()),
                exact=interval(right[inside].tolist(), owners),
            )
        )
    error = sum(one.exact.count * abs(one.confidence - one.exact.share) for one in calibrated) / len(confidences)
    return Calibration(measure=measure, count=len(confidences), error=error, bins=tuple(calibrated))


def trusted(
    sure: Sequence[float], right: Sequence[bool], sessions: Sequence[Hashable] | None = None, least: float = LEAST[0]
) -> Trusted:
    """Return how many answers a guard takes as they are, and how many of these are wrong all the same.

    Args:
        sure: The probability that the model gives to each answer as a whole.
        right: Whether each answer is right.
        sessions: The session of each answer, over which the intervals are drawn; None takes each answer for itself.
        least: The least probability that the guard asks for.

    Raises:
        ValueError: There are no answers.

    >>> found = trusted([0.95] * 8 + [0.5] * 2, [True] * 6 + [False] * 4)
    >>> found.taken.share, found.wrong.share
    (0.8, 0.25)
    """
    taken = [one >= least for one in sure]
    owners = list(range(len(taken))) if sessions is None else list(sessions)
    wrong = [not one for one in compress(right, taken)]
    return Trusted(
        least=least,
        taken=interval(taken, owners),
        wrong=interval(wrong, list(compress(owners, taken))) if wrong else None,
    )


def _bins(confidences: NDArray[np.float64], count: int) -> list[NDArray[np.int64]]:
    """Return the places of some values in bins of rising value, cut where the value changes, nearest to equal sizes."""
    order = np.argsort(confidences, kind="stable")
    changes = np.flatnonzero(np.diff(confidences[order])) + 1
    ideal = [len(confidences) * number / count for number in range(1, count)] if len(changes) else []
    return np.split(order, sorted({int(changes[np.abs(changes - cut).argmin()]) for cut in ideal}))
