"""How far a run has come: what the model makes of samples it never learns from, in one forward pass each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from agentworld_gym.recipe.metrics import Metrics
from agentworld_gym.recipe.store import TokenStore

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENS_AT_ONCE = 16_384


def validation(store: TokenStore, longest: int, pad: int) -> Callable[[PreTrainedModel], Metrics]:
    """A function that measures a model on held-out samples.

    Its metrics are, over the tokens of answers: `validation_loss`, the mean loss; `validation_accuracy`, the share
    whose most likely token is right; and `validation_exact`, the share of answers all of whose tokens are, which is
    what greedy generation would write, given the true history.

    Args:
        store: the samples.
        longest: longer samples are left out.
        pad: the token that fills rows up.
    """
    lengths = store.lengths
    order = [int(index) for index in np.argsort(lengths, kind="stable") if lengths[index] <= longest]

    def measure(model: PreTrainedModel) -> Metrics:
        import torch

        device = next(model.parameters()).device
        loss, right, exact, tokens, answers = 0.0, 0, 0, 0, 0
        with torch.inference_mode():
            for group in _groups(order, lengths):
                width = int(lengths[group[-1]])
                ids = np.full((len(group), width), pad, dtype=np.int64)
                observed = np.zeros((len(group), width), dtype=bool)
                for row, index in enumerate(group):
                    own, _weights, mask = store[index]
                    ids[row, : len(own)], observed[row, : len(own)] = own, mask
                inputs = torch.from_numpy(ids).to(device)
                network: Any = model
                logits = network(input_ids=inputs, use_cache=False).logits[:, :-1].float()
                targets = inputs[:, 1:]
                each = (
                    torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none").cpu().numpy()
                )
                hits = (logits.argmax(-1) == targets).cpu().numpy()
                mask = observed[:, 1:]
                loss, right, tokens = loss + float(each[mask].sum()), right + int(hits[mask].sum()), tokens + mask.sum()
                spans = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
                for row, start in zip(*np.nonzero(spans == 1), strict=True):
                    stop = start + int(np.argmin(np.append(mask[row, start:], False)))
                    exact, answers = exact + bool(hits[row, start:stop].all()), answers + 1
        return {
            "validation_loss": loss / max(tokens, 1),
            "validation_accuracy": right / max(tokens, 1),
            "validation_exact": exact / max(answers, 1),
        }

    return measure


def _groups(order: list[int], lengths: Any) -> list[list[int]]:
    """Samples of like length that together have about `TOKENS_AT_ONCE` tokens."""
    found: list[list[int]] = []
    for index in order:
        if not found or (len(found[-1]) + 1) * int(lengths[index]) > TOKENS_AT_ONCE:
            found.append([])
        found[-1].append(index)
    return found
