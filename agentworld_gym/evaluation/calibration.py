"""Whether a world model's confidence means what it says: of predictions made with 0.8, eight in ten should be exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from agentworld_gym.contracts import Observation
from agentworld_gym.evaluation.world_results import Bin, Calibration

BINS = 10

Measure = Literal["sequence", "token"]


def probability(observed: Observation, measure: Measure) -> float | None:
    """How likely a prediction was by the model's own account; None where the generator does not tell.

    `token` is the geometric mean of the probabilities of its tokens, `sequence` their product: what the model gives for
    having every one of them right.

    >>> from agentworld_gym.contracts import Usage
    >>> sure = Observation("a", Usage(completion_tokens=2), confidence=math.log(0.9))
    >>> round(probability(sure, "token"), 3), round(probability(sure, "sequence"), 3)
    (0.9, 0.81)
    """
    if observed.confidence is None:
        return None
    tokens = 1 if measure == "token" else max(observed.usage.completion_tokens, 1)
    return math.exp(min(0.0, observed.confidence) * tokens)


def calibration(measure: Measure, sure: Sequence[float], exact: Sequence[bool], bins: int = BINS) -> Calibration:
    """Confidence beside exactness, in bins of equal width; empty bins are left out.

    Args:
        measure: what the confidence is.
        sure: probabilities, one a prediction.
        exact: whether each prediction was exact.
        bins: how many, between 0 and 1.

    Raises:
        ValueError: no predictions.

    >>> found = calibration("token", [0.95, 0.95, 0.55, 0.55], [True, True, True, False])
    >>> round(found.error, 3), [(one.count, one.exact) for one in found.bins]
    (0.05, [(2, 0.5), (2, 1.0)])
    """
    given, right = np.asarray(sure, float), np.asarray(exact, float)
    if not len(given):
        raise ValueError("a calibration needs predictions")
    place = np.minimum((given * bins).astype(int), bins - 1)
    found = [
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            count=int((place == number).sum()),
            confidence=float(given[place == number].mean()),
            exact=float(right[place == number].mean()),
        )
        for number in np.unique(place).tolist()
    ]
    error = sum(one.count * abs(one.confidence - one.exact) for one in found) / len(given)
    return Calibration(measure=measure, count=len(given), error=error, bins=tuple(found))
