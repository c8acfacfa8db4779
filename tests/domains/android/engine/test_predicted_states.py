"""States that a world model predicts may be wrong in any way: they are printed, or they are answer errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.domains.android.engine import AndroidView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.helpers.predicted_states import ABSURD, operations, printed_state

VIEW = AndroidView()
ANSWERS = StateAnswers(VIEW)
APPS = ("launcher", "contacts", "messages", "clock", "notes", "files", "settings", "calendar", "chess")
SCREENS = ("main", "person", "thread", "edit", "menu", "system/alert", "system/menu", "note", "folder", "")


def start() -> str:
    """A phone with a conversation in front."""
    shown = VIEW.begin({"contacts": {"people": [{"name": "Lea Merrick", "phone": "07700 900391"}]}}, 0)
    shown["front"], shown["tasks"]["contacts"] = "contacts", [{"screen": "main"}, {"screen": "person", "person": 1}]
    return json.dumps(shown)


BEFORE = start()
OPERATIONS = operations(
    json.loads(BEFORE),
    places=[".screen", ".scroll/list", ".fields/name"],
    words=[*APPS, *SCREENS, "07700 900391"],
    keys=["id", "screen", "number", "text", "fields", "choices", "x"],
)
ACTIONS = st.fixed_dictionaries(
    {
        "action_type": st.sampled_from(
            ["click", "long_press", "scroll", "input_text", "keyboard_enter", "swipe", "wait"]
        )
    },
    optional={
        "index": st.integers(-1, 30) | st.floats(),
        "x": st.integers(0, 1200),
        "y": st.integers(0, 2400),
        "direction": st.sampled_from(["up", "down", "left"]),
    },
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join), action=ACTIONS, after=OPERATIONS)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, action: dict[str, Any], after: str) -> None:
    if (state := printed_state(ANSWERS, BEFORE, answer)) is None:
        return
    ANSWERS.display(state, action)
    opened = ANSWERS.state_after_opening(state, {"action_type": "open_app", "app_name": "Clock"})
    assert opened is None or ANSWERS.printed(opened)
    try:
        ANSWERS.read(None, state, after)
    except AnswerError:
        return


@pytest.mark.parametrize("answer", [*ABSURD.values(), 'front = "chess"'], ids=[*ABSURD, "no such app"])
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))


def test_what_is_told_of_a_row_without_an_id_names_no_path() -> None:
    state = json.loads(BEFORE)
    state["data"]["contacts"]["people"] = [{"name": "Lea", "number": "07700 900391"}]
    assert "data/contacts" not in ANSWERS.display(json.dumps(state), {"action_type": "wait"})
