"""The tokenizer of small models, with words that it spells."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError

tokenizers = pytest.importorskip("tokenizers")

from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, spelled_out  # noqa: E402

PAIRS = itertools.product(string.ascii_lowercase, repeat=2)
TEXTS = [f"hello Milo, here is {one}{other}{one}{other} of milo" for one, other in PAIRS]
PLAIN, SPELLED = build_tokenizer(TEXTS, 500), build_tokenizer(TEXTS, 500, {"milo"})


def test_a_spelled_word_is_no_token_and_any_other_is() -> None:
    assert "ĠMilo" in PLAIN.encode("hello Milo").tokens
    assert SPELLED.encode("hello Milo").tokens == ["hello", *SPELLED.encode(" Milo").tokens]
    assert len(SPELLED.encode(" Milo").tokens) > 1


def test_a_word_leaves_a_vocabulary_and_all_other_tokens_stay_where_they_were() -> None:
    spelled = spelled_out(PLAIN, {"milo"})
    assert len(spelled.encode(" Milo").tokens) > 1
    assert spelled.encode("hello, here is abab").ids == PLAIN.encode("hello, here is abab").ids
    assert spelled.get_vocab_size() == PLAIN.get_vocab_size()


@given(st.text(max_size=30))
def test_every_text_is_decoded_exactly(text: str) -> None:
    whole = f"milo {text} Milo"
    for tokenizer in (SPELLED, spelled_out(PLAIN, {"milo"})):
        assert tokenizer.decode(tokenizer.encode(whole, add_special_tokens=False).ids) == whole


def test_only_a_tokenizer_of_whole_words_spells_some() -> None:
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    with pytest.raises(SpecError, match="a tokenizer of whole words"):
        spelled_out(other, {"milo"})
