"""The structured state of a phone: it is complete, and the view prints the screen from the part that it reads."""

from __future__ import annotations

import random
from typing import Any

import pytest
from laws import assert_restored_goes_on, assert_view_prints

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.android.engine import AndroidMachine, AndroidView
from agentworld_gym.domains.android.engine.apps import apps

TITLES = [app.title for app in apps().values() if app.icon]
DISTURBED = {
    name: 0.1
    for name in ("unexpected-dialog", "slow-loading", "reordered-menu", "session-expired", "intermittent-errors")
}
VIEW = AndroidView()


def gesture(machine: AndroidMachine, rng: random.Random) -> dict[str, Any]:
    """A random gesture that makes sense on the screen."""
    live = [node.handle for node in read_screen("android", machine.observation) if "clickable" in node.flags]
    if live and rng.random() < 0.75:
        return {"action_type": "click", "index": rng.choice(live)}
    others: list[dict[str, Any]] = [
        {"action_type": "open_app", "app_name": rng.choice(TITLES)},
        {"action_type": "scroll", "direction": "down"},
        {"action_type": "input_text", "text": "Ana 12"},
        {"action_type": "long_press", "index": rng.choice(live or [0])},
        *({"action_type": name} for name in ("navigate_back", "keyboard_enter", "wait")),
    ]
    return rng.choice(others)


@pytest.mark.parametrize("seed", range(8))
def test_a_machine_restored_from_its_state_goes_on_exactly(seed: int) -> None:
    rng = random.Random(seed)
    machine = AndroidMachine.start({}, seed, Controls(DISTURBED if seed % 2 else {}, seed))
    assert_restored_goes_on(machine, lambda machine: gesture(machine, rng), rng.randrange(30), 30)


@pytest.mark.parametrize("seed", range(4))
def test_the_view_prints_every_screen_from_what_is_shown_and_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    machine = AndroidMachine.start({}, seed, Controls(DISTURBED if seed % 2 else {}, seed))
    assert_view_prints(VIEW, machine, lambda machine: gesture(machine, rng), 30)


def test_a_screen_that_was_predicted_needs_no_bookkeeping() -> None:
    shown = VIEW.begin({"contacts": {"people": [{"name": "Lea Merrick", "phone": "07700 900391"}]}}, 0)
    shown["front"], shown["tasks"]["contacts"] = "contacts", [{"screen": "main"}, {"screen": "person", "person": 1}]
    assert 'text="07700 900391"' in VIEW.view(shown)
    shown["tasks"]["contacts"].append({"screen": "system/alert", "title": "Delete?", "text": "", "choices": ["No"]})
    assert [node.label for node in read_screen("android", VIEW.view(shown))][-1] == "No"
    assert VIEW.place(shown) == ("tasks", "contacts", 2)


def test_what_an_action_is_aimed_at_is_told_as_the_message_behind_it() -> None:
    shown = VIEW.begin({"contacts": {"people": [{"name": "Lea Merrick", "phone": "07700 900391"}]}}, 0)
    shown["front"], shown["tasks"]["contacts"] = "contacts", [{"screen": "main"}]
    row = next(node for node in read_screen("android", VIEW.view(shown)) if node.label == "Lea Merrick")
    told = VIEW.describe_for_model(shown, {"action_type": "click", "index": row.handle})
    assert told.splitlines()[0] == 'contacts/0 {"screen":"main"}'
    assert told.splitlines()[-1] == "L Lea Merrick > contacts/open 1"


@pytest.mark.parametrize(
    "wrong",
    [
        {"front": "chess"},
        {"tasks": {"launcher": []}},
        {"tasks": {"launcher": [{"screen": "system/fireworks"}]}},
        {"snack": 7},
        {"data": {}},
    ],
)
def test_a_state_that_no_phone_has_is_an_answer_error(wrong: dict[str, Any]) -> None:
    shown = VIEW.begin({}, 0) | wrong
    with pytest.raises(AnswerError, match="the view cannot print"):
        VIEW.view(shown)
    with pytest.raises(AnswerError):
        VIEW.describe_for_model(shown, {"action_type": "wait"})
