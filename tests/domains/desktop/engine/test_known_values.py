"""The names that the answers of a desktop give to what code, windows, documents and files hold."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.desktop.engine import DesktopMachine, DesktopView, known_values
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.domains.desktop.engine.test_structured_state import FOLDER, WINDOWS, begun, gesture

VIEW = DesktopView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("desktop")))
NOTE, TABLE, PHOTOS = f"{FOLDER}/note.txt", f"{FOLDER}/table.ods", f"{FOLDER}/Photos"
TEXT = "Milk, butter and bread\nEggs, if they have any\n"
STATE: dict[str, Any] = {"files": {NOTE: TEXT, TABLE: "Item,Price\nLamp,20\nVase,\n"}, "folders": [PHOTOS]}


def answer(machine: DesktopMachine, action: str) -> str:
    """The answer to an action, which is read as the state after it and allowed from its first character on."""
    before = compact(machine.visible_state())
    machine.act(action)
    after = machine.visible_state()
    text = ANSWERS.write(None, before, compact(after), action)
    assert json.loads(ANSWERS.read(None, before, text, action)) == json.loads(json.dumps(after))
    allows = ANSWERS.allows(None, before, action)
    assert [text[:end] for end in range(1, len(text) + 1) if not allows(text[:end])] == []
    assert allows(text, whole=True)
    return text


def last_answer(program: str, actions: Sequence[str], *arguments: str) -> list[str]:
    """The lines of the answer to the last of some actions in the window of a program, without the clock."""
    opened = {"open": [{"program": program, "arguments": [*arguments]}]}
    with closing(DesktopMachine.start({**STATE, **opened}, 0)) as machine:
        for action in actions:
            lines = answer(machine, action.format(**centres(machine))).split("\n")
    return [line for line in lines if not line.startswith("clock")]


def centres(machine: DesktopMachine) -> dict[str, str]:
    """The middle of each element on the screen, by its name without dots."""
    found = [(node.name.replace(".", "_"), node.box) for node in read_screen("desktop", machine.observation)]
    return {name: "{}, {}".format(*box.centre) for name, box in found if box is not None}


@pytest.mark.parametrize(("seed", "program"), [*enumerate(WINDOWS)])
def test_a_true_answer_is_read_as_the_state_after_it_and_allowed_at_every_character(program: str, seed: int) -> None:
    rng = random.Random(seed)
    with closing(begun(program, seed)) as machine:
        for _ in range(12):
            answer(machine, gesture(machine, rng))


CTRL_S = "pyautogui.hotkey('ctrl', 's')"
CTRL_C = "pyautogui.hotkey('ctrl', 'c')"
CTRL_V = "pyautogui.hotkey('ctrl', 'v')"
F2 = "pyautogui.press('f2')"


def entered(text: str) -> str:
    """Code that types a text instead of all that is selected, and presses Enter."""
    return f"pyautogui.hotkey('ctrl', 'a')\npyautogui.write({text!r})\npyautogui.press('enter')"


@pytest.mark.parametrize(
    ("actions", "lines"),
    {
        ("pyautogui.doubleClick({note_txt})",): [
            '+recent "{aim}"',
            '.selected = "{label}"',
            '+.. {"id":"editor","path":"{aim}"}',
        ],
        ("pyautogui.rightClick({note_txt})",): ['popup = {"menu":"{}","at":"{}"}', '.selected = "{label}"'],
        ("pyautogui.click({note_txt})", F2): [
            '.dialogs = [{"title":"Rename “{selected}”","buttons":["Cancel","Rename"],'
            '"entries":{"File name":"{selected}"}}]'
        ],
        ("pyautogui.click({note_txt})", f"{F2}\n{entered('list.txt')}"): [
            '{typed}/text = "{}"',
            "-{selected}",
            '.selected = "{typed}"',
        ],
        ("pyautogui.click({note_txt})", CTRL_C): ['clipboard = {"files":["{folder}/{selected}"]}'],
        ("pyautogui.click({note_txt})", CTRL_C, "pyautogui.doubleClick({Photos})", CTRL_V): [
            "{folder/clipboard}/modified = 2",
            "{folder/clipboard}/text := {clipboard}/text",
            '.selected = "{clipboard/name}"',
        ],
        ("pyautogui.doubleClick({Photos})",): ['.back = ["{folder}"]', '.folder += "{aim-folder}"'],
    }.items(),
)
def test_files_are_named_by_what_says_where_they_are(actions: Sequence[str], lines: list[str]) -> None:
    assert last_answer("files", actions, FOLDER) == lines


@pytest.mark.parametrize(
    ("actions", "lines"),
    {
        ("pyautogui.click({A2})",): ['.at = "{label}"'],
        ("pyautogui.write('Chair')\npyautogui.press('enter')",): [
            '.at = "A2"',
            '.edits/Sheet1/A1 = "{typed}"',
            ".unsaved = true",
        ],
        ("pyautogui.write('Chair')\npyautogui.press('enter')", CTRL_S): [
            "{path}/modified = 1",
            '{path}/sheets = "{}"',
            "-{path}/text",
            "-.edits",
            "-.unsaved",
        ],
        ("pyautogui.click({A2})\npyautogui.hotkey('shift', 'right')", CTRL_C): ['clipboard = "{selection}"'],
        ("pyautogui.click({A1})\npyautogui.hotkey('shift', 'right')", CTRL_C, "pyautogui.click({A3})", CTRL_V): [
            '.edits/Sheet1 = {"A3":"{clipboard/0}","B3":"{clipboard/1}"}',
            ".unsaved = true",
        ],
        ("pyautogui.doubleClick({A2})",): ['.at = "{label}"', '.editing = "edit"', '.typed = "{cell}"'],
        ("CalcTools.set_cell_values(new_values=['Vases'], range='A3')",): [
            '.edits/Sheet1/A3 = "{new_values/0}"',
            ".unsaved = true",
        ],
    }.items(),
)
def test_cells_are_named_by_where_they_come_from(actions: Sequence[str], lines: list[str]) -> None:
    assert last_answer("spreadsheet", actions, TABLE) == lines


@pytest.mark.parametrize(
    ("actions", "lines"),
    {
        ("pyautogui.write('Honey and ')",): [
            '.at = [1,"{column+typed}"]',
            '.text = {"at":0,"drop":1,"lines":["{typed+line}"]}',
        ],
        ("pyautogui.press('end')", "pyautogui.write(' or rice')"): [
            '.at/1 = "{column+typed}"',
            '.text = {"at":0,"drop":1,"lines":["{line+typed}"]}',
        ],
        ("pyautogui.press('right')", "pyautogui.write('ilkshake, m')"): [
            '.at/1 = "{column+typed}"',
            '.text = {"at":0,"drop":1,"lines":["{before+typed+after}"]}',
        ],
        ("pyautogui.write('Honey and ')", CTRL_S): ["{path}/modified = 1", '{path}/text = "{}"', "-.text"],
        ("pyautogui.hotkey('ctrl', 'h')\npyautogui.write('Milk')",): [
            '.find = "{typed}"',
            '.focus = "find"',
            '.replace = ""',
        ],
    }.items(),
)
def test_lines_are_named_by_what_they_are_made_of(actions: Sequence[str], lines: list[str]) -> None:
    assert last_answer("editor", actions, NOTE) == lines


def test_a_column_that_reads_like_full_seconds_has_no_name() -> None:
    assert last_answer("editor", ["pyautogui.write('123456789')"], NOTE)[0] == ".at = [1,10]"


def test_the_clipboard_has_a_name_only_where_something_is_pasted() -> None:
    shown = VIEW.begin({**STATE, "clipboard": "Chair"}, 0)
    assert "clipboard" not in VIEW.named_values(shown, "pyautogui.write('Chair')")[0]
    assert VIEW.named_values(shown, CTRL_V)[0]["clipboard"] == "Chair"


def test_what_a_command_prints_of_a_file_is_named_line_by_line() -> None:
    assert last_answer("terminal", [entered("cat Documents/note.txt")]) == [
        '.lines = ["user@desktop:~$ {typed}","{line/0}","{line/1}"]'
    ]


def test_what_code_reads_is_named_as_a_whole() -> None:
    reads = f"seen = open('{NOTE}').read()\nopen('/home/user/.seen.txt', 'w').write(seen)"
    assert last_answer("settings", [f"{reads}\nsubprocess.Popen(['gedit', '/home/user/.seen.txt'])"]) == [
        "{file/1} := {file}",
        '+.. {"id":"editor","path":"{file/1}"}',
    ]
    lists = f"open('/home/user/.seen.txt', 'w').write('\\n'.join(sorted(os.listdir('{FOLDER}'))))"
    assert last_answer("settings", [lists]) == ['{file}/text = "{names}"']


def test_a_command_that_names_a_file_many_times_reads_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    content = known_values._content

    def noted(desktop: Desktop, path: str) -> str | None:
        read.append(path)
        return content(desktop, path)

    monkeypatch.setattr(known_values, "_content", noted)
    shown = VIEW.begin({**STATE, "open": [{"program": "terminal", "arguments": [FOLDER]}]}, 0)
    VIEW.named_values(shown, f"pyautogui.write({'cat' + 30 * ' note.txt'!r})")
    assert len([path for path in read if path.endswith("note.txt")]) == 1
