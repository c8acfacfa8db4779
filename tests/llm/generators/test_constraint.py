"""A constraint is asked about the text that a completion would really have, however its tokenizer writes blanks."""

from __future__ import annotations

import pytest

from agentworld_gym.llm.generators.local_decoding.constraint import TokenConstraint

tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

BLANK = "\N{LOWER ONE EIGHTH BLOCK}"
"""How tokenizers in the manner of SentencePiece write a blank; they drop the one before what they decode."""


def test_the_blank_before_a_token_is_part_of_the_text():
    words = {f"{BLANK}cart": 0, f"{BLANK}=": 1, f"{BLANK}2": 2, "3": 3, "<end>": 4}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<end>"))
    inner.decoder = tokenizers.decoders.Metaspace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")
    asked: list[tuple[str, bool]] = []
    constraint = TokenConstraint(lambda text, whole: asked.append((text, whole)) is None, tokenizer, frozenset({4}))
    written = [0, 1, 2, 3]
    assert all(constraint.permits(written[:place], token) for place, token in enumerate([*written, 4]))
    assert asked == [("cart", False), ("cart =", False), ("cart = 2", False), ("cart = 23", False), ("cart = 23", True)]
