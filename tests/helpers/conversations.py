"""Short conversations as samples, and the tokens that a small tokenizer makes of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.tokenization import SampleTokenizer, TokenizedSample
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, wrap


@cache
def small() -> Any:
    """The tokenizer of a model from scratch."""
    return wrap(build_tokenizer(["ls -la notes.txt", "one two three"] * 3, 400), 512)


def sample(*texts: str, name: str = "s", **more: Any) -> Sample:
    """A conversation: user, assistant, user and so on."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    data = {"id": name, "domain": "d", "messages": messages, "weights": [1.0] * (len(texts) // 2), **more}
    return Sample.model_validate(data)


def encoded(tokenizer: Any, item: Sample) -> TokenizedSample:
    """The tokens of a sample."""
    (found,) = SampleTokenizer(tokenizer).encode([item])
    return found
