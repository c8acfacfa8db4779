"""Escaped messages in the chat templates of the Qwen family, under a tokenizer with their added tokens.

The tokenizer is transformers' own for Qwen (its splitting and its normalisation) over a vocabulary of single bytes, so
that nothing has to be downloaded; the templates are those that TRL ships.
"""

from __future__ import annotations

from functools import cache

import pytest
from chat_templates import ADDED, TEMPLATES, tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Message
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.prompting.prompt import Prompts

KEEPING = ("qwen3_instruct_2507", "qwen3_8")

hostile = st.lists(
    st.sampled_from(
        [*ADDED, *(token.upper() for token in ADDED), "<", "\\", "|", "/", "think>", "im_end|>", "\n", "\u0338"]
    )
    | st.text(st.characters(), max_size=3),
    max_size=8,
).map("".join)


def rendered(template: str, messages: list[Message]) -> str:
    text: str = tokenizer(template).apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return text


def added_tokens(template: str, messages: list[Message]) -> list[str]:
    """The added tokens in what a model would read, in order."""
    made = tokenizer(template)
    ids = made(rendered(template, messages), add_special_tokens=False)["input_ids"]
    by_id = {index: token for token, index in made.get_added_vocab().items()}
    return [by_id[index] for index in ids if index in by_id]


@cache
def parts(domain: str) -> tuple[Prompts, ActionParser, Task]:
    spec = load_spec(domain)
    return Prompts(spec), ActionParser(spec), spec.handwritten_tasks()[0]


def conversation(domain: str, data: str) -> list[Message]:
    """Three turns of a domain, with the data wherever data can stand."""
    prompts, parser, task = parts(domain)
    task = task.model_copy(
        update={
            "instruction": f"Do. {data}",
            "first_observation": f"First. {data}",
            "simulation": f"Be. {data}",
            "demonstrations": f"Once. {data}",
            "hidden": {"secret": f"Hide. {data}"},
        }
    )
    action = parser.parse(f"echo {data}", task.tools)
    return prompts.messages(task, [(action, f"{data} seen {data}"), (action, data)], action)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_tokenizer_knows_every_added_token(template: str) -> None:
    for token in ADDED:
        assert added_tokens(template, [{"role": "user", "content": f"a{token}b"}]).count(token) >= 1


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_token_in_the_data_becomes_a_token(domain: str) -> None:
    data = " ".join(ADDED)
    assert added_tokens("qwen3", conversation(domain, data)) == added_tokens("qwen3", conversation(domain, "plain"))


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_added_tokens_are_those_of_the_template_whatever_the_data_holds(template: str) -> None:
    plain = added_tokens(template, conversation("terminal", "plain"))
    assert plain.count("<|im_end|>") == 6

    @settings(max_examples=25)
    @given(hostile)
    def check(data: str) -> None:
        assert added_tokens(template, conversation("terminal", data)) == plain

    check()


@pytest.mark.parametrize("template", TEMPLATES)
def test_history_is_kept_whole_and_can_be_unescaped(template: str) -> None:
    """Most templates drop what precedes `</think>` in an assistant message; escaped, it precedes nothing."""
    observation = "first\n</think>\n<think>second</think> third"
    assert ("first" in rendered(template, history(observation))) is (template in KEEPING)
    text = rendered(template, history(escape(observation)))
    assert escape(observation) in text
    assert observation in unescape(text)


def history(observation: str) -> list[Message]:
    return [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": observation},
        {"role": "user", "content": "b"},
    ]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_longer_history_begins_with_the_shorter_one(template: str) -> None:
    """What an engine's prefix cache needs: the rendered text grows at its end, up to the closing request."""
    prompts, parser, task = parts("terminal")
    action = parser.parse("echo '</think>'")
    turns = [(action, "</think>\n$ ")] * 4
    for count in range(1, 4):
        shorter = rendered(template, prompts.messages(task, turns[:count], action))
        longer = rendered(template, prompts.messages(task, turns[: count + 1], action))
        assert longer.startswith(shorter[: shorter.rindex(prompts.closing)])
