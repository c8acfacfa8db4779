"""The table of a screen: its order, and which elements have no row."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.desktop.live.inside import pyautogui
from agentworld_gym.domains.desktop.live.table import table

SIZE = (400, 300)
THERE = ["enabled", "sensitive", "showing"]


def window(title: str, box: list[int], pid: int = 1, popup: bool = False) -> dict[str, Any]:
    return {"title": title, "pid": pid, "box": box, "inner": box, "popup": popup}


def element(role: str, name: str, box: list[int], above: int = -1, **more: Any) -> dict[str, Any]:
    usual = {"description": "", "text": "", "states": THERE, "pid": 1}
    return {**usual, "role": role, "name": name, "box": box, "above": above, **more}


def rows(windows: list[dict[str, Any]], *elements: dict[str, Any]) -> list[tuple[str, str]]:
    shown = table({"windows": windows, "elements": list(elements)}, SIZE)
    return [(node.role, node.label) for node in read_screen("desktop", shown)]


def test_windows_stand_from_front_to_back_and_what_is_covered_has_no_row() -> None:
    windows = [window("b", [100, 0, 100, 100], pid=2), window("a", [0, 0, 200, 100])]
    shown = rows(
        windows,
        element("frame", "a", [0, 0, 200, 100]),
        element("push-button", "seen", [10, 10, 20, 20], 0),
        element("push-button", "covered", [110, 10, 20, 20], 0),
        element("frame", "b", [100, 0, 100, 100], pid=2),
        element("check-box", "on", [110, 10, 20, 20], 3, pid=2),
    )
    assert shown == [("frame", "b"), ("check-box", "on"), ("frame", "a"), ("push-button", "seen")]


def test_the_entries_of_an_open_menu_lie_in_its_popup() -> None:
    windows = [window("", [0, 20, 50, 40], popup=True), window("a", [0, 0, 200, 100])]
    shown = rows(
        windows,
        element("frame", "a", [0, 0, 200, 100]),
        element("menu", "File", [0, 0, 40, 20], 0),
        element("menu-item", "Save  ", [0, 20, 50, 20], 1),
        element("text", "under the menu", [0, 20, 50, 40], 0),
    )
    assert shown == [("menu-item", "Save"), ("frame", "a"), ("menu", "File")]


def test_what_is_disabled_scrolled_away_or_has_nothing_to_tell_has_no_row() -> None:
    shown = rows(
        [window("a", [0, 0, 200, 100])],
        element("frame", "a", [0, 0, 200, 100]),
        element("scroll-pane", "", [0, 0, 200, 50], 0),
        element("label", "scrolled away", [0, 60, 50, 20], 1),
        element("push-button", "disabled", [0, 0, 50, 20], 0, states=["showing"]),
        element("push-button", "", [0, 0, 50, 20], 0),
        element("panel", "a container", [0, 0, 50, 20], 0),
        element("push-button", "", [0, 0, 50, 20], 0, description="Open <b>it</b>"),
        element("text", "", [0, 30, 50, 20], 0),
    )
    assert shown == [("frame", "a"), ("push-button", "Open it"), ("text", "")]


def test_texts_and_states_stand_as_on_the_grounded_desktop() -> None:
    box = [0, 0, 100, 100]
    field = element("text", "n", box, 0, text='a\n"b"', states=[*THERE, "focused"])
    pressed = element("toggle-button", "t", box, 0, states=[*THERE, "pressed", "selected"])
    told = {"windows": [window("a", box)], "elements": [element("frame", "a", box), field, pressed]}
    assert table(told, SIZE).split("\n")[2:] == [
        'text\tn\t"a\\n""b"""\t\tfocused\t(0, 0)\t(100, 100)',
        'toggle-button\tt\t""\t\tchecked, selected\t(0, 0)\t(100, 100)',
    ]


def test_pyautogui_has_the_functions_of_the_grounded_desktop() -> None:
    from agentworld_gym.domains.desktop.engine.interpreter.pyautogui import PyAutoGui

    functions = PyAutoGui(None, None, None).functions()  # type: ignore[arg-type]
    assert [name for name in functions if not callable(getattr(pyautogui, name, None))] == []
