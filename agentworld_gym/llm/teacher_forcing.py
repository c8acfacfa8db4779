"""Teacher forcing: how likely a model finds the tokens of a sample, given the true tokens before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.tokenization import SampleTokenizer, TokenizedSample

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TOKENS_AT_ONCE = 16_384
"""The most tokens, padding included, of a pass over more than one sample."""

SCORES_AT_ONCE = 2**29
"""The most scores, one for each word of the vocabulary at each place, that a pass over more than one sample makes."""

PLACES_AT_ONCE = 1024
"""The number of places whose scores are turned into losses at a time, which takes several copies of them in float32."""


class TeacherForced(NamedTuple):
    """How likely the tokens of one sample are; the first token, and a token that is not asked about, is not right."""

    place: int
    """The place of the sample among those that were given."""

    right: NDArray[np.bool_]
    """Whether each token is the likeliest after those before it."""

    loss: NDArray[np.float32] | None
    """The loss of each token in nats, 0 for those not asked about; None where no losses are asked for."""


def teacher_forced(
    model: PreTrainedModel,
    rows: Sequence[NDArray[Any]],
    asked: Sequence[NDArray[np.bool_]],
    *,
    with_loss: bool = False,
    tokens_at_once: int = TOKENS_AT_ONCE,
) -> Iterator[TeacherForced]:
    """Make one forward pass over some samples; those of like length come together, shortest first.

    Only places whose next token is asked about reach the output layer, which for large vocabularies is most of the work
    and of the memory.

    Args:
        model: The model, in evaluation mode.
        rows: The tokens of each sample.
        asked: A mask for each sample, of the tokens that are asked about.
        with_loss: Whether losses are wanted too.
        tokens_at_once: The most tokens, padding included, of a pass over more than one sample.
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
        for row, place in enumerate(group):
            ids[row, : len(rows[place])], mask[row, : len(rows[place])] = rows[place], asked[place]
        mask[:, 0] = False
        right, loss = np.zeros(ids.shape, dtype=np.bool_), np.zeros(ids.shape, dtype=np.float32)
        if mask.any():
            before = torch.from_numpy(np.flatnonzero(mask) - 1).to(device)
            logits = _logits(network, torch.from_numpy(ids).to(device), before)
            right[mask], loss[mask] = _judged(logits, torch.from_numpy(ids[mask]).to(device), with_loss)
        for row, place in enumerate(group):
            span = slice(0, len(rows[place]))
            yield TeacherForced(place, right[row, span], loss[row, span] if with_loss else None)


def select_positions(hidden: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Select some places, counted through a whole batch, and return what stands there as a batch of one row."""
    return hidden.reshape(-1, hidden.shape[-1])[places].unsqueeze(0)


def _logits(network: Any, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return the scores that follow each of some places."""
    import torch

    hook = network.get_output_embeddings().register_forward_pre_hook(
        lambda _layer, arguments: (select_positions(arguments[0], places),)
    )
    try:
        with torch.inference_mode():
            logits: torch.Tensor = network(input_ids=ids, use_cache=False).logits[0]
    finally:
        hook.remove()
    return logits


def _judged(
    logits: torch.Tensor, targets: torch.Tensor, with_loss: bool
) -> tuple[NDArray[np.bool_], NDArray[np.float32] | float]:
    """Tell which targets are the likeliest, and compute their losses."""
    import torch

    right, loss = [], []
    parts = (torch.split(whole, PLACES_AT_ONCE) for whole in (logits, targets))
    for scores, target in zip(*parts, strict=True):
        right.append(scores.argmax(-1) == target)
        if with_loss:
            loss.append(torch.nn.functional.cross_entropy(scores.float(), target, reduction="none"))
    return torch.cat(right).cpu().numpy(), torch.cat(loss).cpu().numpy() if with_loss else 0.0


def _groups(sizes: Sequence[tuple[int, int]], tokens: int, places: int) -> Iterator[list[int]]:
    """Group neighbours by length that together have at most so many tokens and places; empty samples are left out.

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


def exact_answers(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    samples: Iterable[Sample],
    longest: int | None = None,
    tokens_at_once: int = TOKENS_AT_ONCE,
) -> Iterator[tuple[Sample, list[bool | None]]]:
    """Yield each sample with whether each of its answers is exact, the end included; samples of like length come
    together.

    Args:
        model: The model, in evaluation mode.
        tokenizer: The tokenizer of the model.
        samples: The samples, all of which are held in memory as tokens.
        longest: The context length in tokens; an answer that ends beyond it is None.
        tokens_at_once: The most tokens, padding included, of a pass over more than one sample.

    Raises:
        SpecError: The chat template refuses the messages.
    """
    encoded = list(SampleTokenizer(tokenizer).encode(samples))
    rows, answers = [item.ids[:longest] for item in encoded], [item.observed[:longest] for item in encoded]
    for place, right, _ in teacher_forced(model, rows, answers, tokens_at_once=tokens_at_once):
        yield encoded[place].sample, list(_answers(encoded[place], right))


def _answers(item: TokenizedSample, right: Any) -> Iterator[bool | None]:
    begin = 0
    for end in item.turns:
        inside = item.observed[begin:end]
        yield None if end > len(right) else bool(inside.any() and right[begin:end][inside].all())
        begin = end
