"""A state that can be printed is answered, though its view may fail to find values with names in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines.catalog import load_view
from agentworld_gym.llm.prompting.state_answers import StateAnswers

STATES: dict[str, Any] = {
    "android": {},
    "desktop": {"open": [{"program": "files"}]},
    "web": {"open": "http://shop.example/", "sites": {"shop": None}},
}
"""The states of tasks by their domains."""
WRONG: dict[str, str] = {
    "android": 'front = "contacts"\ntasks/contacts = [{"screen":"main"}]\nclock = "noon"',
    "desktop": '.entries = "none"',
    "web": 'tabs/0/pages = [{"url":"about:blank"}]\nusers = []',
}
"""Answers after which a view prints a state and fails to name what it holds."""


@pytest.mark.parametrize("domain", STATES)
def test_where_no_names_can_be_found_there_are_none(domain: str) -> None:
    view = load_view(domain)
    answers = StateAnswers(view, ActionParser(load_spec(domain)))
    state = answers.read(None, compact(view.begin(STATES[domain], 0, {}, 0)), WRONG[domain])
    assert answers.printed(state)
    with pytest.raises(AnswerError):
        view.named_values(json.loads(state), None)
    assert answers.allows(None, state)("same", whole=True)
    assert answers.read(None, state, 'note = "{{"') == compact({**json.loads(state), "note": "{"})
    assert answers.write(None, state, state) == "same"


def test_a_tab_that_is_counted_from_the_end_is_no_state_of_a_browser() -> None:
    view = load_view("web")
    assert view is not None
    with pytest.raises(AnswerError):
        view.view(view.begin(STATES["web"], 0, {}, 0) | {"tab": -1})
