"""States that a world model predicts may be wrong in any way: they are printed, or they are answer errors."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.desktop.engine import DesktopView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.helpers.predicted_states import ABSURD, operations, printed_state

VIEW = DesktopView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("desktop")))
NOTE, TABLE = "~/Documents/note.txt", "~/Documents/table.csv"
PROGRAMS = ("files", "files2", "editor", "spreadsheet", "terminal", "calculator", "settings", "viewer", "chess")


def start() -> str:
    """A desktop with windows of six programs, a dialog, a menu and a notification."""
    shown = VIEW.begin({"files": {NOTE: "Milk\nBread", TABLE: "Item,Price\nLamp,20\n"}, "sites": {"shop": None}}, 0)
    shown["windows"] = [
        {"id": "settings", "panel": "Sound"},
        {"id": "browser", "tabs": {"0": {"pages": [{"url": "about:blank"}, {"url": "http://shop.example/"}]}}},
        {"id": "editor", "path": NOTE, "text": {"at": 1, "drop": 1, "lines": ["Butter"]}, "at": [2, 3]},
        {"id": "spreadsheet", "path": TABLE, "edits": {"Sheet1": {"B2": "=B3"}}, "at": "B2", "step": 1},
        {"id": "terminal", "folder": "~", "lines": ["user@desktop:~$ ls"], "typed": "pwd"},
        {"id": "files", "folder": "~/Documents", "selected": "note.txt", "dialogs": [{"title": "Rename", "text": "a"}]},
    ]
    shown["notices"] = [{"title": "Low Disk Space", "text": "", "until": 7}]
    shown["popup"] = {"menu": ["item", NOTE], "at": [700, 300]}
    return json.dumps(shown)


BEFORE = start()
OPERATIONS = operations(
    json.loads(BEFORE),
    places=[
        "windows",
        "windows/browser/tab",
        "windows/browser/tabs/0/back",
        "windows/files",
        ".title",
        "windows/editor/find",
        "windows/spreadsheet/from",
        "overview",
    ],
    words=[*PROGRAMS, NOTE, TABLE, "A1", "Sheet1", "1:1", "~", "Wi-Fi", "save", "http://shop.example/cart", ""],
    keys=[
        "id",
        "folder",
        "panel",
        "path",
        "text",
        "at",
        "lines",
        "drop",
        "title",
        "buttons",
        "entries",
        "menu",
        "in",
        "url",
    ],
)
POINTS = st.tuples(st.integers(-5, 2000), st.integers(-5, 1200))
ACTIONS = (
    st.builds("pyautogui.{}{}".format, st.sampled_from(["click", "rightClick", "doubleClick", "dragTo"]), POINTS)
    | st.builds("pyautogui.scroll(3, {0[0]}, {0[1]})".format, POINTS)
    | st.sampled_from(
        [
            "pyautogui.press('down')",
            "pyautogui.hotkey('ctrl', 'v')",
            "pyautogui.write('pwd')",
            "pyautogui.click(",
            "f" * 20_000,
        ]
    )
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join), action=ACTIONS, after=OPERATIONS)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, action: str, after: str) -> None:
    if (state := printed_state(ANSWERS, BEFORE, answer)) is None:
        return
    ANSWERS.display(state, action)
    assert ANSWERS.allows(None, state, action)("clock")
    opened = ANSWERS.state_after_opening(state, "time.sleep(1)")
    assert opened is None or ANSWERS.printed(opened)
    try:
        ANSWERS.read(None, state, after, action)
    except AnswerError:
        return


@pytest.mark.parametrize("answer", [*ABSURD.values(), '+windows {"id":"chess"}'], ids=[*ABSURD, "no such program"])
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))


@settings(max_examples=60)
@given(action=st.text() | ACTIONS)
def test_what_is_told_and_known_never_fails_whatever_the_action_is(action: str) -> None:
    given_values, _ = VIEW.named_values(json.loads(BEFORE), action)
    assert given_values["folder"] == "~/Documents"
    assert VIEW.describe_for_model(json.loads(BEFORE), action).startswith(
        "0 settings browser editor spreadsheet terminal files\n"
    )
