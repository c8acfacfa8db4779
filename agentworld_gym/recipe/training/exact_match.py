"""Exact match without decoding: which answers greedy decoding would write exactly, from one forward pass over a sample.

Given the true history, greedy decoding writes the true tokens if and only if each of them is the likeliest after those
before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.tokenization import SampleTokenizer, TokenizedSample
from agentworld_gym.recipe.training.teacher_forcing import TOKENS_AT_ONCE, teacher_forced

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


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
