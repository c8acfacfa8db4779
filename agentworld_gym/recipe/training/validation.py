"""Validation: how well a model that is trained predicts the answers of held-out samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from agentworld_gym.llm.teacher_forcing import teacher_forced
from agentworld_gym.recipe.data.token_store import TokenStore
from agentworld_gym.recipe.training.metrics import Metrics

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def validation(store: TokenStore, longest: int) -> Callable[[PreTrainedModel], Metrics]:
    """Return a function that measures a model on held-out samples.

    Its metrics are taken over the tokens of answers that have a weight: `validation_loss` is the mean loss,
    `validation_accuracy` the share whose most likely token is right, and `validation_exact` the share of answers all of
    whose tokens are right, which is what greedy generation would write given the true history.

    Args:
        store: The samples.
        longest: The length in tokens above which samples are left out.
    """
    kept = [store[int(index)] for index in np.flatnonzero(store.lengths <= longest)]
    rows = [ids for ids, _, _ in kept]
    # Where a sample learns its last answer alone, the other answers are only history.
    answers = [observed & (weights > 0) for _, weights, observed in kept]

    def measure(model: PreTrainedModel) -> Metrics:
        loss, right, exact, tokens, count = 0.0, 0, 0, 0, 0
        for place, hits, losses in teacher_forced(model, rows, answers, with_loss=True):
            mask = answers[place]
            assert losses is not None
            loss, right, tokens = loss + float(losses[mask].sum()), right + int(hits[mask].sum()), tokens + mask.sum()
            edges = np.flatnonzero(np.diff(np.pad(mask, 1).astype(np.int8)))
            for start, stop in zip(edges[::2], edges[1::2], strict=True):
                exact, count = exact + bool(hits[start:stop].all()), count + 1
        return {
            "validation_loss": loss / max(tokens, 1),
            "validation_accuracy": right / max(tokens, 1),
            "validation_exact": exact / max(count, 1),
        }

    return measure
