"""Ways of the tasks of the desktop in files and in the settings."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.desktop.tasks.actions import (
    CLOSE,
    click,
    double,
    enter,
    icon,
    keys,
    press,
    quoted,
    right,
    write,
)
from ways.desktop_screens import DOCUMENTS, TERMINAL, content, names, nodes, printed, run
from ways.playing import Ways, first, given, only_if, read

RENAME = click("menu-item 'Rename…'")


def _renamed(name: str, new: str) -> ActionStream:
    """Give a file another name by its menu."""
    yield right(icon(name))
    yield RENAME
    yield enter(new, clear=True)


# Files


def _named(instruction: str) -> tuple[str, str] | None:
    found = re.search(
        r'Rename the file "(.+?)" in Documents to "(.+?)"'
        r'|document "(.+?)" in the folder that is open shall be called "(.+?)"',
        instruction,
    )
    return None if found is None else (found[1] or found[3], found[2] or found[4])


@given(_named)
def rename_by_the_menu(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Rename by the file's menu."""
    yield from _renamed(*wish)
    yield "finish"


@given(_named)
def rename_in_a_terminal(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Rename by a command."""
    old, new = wish
    yield TERMINAL
    yield run(f"cd Documents && mv {old} {new} && ls")
    yield "finish"


@given(_named)
def rename_in_python(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Rename by Python."""
    old, new = wish
    yield f"import os\nos.rename('{DOCUMENTS}/{old}', '{DOCUMENTS}/{new}')"
    yield "finish"


def _mentioned(instruction: str) -> tuple[str, str, str] | None:
    """Return a word, the new name of the document that holds it, and the folder where it goes."""
    found = re.search(
        r'mentions "(\w+)"\. Rename that one to "(.+?)" and move it into the folder (\w+)\.'
        r'|the word "(\w+)" stands\. It gets the name "(.+?)" and goes into the folder (\w+)\.',
        instruction,
    )
    return None if found is None else tuple(part for part in found.groups() if part)  # type: ignore[return-value]


@given(_mentioned)
def file_in_a_terminal(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Search and move by commands."""
    word, new, folder = wish
    yield TERMINAL
    shown = yield run(f"grep -l {word} Documents/*.txt")
    yield run(f"mv {printed(shown).strip()} Documents/{folder}/{new}")
    yield "finish"


@given(_mentioned)
def file_by_dragging(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Read the documents from the last one on, rename by the menu, and drag the document onto the folder."""
    word, new, folder = wish
    for name in [name for name in reversed(names(screen, "icon")) if name.endswith(".txt")]:
        shown = yield double(icon(name))
        yield CLOSE
        if word in content(shown):
            break
    yield from _renamed(name, new)
    yield f"pyautogui.moveTo(@{{{icon(new)}}})\npyautogui.dragTo(@{{{icon(folder)}}}, button='left')"
    yield "finish"


@given(_mentioned)
def file_first_and_rename_there(wish: tuple[str, str, str], instruction: str, screen: str) -> ActionStream:
    """Move the document first, by cutting and pasting from the menu, and rename it in its folder."""
    word, new, folder = wish
    for name in [name for name in names(screen, "icon") if name.endswith(".txt")]:
        shown = yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/{name}'])\ntime.sleep(2)"
        yield CLOSE
        if word in content(shown):
            break
    yield right(icon(name))
    yield click("menu-item 'Cut'")
    yield double(icon(folder))
    yield keys("ctrl", "v")
    yield from _renamed(name, new)
    yield "finish"


def _ruled(instruction: str) -> str:
    found = re.search(r'document "(.+?)" is finished\. File|do with "(.+?)" what it asks', instruction)
    return "" if found is None else found[1] or found[2]


def _by_rules(rules: str, document: str, text: str) -> tuple[str, str]:
    """Return the folder and the name that rules have for a document."""
    kind = document.partition(".")[0]
    folder = read(rf"A finished {kind} goes into the folder (\w+)\.", rules)
    return folder, f"{read(r'Client: (.+)', text)}-{read(r'Number: (.+)', text)}.txt"


@given(_ruled)
def file_by_rules_in_a_terminal(document: str, instruction: str, screen: str) -> ActionStream:
    """Read, make the folder and move by commands."""
    yield TERMINAL
    rules = printed((yield run("cat Documents/'filing rules.txt'")))
    text = printed((yield run(f"cat Documents/{document}")))
    folder, new = _by_rules(rules, document, text)
    yield run(f"mkdir -p Documents/{folder} && mv Documents/{document} Documents/{folder}/{new}")
    yield "finish"


@given(_ruled)
def file_by_rules_with_menus(document: str, instruction: str, screen: str) -> ActionStream:
    """Read the document first, rename it before the folder is made, and work with menus."""
    text = content((yield double(icon(document))))
    yield CLOSE
    rules = content((yield double(icon("filing rules.txt"))))
    yield CLOSE
    folder, new = _by_rules(rules, document, text)
    yield from _renamed(document, new)
    yield keys("ctrl", "shift", "n")
    yield enter(folder)
    yield right(icon(new))
    yield click("menu-item 'Cut'")
    yield double(icon(folder))
    yield keys("ctrl", "v")
    yield "finish"


@given(_ruled)
def file_by_rules_in_python(document: str, instruction: str, screen: str) -> ActionStream:
    """Read with the editor, and file in Python."""
    rules = content((yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/filing rules.txt'])\ntime.sleep(2)"))
    text = content((yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/{document}'])\ntime.sleep(2)"))
    folder, new = _by_rules(rules, document, text)
    yield (
        f"import os\nos.makedirs('{DOCUMENTS}/{folder}')\n"
        f"os.rename('{DOCUMENTS}/{document}', '{DOCUMENTS}/{folder}/{new}')"
    )
    yield "finish"


# The trash


def _lost(instruction: str) -> tuple[str, str, str] | None:
    """Return the lost document, its new name, and the folder where it goes, which is empty for the home folder."""
    found = re.search(
        r'^"(\S+)" was deleted by mistake\. .+ rename it to "(\S+)"|^Get "(\S+)" back .+ name it "(\S+)"', instruction
    )
    if found is not None:
        return found[1] or found[3], found[2] or found[4], ""
    found = re.search(
        r'^Restore "(\S+)" from the trash .+ rename it to "(\S+)" and move it into the folder (\w+) in Documents'
        r'|^"(\S+)" lies in the trash\. It belongs into the folder (\w+) in Documents, named "(\S+)"\.',
        instruction,
    )
    if found is None:
        return None
    return (found[1], found[2], found[3]) if found[1] else (found[4], found[6], found[5])


def _asked(instruction: str, screen: str) -> ActionStream:
    """Read which document is wanted, and return what `_lost` returns."""
    if (wish := _lost(instruction)) is not None:
        return wish
    request = content((yield double(icon("request.txt"))))
    yield CLOSE
    register = content((yield double(icon("register.txt"))))
    yield CLOSE
    person = first(name for name in re.findall(r"(?m)^(\w+): \S+\.txt$", register) if name in request)
    folder = first(name for name in names(screen, "icon") if name in request and "." not in name and name != "Home")
    return read(rf"^{person}: (\S+)$", register), "", folder


def _new_name(text: str) -> str:
    person, town = text.strip().split(", ")
    return f"{person.lower()}-{town.lower()}.txt"


def _restored(lost: str, new: str) -> ActionStream:
    """Restore a file out of the trash that is open, and return its new name, which the file may tell."""
    yield right(icon(lost))
    yield click("menu-item 'Restore From Trash'")
    yield click("list-item 'Home'")
    if not new:
        new = _new_name(content((yield double(icon(lost)))))
        yield CLOSE
    return new


def _is_lost(instruction: str) -> bool:
    return "trash" in instruction


@only_if(_is_lost)
def restore_by_menus(instruction: str, screen: str) -> ActionStream:
    """Open the trash from the dock, restore by the menu, and rename in the folder at the end."""
    lost, new, folder = yield from _asked(instruction, screen)
    yield click("push-button 'Trash'")
    new = yield from _restored(lost, new)
    if folder:
        yield right(icon(lost))
        yield click("menu-item 'Cut'")
        yield double(icon("Documents"))
        yield double(icon(folder))
        yield keys("ctrl", "v")
    yield from _renamed(lost, new)
    yield "finish"


@only_if(_is_lost)
def restore_and_move_in_a_terminal(instruction: str, screen: str) -> ActionStream:
    """Restore in Files, and do the rest by commands."""
    lost, new, folder = yield from _asked(instruction, screen)
    yield click("list-item 'Trash'")
    yield click(icon(lost))
    yield click("push-button 'Restore'")
    yield TERMINAL
    if not new:
        new = _new_name(printed((yield run(f"cat {lost}"))))
    yield run(f"mv {lost} {f'Documents/{folder}/' if folder else ''}{new}")
    yield "finish"


@only_if(_is_lost)
def restore_and_drag(instruction: str, screen: str) -> ActionStream:
    """Restore, rename at home, and drag onto the folders."""
    lost, new, folder = yield from _asked(instruction, screen)
    yield click("list-item 'Trash'")
    new = yield from _restored(lost, new)
    yield click(icon(lost))
    yield press("f2")
    yield enter(new, clear=True)
    if folder:
        yield f"pyautogui.moveTo(@{{{icon(new)}}})\npyautogui.dragTo(@{{{icon('Documents')}}}, button='left')"
        yield double(icon("Documents"))
        yield f"pyautogui.moveTo(@{{{icon(new)}}})\npyautogui.dragTo(@{{{icon(folder)}}}, button='left')"
    yield "finish"


# The settings


Wish = tuple[str, str, str]
"""A panel, the name of a setting, and `on`, `off`, or what it is set to."""


def _wishes(text: str) -> list[Wish]:
    """Return the changes that a text asks for."""
    wishes: list[Wish] = []
    for found in re.finditer(r'set "(.+?)" to "(.+?)" \((.+?)\)|turn (on|off) "(.+?)" \((.+?)\)', text):
        wishes.append((found[3], found[1], found[2]) if found[1] else (found[6], found[5], found[4]))
    return wishes


def _set(screen: str, wish: Wish) -> ActionStream:
    """Change one setting on the panel that is shown; returns what it was before."""
    _, name, value = wish
    node = next((node for node in nodes(screen) if node.name == name and node.role in ("switch", "combo-box")), None)
    if node is not None and node.role == "switch":
        if (value == "on") != ("checked" in node.description):
            yield click(f"switch {quoted(name)}")
        return ""
    if node is not None:
        yield click(f"combo-box {quoted(name)}")
        yield click(f"menu-item {quoted(value)}")
        return node.text
    yield click(f"radio-button {quoted(value)}")
    return ""


def _is_list(instruction: str) -> bool:
    return instruction.startswith(("In the settings", "Change the settings"))


@only_if(_is_list)
def settings_backwards(instruction: str, screen: str) -> ActionStream:
    """Change the settings from the last one on, each from a panel that is opened by a command."""
    for wish in reversed(_wishes(instruction)):
        shown = yield f"subprocess.Popen(['gnome-control-center', {wish[0]!r}])\ntime.sleep(2)"
        yield from _set(shown, wish)
    yield "finish"


@only_if(_is_list)
def settings_by_the_overview(instruction: str, screen: str) -> ActionStream:
    """Find the settings in the overview, and close them in the end."""
    yield press("win")
    yield write("settings")
    yield press("enter")
    for wish in _wishes(instruction):
        shown = yield click(f"list-item {quoted(wish[0])}")
        yield from _set(shown, wish)
    yield CLOSE
    yield "finish"


@only_if(_is_list)
def settings_by_search(instruction: str, screen: str) -> ActionStream:
    """Look for the panel in the search of the settings, change the setting, and look at it again."""
    yield click("push-button 'Settings'")
    for wish in _wishes(instruction):
        yield click("entry 'Search'")
        yield write(wish[0])
        shown = yield click(f"list-item {quoted(wish[0])}")
        yield from _set(shown, wish)
        yield f"pyautogui.click(@{{entry 'Search'}})\n{keys('ctrl', 'a')}\n{press('delete')}"
    yield "finish"


def _person(instruction: str) -> str:
    found = re.search(r"which settings\. (\w+) uses this computer today", instruction)
    return "" if found is None else found[1]


def _of_person(text: str, person: str) -> list[Wish]:
    return [wish for line in text.splitlines() if line.startswith(f"{person}: ") for wish in _wishes(line)]


def _noted(instruction: str, before: dict[str, str]) -> str:
    found = re.search(r'Then write into "log\.txt" what "(.+?)" was set to', instruction)
    return "" if found is None else before[found[1]]


@given(_person)
def note_read_in_a_terminal(person: str, instruction: str, screen: str) -> ActionStream:
    """Read the note, and write the log, by commands."""
    yield TERMINAL
    text = printed((yield run("cat Documents/wishes.txt")))
    yield click("push-button 'Settings'")
    before = {}
    for wish in _of_person(text, person):
        shown = yield click(f"list-item {quoted(wish[0])}")
        before[wish[1]] = yield from _set(shown, wish)
    if old := _noted(instruction, before):
        yield TERMINAL
        yield run(f"echo '{old}' > Documents/log.txt")
    yield "finish"


@given(_person)
def note_beside_the_settings(person: str, instruction: str, screen: str) -> ActionStream:
    """Leave the note open, and change the settings from the last one on; the log is typed without a line break."""
    text = content((yield double(icon("wishes.txt"))))
    before = {}
    for wish in reversed(_of_person(text, person)):
        shown = yield f"subprocess.Popen(['gnome-control-center', {wish[0]!r}])\ntime.sleep(2)"
        before[wish[1]] = yield from _set(shown, wish)
    if old := _noted(instruction, before):
        yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/log.txt'])\ntime.sleep(2)"
        yield write(old)
        yield click("push-button 'Save'")
    yield "finish"


@given(_person)
def note_and_log_before_the_change(person: str, instruction: str, screen: str) -> ActionStream:
    """Look the old value up and log it first, then change the settings."""
    text = content((yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/wishes.txt'])\ntime.sleep(2)"))
    yield CLOSE
    wishes = _of_person(text, person)
    if found := re.search(r'Then write into "log\.txt" what "(.+?)" was set to', instruction):
        panel = first(wish[0] for wish in wishes if wish[1] == found[1])
        shown = yield f"subprocess.Popen(['gnome-control-center', {panel!r}])\ntime.sleep(2)"
        old = first(node.text for node in nodes(shown) if node.name == found[1] and node.role == "combo-box")
        yield CLOSE
        yield f"open('{DOCUMENTS}/log.txt', 'w').write({old!r} + '\\n')"
    yield press("win")
    yield write("settings")
    yield press("enter")
    for wish in wishes:
        shown = yield click(f"list-item {quoted(wish[0])}")
        yield from _set(shown, wish)
    yield "finish"


WAYS: Ways = {
    "file_document": [
        rename_by_the_menu,
        rename_in_a_terminal,
        rename_in_python,
        file_in_a_terminal,
        file_by_dragging,
        file_first_and_rename_there,
        file_by_rules_in_a_terminal,
        file_by_rules_with_menus,
        file_by_rules_in_python,
    ],
    "restore_document": [restore_by_menus, restore_and_move_in_a_terminal, restore_and_drag],
    "change_settings": [settings_backwards, settings_by_the_overview, settings_by_search],
    "settings_by_note": [note_read_in_a_terminal, note_beside_the_settings, note_and_log_before_the_change],
}
