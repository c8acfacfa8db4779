"""Teacher forcing: what a model makes of each token of a sample, given the true ones before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENS_AT_ONCE = 16_384


class Forced(NamedTuple):
    """Of one sample, by its place: for each token whether it was the likeliest, and its loss in nats if asked for.

    The first token is never right and costs nothing, since nothing stands before it.
    """

    place: int
    right: NDArray[np.bool_]
    loss: NDArray[np.float32] | None


def forced(
    model: PreTrainedModel,
    rows: Sequence[NDArray[Any]],
    *,
    with_loss: bool = False,
    tokens_at_once: int = TOKENS_AT_ONCE,
) -> Iterator[Forced]:
    """One forward pass over some samples; those of like length come together, shortest first.

    Args:
        model: in evaluation mode.
        rows: the tokens of each sample.
        with_loss: also give losses.
        tokens_at_once: how many tokens, padding included, one pass takes at most, if it takes more than one sample.
    """
    import torch

    network: Any = model
    device = next(model.parameters()).device
    for group in _groups([len(row) for row in rows], tokens_at_once):
        # What stands after a sample cannot be seen from within it, so any token fills the rows up.
        ids = np.zeros((len(group), len(rows[group[-1]])), dtype=np.int64)
        for line, place in enumerate(group):
            ids[line, : len(rows[place])] = rows[place]
        inputs = torch.from_numpy(ids).to(device)
        with torch.inference_mode():
            logits = network(input_ids=inputs, use_cache=False).logits
            best = logits.argmax(-1).cpu().numpy()
            losses = None
            if with_loss:
                flat = logits[:, :-1].float().transpose(1, 2)
                losses = torch.nn.functional.cross_entropy(flat, inputs[:, 1:], reduction="none").cpu().numpy()
        for line, place in enumerate(group):
            own = rows[place]
            right = np.append(False, best[line, : len(own) - 1] == own[1:])
            loss = None if losses is None else np.append(np.float32(0), losses[line, : len(own) - 1])
            yield Forced(place, right, loss)


def _groups(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Places of neighbours by length that together have at most so many tokens; empty samples are left out."""
    group: list[int] = []
    for place in sorted((place for place, length in enumerate(lengths) if length), key=lengths.__getitem__):
        if group and (len(group) + 1) * lengths[place] > tokens:
            yield group
            group = []
        group.append(place)
    if group:
        yield group
