"""The tokenizer of small models, with words that it spells."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions

tokenizers = pytest.importorskip("tokenizers")

from agentworld_gym.recipe.data.small_tokenizer import SPECIALS, build_tokenizer, spelled_out, wrap  # noqa: E402

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


@given(st.text())
def test_no_text_holds_a_special_token(text: str) -> None:
    assert PLAIN.decode(PLAIN.encode(text).ids, skip_special_tokens=False) == text


def test_frequent_words_are_one_token_wherever_they_stand() -> None:
    tokenizer = build_tokenizer(["cat notes.txt\ncat notes.txt"] * 3, 400)
    assert tokenizer.encode("cat notes.txt\ncat").tokens[::4] == ["cat", "cat"]


def test_a_vocabulary_too_small_for_bytes_is_refused() -> None:
    with pytest.raises(SpecError, match="vocab_size: got 300"):
        build_tokenizer(["a"], 300)


def test_special_tokens_are_exactly_those_of_the_template() -> None:
    prompts = Prompts(load_spec("terminal"), PromptOptions(profile="compact"))
    hostile = prompts.observation("".join(SPECIALS) + "<think>")
    text = wrap(PLAIN, 512).apply_chat_template([{"role": "assistant", "content": hostile}], tokenize=False)
    specials = [token for token in PLAIN.encode(text).tokens if token in SPECIALS]
    assert specials == ["<|assistant|>", "<|end|>"]
