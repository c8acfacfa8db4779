"""The tokens of samples: what is learned under any chat template."""

from __future__ import annotations

import numpy as np
import pytest
from chat_templates import TEMPLATES
from chat_templates import tokenizer as qwen
from conversations import encoded, sample, small
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.tokenization import SampleTokenizer
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, wrap

pytest.importorskip("transformers")
THOUGHT = "<think>\nwhy\n</think>\n\n<predicted_observation>\nb.txt\n</predicted_observation>"


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_encoded_is_what_the_chat_template_makes(template: str) -> None:
    tokenizer = qwen(template)
    item = sample("look ", "a.txt\nb.txt\n", "again", "same")
    messages = [dict(message) for message in item.messages]
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    found = encoded(tokenizer, item)
    assert found.ids.tolist() == tokenizer(text, add_special_tokens=False)["input_ids"]
    learned = tokenizer.decode(found.ids[found.observed].tolist()).split("<|im_end|>")
    assert [part.strip() for part in learned] == ["a.txt\nb.txt", "same", ""]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("thinks", [True, False])
def test_the_last_answer_begins_where_the_request_ends(template: str, thinks: bool) -> None:
    tokenizer = qwen(template)
    item = sample("look", "a.txt", "think", THOUGHT if thinks else "b.txt", weights=[0, 1])
    request = [dict(message) for message in item.messages[:-1]]
    options = {"add_generation_prompt": True, "tokenize": False, "enable_thinking": thinks}
    asked = tokenizer.apply_chat_template(request, **options)
    found = encoded(tokenizer, item)
    first = int(np.flatnonzero(found.weights)[0])
    prefix = tokenizer.decode(found.ids[:first].tolist())
    written = tokenizer.decode(found.ids[found.weights > 0].tolist())
    assert written.endswith("b.txt\n</predicted_observation><|im_end|>" if thinks else "b.txt<|im_end|>")
    if (prefix + written).startswith(asked):  # some templates ask for thinking, whatever is wanted
        assert prefix == asked
    assert written.count("why") == thinks and written.count("</think>") == thinks


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=2, max_size=6), st.data())
def test_a_model_from_scratch_learns_its_answers_and_their_ends(texts: list[str], data: st.DataObject) -> None:
    texts = [text.replace("<", "‹") for text in texts[: len(texts) // 2 * 2]]
    weights = [data.draw(st.sampled_from([0.0, 0.05, 1.0])) for _ in texts[::2]]
    found = encoded(small(), sample(*texts, weights=weights, context_weight=0.25))
    assert small().decode(found.ids.tolist(), skip_special_tokens=False) == "".join(
        f"<|user|>{one}<|assistant|>{two}<|end|>" for one, two in zip(texts[::2], texts[1::2], strict=True)
    )
    answers = "".join(f"{text}<|end|>" for text in texts[1::2])
    assert small().decode(found.ids[found.observed].tolist(), skip_special_tokens=False) == answers
    ends = [turn - 1 for turn in found.turns]
    assert [small().decode([found.ids[end]], skip_special_tokens=False) for end in ends] == ["<|end|>"] * len(weights)
    assert found.weights[ends].tolist() == [np.float32(weight) for weight in weights]
    assert found.weights[0] == 0 and set(found.weights[1:][~found.observed[1:]]) <= {np.float32(0.25)}


def test_a_plain_text_is_learned_whole_and_ends() -> None:
    text = Sample(
        id="k", domain="knowledge", messages=[{"role": "text", "content": "one two"}], weights=[], context_weight=1
    )
    found = encoded(small(), text)
    assert small().decode(found.ids.tolist(), skip_special_tokens=False) == "one two<|end|>"
    assert found.weights.tolist() == [0] + [1] * (len(found.ids) - 1) and not found.observed.any()


def test_a_template_that_refuses_or_rewrites_messages_is_named() -> None:
    tokenizer = wrap(build_tokenizer(["a"], 400), 64)
    tokenizer.chat_template = "{{ messages[0]['content'] | upper }}"
    with pytest.raises(SpecError, match=r"s: messages: .* a chat template that keeps messages"):
        encoded(tokenizer, sample("a", "b"))
    tokenizer.chat_template = "{{ raise_exception('no system message') }}"
    with pytest.raises(SpecError, match="no system message"):
        SampleTokenizer(tokenizer)
    tokenizer.chat_template = None
    with pytest.raises(SpecError, match="a tokenizer with a chat template"):
        SampleTokenizer(tokenizer)
