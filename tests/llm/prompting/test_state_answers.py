"""The codec of the state form takes any view, and no answer changes what it keeps of a state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.domain.view import StructuredState, View
from agentworld_gym.llm.prompting.state_answers import StateAnswers


@dataclass
class BoxView(View):
    """A view of a box, which can be compared and so has no hash."""

    name: str = "box"

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float], control_seed: int
    ) -> StructuredState:
        return dict(state)

    def view(self, shown: StructuredState) -> str:
        return json.dumps(shown)

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        return ()

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        return ""

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return {}, {"inside": shown["inside"]}


BEFORE = '{"inside":{"a":1},"other":{}}'


def test_a_view_need_not_have_a_hash() -> None:
    assert StateAnswers(BoxView()).read(None, BEFORE, "inside/a = 2") == '{"inside":{"a":2},"other":{}}'


def test_an_answer_changes_neither_the_state_nor_the_values_that_the_next_answer_takes() -> None:
    answers = StateAnswers(BoxView())
    answers.read(None, BEFORE, 'other = "{inside}"\nother/a = 7\ninside/a = 8')
    answers.allows(None, BEFORE)('other = "{inside}"\nother/a = 7\ninside/a = 8\n', whole=True)
    assert answers.read(None, BEFORE, 'other = "{inside}"') == '{"inside":{"a":1},"other":{"a":1}}'
