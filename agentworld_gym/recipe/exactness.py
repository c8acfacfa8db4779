"""Which answers of samples greedy decoding would write exactly: one forward pass a sample, given the true history.

Greedy decoding writes the true tokens if and only if each of them is the likeliest after those before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from agentworld_gym.recipe.encoding import Encoded, Encoder
from agentworld_gym.recipe.samples import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

TOKENS_AT_ONCE = 16_384


def exact_answers(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    samples: Iterable[Sample],
    longest: int | None = None,
    tokens_at_once: int = TOKENS_AT_ONCE,
) -> Iterator[tuple[Sample, list[bool | None]]]:
    """Each sample with which of its answers are exact, the end included; samples of like length come together.

    Args:
        model: in evaluation mode.
        tokenizer: of the model.
        samples: all of them are in memory, as tokens.
        longest: answers that end beyond so many tokens are None: they do not fit the context.
        tokens_at_once: how many tokens, padding included, one pass takes at most, if it takes more than one sample.

    Raises:
        SpecError: the chat template refuses the messages.
    """
    import torch

    network: Any = model
    device = next(model.parameters()).device
    encoded = sorted(Encoder(tokenizer).encode(samples), key=lambda item: len(item.ids))
    most = longest or max((len(item.ids) for item in encoded), default=0)
    for group in _groups(encoded, most, tokens_at_once):
        ids = np.zeros((len(group), min(most, len(group[-1].ids))), dtype=np.int64)
        for row, item in enumerate(group):
            known = item.ids[:most]
            ids[row, : len(known)] = known
        with torch.inference_mode():
            # What stands after a sample cannot be seen from within it.
            best = network(input_ids=torch.from_numpy(ids).to(device), use_cache=False).logits.argmax(-1).cpu().numpy()
        for row, item in enumerate(group):
            known = item.ids[:most]
            yield item.sample, list(_answers(item, np.append(False, best[row, : len(known) - 1] == known[1:])))


def _answers(item: Encoded, right: Any) -> Iterator[bool | None]:
    begin = 0
    for end in item.turns:
        inside = item.observed[begin:end]
        yield None if end > len(right) else bool(inside.any() and right[begin:end][inside].all())
        begin = end


def _groups(encoded: list[Encoded], longest: int, tokens: int) -> Iterator[list[Encoded]]:
    """Neighbours, shortest first, that together have about so many tokens."""
    group: list[Encoded] = []
    for item in encoded:
        if group and (len(group) + 1) * min(longest, len(item.ids)) > tokens:
            yield group
            group = []
        group.append(item)
    if group:
        yield group
