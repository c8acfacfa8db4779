"""Escaping: reversible on every text, and nothing that has a meaning survives it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.escaping import escape, escape_all, is_valid, unescape

TAGS = ("think", "predicted_observation", "final_evaluation", "tool_call", "tool_response", "tts_pad")
MEANT = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|", *(f"<{tag}>" for tag in TAGS), *(f"</{t}>" for t in TAGS)]
LIVE = re.compile(rf"<\||</?(?:{'|'.join(TAGS)})", re.IGNORECASE)

# Texts made of the very pieces that the rule is about, lone surrogates among them.
pieces = st.sampled_from(
    ["<", "\\", "|", "/", ">", "think", "THINK", "im_end", "U+D800", "U+DFFF", "\ud800", "\udc00", "a"]
)
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
