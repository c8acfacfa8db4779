"""What the change of a phone can name in place of copying it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.android.engine import AndroidMachine, AndroidView
from agentworld_gym.llm.prompting.state_answers import StateAnswers

VIEW = AndroidView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("android")))
PEOPLE = {"contacts": {"people": [{"name": "Orla Quint", "phone": "07700 900431"}]}}
THREAD = {
    "messages": {"threads": [{"who": "07700 900431", "texts": [{"text": "At noon?", "time": "2026-03-04 08:00"}]}]}
}
SHOP = {
    "shop": {
        "products": [{"name": "Plums", "category": "Fruit", "price": 315}],
        "basket": [{"product": "Plums", "count": 2}],
        "slots": ["Tonight 19:00-20:00"],
    }
}


def tap(machine: AndroidMachine, text: str) -> dict[str, Any]:
    """A click on the element that shows or describes a text."""
    nodes = read_screen("android", machine.observation)
    found = next(node for node in nodes if text in (node.text, node.description))
    return {"action_type": "click", "index": found.handle}


def answered(machine: AndroidMachine, action: dict[str, Any]) -> str:
    """The answer to an action, after which the machine has carried it out; it can be read, and is allowed."""
    before, text = compact(machine.visible_state()), json.dumps(action)
    machine.act(action)
    after = compact(machine.visible_state())
    answer = ANSWERS.write(None, before, after, text)
    assert json.loads(ANSWERS.read(None, before, answer, text)) == json.loads(after)
    allows = ANSWERS.allows(None, before, text)
    assert all(allows(answer[:end]) for end in range(1, len(answer) + 1))
    assert allows(answer, whole=True)
    return answer


def opened(state: dict[str, Any], app: str, *taps: str) -> AndroidMachine:
    machine = AndroidMachine.start(state, seed=0)
    machine.act({"action_type": "open_app", "app_name": app})
    for text in taps:
        machine.act(tap(machine, text))
    return machine


def test_typed_text_is_named() -> None:
    machine = opened(PEOPLE, "Contacts", "Create contact")
    assert answered(machine, {"action_type": "input_text", "text": "Nia Voss"}) == '.fields/name = "{text}"'


def test_what_was_typed_is_saved_under_the_names_of_the_fields() -> None:
    machine = opened(PEOPLE, "Contacts", "Create contact")
    machine.act({"action_type": "input_text", "text": "Nia Voss"})
    assert '"name":"{}"' in answered(machine, tap(machine, "Save")).splitlines()[0]


def test_columns_of_the_row_on_the_screen_are_named_by_its_key() -> None:
    machine = opened(PEOPLE, "Contacts", "Orla Quint")
    answer = answered(machine, tap(machine, "Edit contact"))
    assert '"fields":{"name":"{person/name}","phone":"{person/phone}"}' in answer


def test_the_argument_of_the_message_behind_an_element_is_the_aim() -> None:
    machine = opened(THREAD, "Messages")
    assert '"number":"{aim}"' in answered(machine, tap(machine, "07700 900431"))


def test_a_sent_text_names_the_field_and_the_time() -> None:
    machine = opened(THREAD, "Messages", "07700 900431", "Text message")
    machine.act({"action_type": "input_text", "text": "Gladly"})
    assert '"text":"{}","time":"{now}"' in answered(machine, tap(machine, "Send SMS"))


def test_an_order_names_the_price_the_time_and_the_basket() -> None:
    machine = opened(SHOP, "Pantry", "Basket (2)", "Choose a time")
    answered(machine, tap(machine, "Tonight 19:00-20:00"))
    assert '"text":"{€total}, delivered {slot}."' in answered(machine, tap(machine, "Order"))
    order = answered(machine, tap(machine, "Place order"))
    assert '"lines":"{basket}"' in order
    assert '"total":"{}"' in order


def test_small_numbers_and_truth_values_have_no_name() -> None:
    machine = opened(PEOPLE, "Contacts", "Orla Quint")
    values, rows = VIEW.named_values(machine.visible_state(), tap(machine, "Edit contact"))
    assert values.keys().isdisjoint({"aim", "person"})
    assert "person/starred" not in rows


@settings(max_examples=20)
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=20))
def test_any_typed_text_is_read_back(text: str) -> None:
    machine = opened(PEOPLE, "Contacts", "Create contact")
    answered(machine, {"action_type": "input_text", "text": text})


def test_nothing_is_known_of_an_action_that_cannot_be_read_but_the_screens_and_the_time() -> None:
    state = VIEW.begin({}, seed=0)
    assert VIEW.named_values(state, None)[0].keys() == {"now", "today"}
