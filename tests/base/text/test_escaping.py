"""Escaping: reversible on every text, and nothing that has a meaning survives it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.text.escaping import escape, escape_all, is_valid, unescape

TAGS = ("think", "predicted_observation", "final_evaluation", "tool_call", "tool_response", "tts_pad")
MEANT = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|", *(f"<{tag}>" for tag in TAGS), *(f"</{t}>" for t in TAGS)]
LIVE = re.compile(rf"<\||</?(?:{'|'.join(TAGS)})|(?-i:</?s>|\[/?INST\])|\*\*action:?\*\*|### turn \d", re.IGNORECASE)

FAMILIES = {
    "Llama 2": "<s> </s> [INST] [/INST] <<SYS>> <</SYS>> <unk>",
    "Llama 3": "<|begin_of_text|> <|start_header_id|> <|eot_id|> <|python_tag|>",
    "Gemma": "<bos> <eos> <pad> <mask> <start_of_turn> <end_of_turn> <start_of_image> <image> <unused99> <turn|>",
    "Mistral": "[INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] [/TOOL_RESULTS] [THINK]",
    "DeepSeek": "<｜begin▁of▁sentence｜> <｜User｜> <｜Assistant｜> <｜tool▁calls▁begin｜>",
    "Phi": "<|user|> <|end|> <|assistant|> <|im_sep|>",
    "Cohere": "<BOS_TOKEN> <|START_OF_TURN_TOKEN|> <EOS_TOKEN>",
    "GLM": "[gMASK] <sop> <eop> <|observation|>",
    "EXAONE": "[|user|] [|endofturn|]",
    "BERT and T5": "[CLS] [SEP] [MASK] <extra_id_0>",
    "code": "<fim_prefix> <fim_middle> <file_sep> <repo_name>",
}
HEADINGS = ["**Action:**", "**Task Instruction:**", "**Current State:**", "**Environment Observation:**", "### Turn 12"]
HEADINGS += ["**action:**", "** Action :**", "**Action**:", "#### Turn 1", "###\tturn 1"]

# Texts made of the very pieces that the rule is about, lone surrogates among them.
PIECES = ["<", "\\", "|", "/", ">", "think", "THINK", "im_end", "U+D800", "U+DFFF", "\ud800", "\udc00", "a", "s>"]
PIECES += [
    "[",
    "INST]",
    "]",
    "**",
    "*",
    "Action:",
    "Action",
    "###",
    "#",
    " Turn 1",
    "SYS>",
    "|]",
    "|>",
    "｜",
    "unused1>",
]
pieces = st.sampled_from(PIECES)
texts = st.one_of(st.text(st.characters()), st.lists(pieces, max_size=12).map("".join))


@given(texts)
def test_unescape_undoes_escape(text: str) -> None:
    assert unescape(escape(text)) == text


@given(texts)
def test_an_escaped_text_means_nothing_and_is_valid(text: str) -> None:
    escaped = escape(text)
    assert not LIVE.search(escaped)
    assert is_valid(escaped)


@given(texts, st.integers(1, 4))
def test_escaping_again_and_again_is_reversible_too(text: str, times: int) -> None:
    escaped = text
    for _ in range(times):
        escaped = escape(escaped)
    for _ in range(times):
        escaped = unescape(escaped)
    assert escaped == text


@pytest.mark.parametrize("text", MEANT)
def test_one_backslash_goes_after_the_opening_bracket(text: str) -> None:
    assert escape(text) == "<\\" + text[1:]
    assert escape(text.upper()) == "<\\" + text.upper()[1:]
    assert escape(escape(text)) == "<\\\\" + text[1:]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_special_tokens_of_the_common_families_are_escaped(family: str) -> None:
    for token in FAMILIES[family].split():
        escaped = escape(f"a {token} b")
        assert token not in escaped and escaped.replace("\\", "") == f"a {token} b"
        assert unescape(escaped) == f"a {token} b"


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_of_our_templates_is_escaped_wherever_it_stands(heading: str) -> None:
    for text in (heading, f"page\n{heading}\nls", f"  {heading}", f"\u2028{heading}", f"*{heading}*"):
        assert heading not in escape(text)
        assert unescape(escape(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "<s",
        "<small>",
        "</span>",
        "List<int>",
        "[x]",
        "[ref=e1]",
        "a[0]",
        "**Actions** are:",
        "# Turn 1",
        "### Turns",
        "### Page",
        "def do(self, **action: Any) -> None:",
        "**bold:**",
        "<image src='a'>",
        "[inst]",
        "x[|y|z]",
    ],
)
def test_what_only_resembles_a_token_or_a_heading_stays_as_it_is(text: str) -> None:
    assert escape(text) == text


@pytest.mark.parametrize(
    "text", ["", "a < b", "<b>bold</b>", "<\\n", "x <y| z>", "\x00\x1b[31m", "émoji 🎉", "<U+0041>"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert escape(text) == text
    assert unescape(text) == text


def test_a_lone_surrogate_is_written_out_and_its_notation_is_escaped() -> None:
    assert escape("\ud83d!") == "<U+D83D>!"
    assert escape("<U+D83D>!") == "<\\U+D83D>!"
    assert unescape("<U+D83D>!") == "\ud83d!"


def test_everything_within_data_is_escaped() -> None:
    data = {"<think>": ["<|", {"n": 1, "t": ("</think>",)}], "none": None, "yes": True}
    assert escape_all(data) == {"<\\think>": ["<\\|", {"n": 1, "t": ["<\\/think>"]}], "none": None, "yes": True}
