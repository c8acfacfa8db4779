"""Which answers of samples greedy decoding would write exactly: one forward pass a sample, given the true history.

Greedy decoding writes the true tokens if and only if each of them is the likeliest after those before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agentworld_gym.recipe.data.tokenization import SampleTokenizer, TokenizedSample
from agentworld_gym.recipe.training.teacher_forcing import TOKENS_AT_ONCE, teacher_forced
from agentworld_gym.sessions.samples import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


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
