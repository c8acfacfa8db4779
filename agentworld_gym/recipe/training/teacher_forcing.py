"""Teacher forcing: what a model makes of tokens of a sample, given the true ones before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

TOKENS_AT_ONCE = 16_384
SCORES_AT_ONCE = 2**29
"""How many scores, one for each word of the vocabulary at each place, a pass makes if it takes more than one sample."""

PLACES_AT_ONCE = 1024
"""At so many places scores are turned into losses at a time, which takes several copies of them in float32."""


class TeacherForced(NamedTuple):
    """Of one sample, by its place: for each token whether it was the likeliest, and its loss in nats if asked for.

    The first token, and one that is not asked about, is not right and costs nothing.
    """

    place: int
    right: NDArray[np.bool_]
    loss: NDArray[np.float32] | None


def teacher_forced(
    model: PreTrainedModel,
    rows: Sequence[NDArray[Any]],
    asked: Sequence[NDArray[np.bool_]],
    *,
    with_loss: bool = False,
    tokens_at_once: int = TOKENS_AT_ONCE,
) -> Iterator[TeacherForced]:
    """One forward pass over some samples; those of like length come together, shortest first.

    Only places whose next token is asked about reach the output layer, which for large vocabularies is most of the work
    and of the memory.

    Args:
        model: in evaluation mode.
        rows: the tokens of each sample.
        asked: which of the tokens of each sample are asked about.
        with_loss: also give losses.
        tokens_at_once: how many tokens, padding included, one pass takes at most, if it takes more than one sample.
    """
    import torch

    network: Any = model
    device = next(model.parameters()).device
    places_at_once = SCORES_AT_ONCE // network.get_output_embeddings().weight.shape[0]
    sizes = [(len(row), int(mask.sum())) for row, mask in zip(rows, asked, strict=True)]
    for group in _groups(sizes, tokens_at_once, places_at_once):
        # What stands after a sample cannot be seen from within it, so any token fills the rows up.
        ids = np.zeros((len(group), len(rows[group[-1]])), dtype=np.int64)
        mask = np.zeros(ids.shape, dtype=np.bool_)
        for line, place in enumerate(group):
            ids[line, : len(rows[place])], mask[line, : len(rows[place])] = rows[place], asked[place]
        mask[:, 0] = False
        right, loss = np.zeros(ids.shape, dtype=np.bool_), np.zeros(ids.shape, dtype=np.float32)
        if mask.any():
            before = torch.from_numpy(np.flatnonzero(mask) - 1).to(device)
            logits = _logits(network, torch.from_numpy(ids).to(device), before)
            right[mask], loss[mask] = _judged(logits, torch.from_numpy(ids[mask]).to(device), with_loss)
        for line, place in enumerate(group):
            own = slice(0, len(rows[place]))
            yield TeacherForced(place, right[line, own], loss[line, own] if with_loss else None)


def select_positions(hidden: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """What stands at some places, counted through a whole batch, as a batch of one row."""
    return hidden.reshape(-1, hidden.shape[-1])[places].unsqueeze(0)


def _logits(network: Any, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The scores that follow each of some places."""
    import torch

    hook = network.get_output_embeddings().register_forward_pre_hook(
        lambda _layer, arguments: (select_positions(arguments[0], places),)
    )
    try:
        with torch.inference_mode():
            found: torch.Tensor = network(input_ids=ids, use_cache=False).logits[0]
    finally:
        hook.remove()
    return found


def _judged(
    logits: torch.Tensor, targets: torch.Tensor, with_loss: bool
) -> tuple[NDArray[np.bool_], NDArray[np.float32] | float]:
    """Which targets are the likeliest, and their losses."""
    import torch

    right, loss = [], []
    parts = (torch.split(whole, PLACES_AT_ONCE) for whole in (logits, targets))
    for scores, target in zip(*parts, strict=True):
        right.append(scores.argmax(-1) == target)
        if with_loss:
            loss.append(torch.nn.functional.cross_entropy(scores.float(), target, reduction="none"))
    return torch.cat(right).cpu().numpy(), torch.cat(loss).cpu().numpy() if with_loss else 0.0


def _groups(sizes: Sequence[tuple[int, int]], tokens: int, places: int) -> Iterator[list[int]]:
    """Neighbours by length that together have at most so many tokens, and places; empty samples are left out.

    >>> list(_groups([(4, 1), (0, 0), (3, 3), (4, 4)], 100, 5))
    [[2, 0], [3]]
    """
    group: list[int] = []
    chosen = 0
    for place in sorted((place for place, (length, _) in enumerate(sizes) if length), key=lambda at: sizes[at][0]):
        length, count = sizes[place]
        if group and ((len(group) + 1) * length > tokens or chosen + count > places):
            yield group
            group, chosen = [], 0
        group.append(place)
        chosen += count
    if group:
        yield group
