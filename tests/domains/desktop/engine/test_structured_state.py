"""The structured state of a desktop: it is complete, and the view prints the screen from the part that it reads."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Any

import pytest
from laws import assert_restored_goes_on, assert_view_prints, roundtripped

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.desktop.engine import DesktopMachine, DesktopView
from agentworld_gym.llm.prompting.state_changes import write_change

VIEW = DesktopView()
FOLDER = "/home/user/Documents"
FILES = {f"{FOLDER}/note.txt": "Milk\nBread\n", f"{FOLDER}/table.ods": "Item,Price\nLamp,20\nVase,\n"}
STATE: dict[str, Any] = {"files": FILES, "sites": {"shop": None}}
DISTURBED = dict.fromkeys(load_spec("desktop").controls, 0.1)
WINDOWS: dict[str, list[Any]] = {
    "files": [FOLDER],
    "editor": [f"{FOLDER}/note.txt"],
    "spreadsheet": [f"{FOLDER}/table.ods"],
    "settings": [],
    "terminal": [],
    "browser": [],
}


def gesture(machine: DesktopMachine, rng: random.Random) -> str:
    """Something to do on what is on the screen."""
    node = rng.choice(read_screen("desktop", machine.observation))
    assert node.box is not None
    x, y = node.box.centre
    kinds = ("click", "click", "doubleClick", "rightClick")
    return rng.choice(
        [
            *(f"pyautogui.{kind}({x}, {y})" for kind in kinds),
            f"pyautogui.scroll(-3, {x}, {y})",
            f"pyautogui.write({rng.choice(['note', '42', '=SUM(B1:B9)', 'ls -l'])!r})",
            f"pyautogui.press({rng.choice(['enter', 'esc', 'down', 'tab', 'f2', 'backspace'])!r})",
            f"pyautogui.hotkey('ctrl', {rng.choice('acvzfs')!r})",
        ]
    )


def begun(program: str, seed: int) -> DesktopMachine:
    opened = {"open": [{"program": program, "arguments": WINDOWS[program]}]}
    return DesktopMachine.start({**STATE, **opened}, seed, Controls(DISTURBED if seed % 2 else {}, seed))


@pytest.mark.parametrize(("seed", "program"), [*enumerate(WINDOWS)])
def test_a_machine_restored_from_its_state_goes_on_exactly(program: str, seed: int) -> None:
    rng = random.Random(seed)
    with closing(begun(program, seed)) as machine:
        assert_restored_goes_on(machine, lambda machine: gesture(machine, rng), 10, 15)


@pytest.mark.parametrize(("seed", "program"), [*enumerate(WINDOWS)])
def test_the_view_prints_every_screen_from_what_is_shown_and_changes_nothing(program: str, seed: int) -> None:
    rng = random.Random(seed)
    with closing(begun(program, seed)) as machine:
        assert_view_prints(VIEW, machine, lambda machine: gesture(machine, rng), 15)


def test_shells_and_held_keys_are_restored_too() -> None:
    machine = DesktopMachine.start(STATE, 0)
    machine.act("subprocess.run('export NAME=Lea; echo hi > a.txt', shell=True)\npyautogui.keyDown('shift')")
    twin = DesktopMachine.restore(roundtripped(machine.structured_state()))
    after = "subprocess.run('echo $NAME $RANDOM >> a.txt; date >> a.txt', shell=True)\npyautogui.press('a')"
    machine.act(after)
    twin.act(after)
    assert twin.state() == machine.state()
    assert "Lea" in str(twin.state()["files/home/user/a.txt"])


def test_a_window_that_was_predicted_needs_no_bookkeeping() -> None:
    shown = VIEW.begin(STATE, 0)
    edits = {"Sheet1": {"B3": "=B2*2"}}
    shown["windows"].append({"id": "spreadsheet", "path": "~/Documents/table.ods", "edits": edits})
    cells = {node.name: node.text for node in read_screen("desktop", VIEW.view(shown)) if node.role == "table-cell"}
    assert (cells["B2"], cells["B3"]) == ("20", "40")
    assert VIEW.place(shown) == ("windows", "spreadsheet")
    shown["windows"][0]["dialogs"] = [{"title": "Delete?", "buttons": ["No", "Yes"]}]
    assert {"No", "Yes"} < {node.name for node in read_screen("desktop", VIEW.view(shown))}
    assert VIEW.place(shown) == ("windows", "spreadsheet", "dialogs", 0)


@pytest.mark.parametrize(
    ("action", "aim"),
    [
        ("pyautogui.doubleClick({x}, {y})", "note.txt > select ~/Documents/note.txt open ~/Documents/note.txt"),
        ("pyautogui.rightClick({x}, {y})", "note.txt > menu item ~/Documents/note.txt at {x} {y}"),
        ("pyautogui.press('down')", "note.txt|table.ods"),
        ("pyautogui.scroll(-5, {x}, {y})", "folder 0 of 0 by 50"),
    ],
)
def test_what_an_action_is_aimed_at_is_told_as_the_messages_behind_it(action: str, aim: str) -> None:
    shown = VIEW.begin(STATE, 0)
    shown["windows"].append({"id": "files", "folder": "~/Documents"})
    icon = next(node for node in read_screen("desktop", VIEW.view(shown)) if node.name == "note.txt")
    assert icon.box is not None
    x, y = icon.box.centre
    told = VIEW.describe_for_model(shown, action.format(x=x, y=y)).split("\n")
    assert told == ["0 files", '{"id":"files","folder":"~/Documents"}', aim.format(x=x, y=y)]


def test_opening_typing_and_saving_are_short_changes() -> None:
    machine = DesktopMachine.start(STATE, 0)
    answers = []
    for action in (
        f"subprocess.Popen(['libreoffice', '{FOLDER}/table.ods'])",
        "pyautogui.write('Chair')\npyautogui.press('enter')",
        "pyautogui.hotkey('ctrl', 's')",
    ):
        before = machine.visible_state()
        machine.act(action)
        answers.append(write_change(before, machine.visible_state(), VIEW.place(before)))
    assert answers == [
        'clock += 10\n+.. {"id":"spreadsheet","path":"~/Documents/table.ods"}',
        'clock += 10\n.at = "A2"\n.edits/Sheet1/A1 = "Chair"\n.unsaved = true',
        "home/in/Documents/in/table.ods/modified = 2\n"
        'home/in/Documents/in/table.ods/sheets/Sheet1/A1 = "Chair"\n'
        "-home/in/Documents/in/table.ods/text\n-.edits\n-.unsaved",
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"windows": [{"id": "chess"}]},
        {"windows": [{"id": "files"}]},
        {"windows": [{"id": "settings", "panel": "Rockets"}]},
        {"windows": [{"id": "files", "folder": "~"}, {"id": "files", "folder": "~"}]},
        {"windows": [{"id": "editor", "text": {"at": 9, "drop": 0, "lines": []}}]},
        {"popup": {"menu": ["item"], "at": 7}},
        {"home": {"in": 7}},
        {"clock": "noon"},
    ],
)
def test_a_state_that_no_desktop_has_is_an_answer_error(wrong: dict[str, Any]) -> None:
    shown = VIEW.begin({}, 0) | wrong
    with pytest.raises(AnswerError, match="the view cannot print"):
        VIEW.view(shown)
    with pytest.raises(AnswerError):
        VIEW.describe_for_model(shown, "pyautogui.click(5, 5)")
