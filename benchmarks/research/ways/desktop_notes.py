"""Ways of the tasks of the desktop in the text editor and in the terminal."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.desktop.tasks.actions import (
    CLOSE,
    SAVE,
    cell,
    click,
    double,
    enter,
    icon,
    keys,
    press,
    right,
    write,
)
from ways.desktop_screens import DOCUMENTS, TERMINAL, content, printed, row_of, run
from ways.playing import Ways, given, only_if, read

CHANGE = r"We do not meet in (\w+) but in (\w+)\."


def _words(instruction: str) -> tuple[str, str] | None:
    """Return the wrong and the right word where the instruction tells them."""
    found = re.search(r"replace (\w+) by (\w+) wherever|says (\w+) where it should say (\w+)\.", instruction)
    return None if found is None else (found[1] or found[3], found[2] or found[4])


def _is_letter(instruction: str) -> bool:
    return _words(instruction) is not None or '"news.txt"' in instruction


def _absent(instruction: str, news: str) -> str:
    return read(r"^(\w+) cannot come\.", news) if "cannot come" in instruction else ""


@only_if(_is_letter)
def retyped(instruction: str, screen: str) -> ActionStream:
    """Select the whole letter and type it anew; the list comes first."""
    words, shown = _words(instruction), screen
    if words is None:
        news = content((yield double(icon("news.txt"))))
        yield CLOSE
        if absent := _absent(instruction, news):
            yield double(icon("absent.txt"))
            yield f"{keys('ctrl', 'end')}\n{write(absent)}"
            yield click("push-button 'Save'")
            yield CLOSE
        words = re.search(CHANGE, news).groups()  # type: ignore[union-attr]
        shown = yield double(icon("invitation.txt"))
    text = content(shown).replace(*words)
    yield f"{keys('ctrl', 'a')}\n{write(text.rstrip())}"
    yield click("push-button 'Save'")
    yield "finish"


@only_if(_is_letter)
def by_commands(instruction: str, screen: str) -> ActionStream:
    """Correct the letter by sed in a terminal, and let the editor read it again where it is open."""
    words = _words(instruction)
    yield TERMINAL
    if words is None:
        news = printed((yield run("cat Documents/news.txt")))
        words = re.search(CHANGE, news).groups()  # type: ignore[union-attr]
        if absent := _absent(instruction, news):
            yield run(f"echo {absent} >> Documents/absent.txt")
    yield run(f"sed -i 's/{words[0]}/{words[1]}/g' Documents/invitation.txt")
    yield "finish"


@only_if(_is_letter)
def one_by_one(instruction: str, screen: str) -> ActionStream:
    """Open the search from the menu and replace one place after the other; save from the menu of the file."""
    words = _words(instruction)
    absent = ""
    if words is None:
        news = content((yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/news.txt'])\ntime.sleep(2)"))
        absent = _absent(instruction, news)
        words = re.search(CHANGE, news).groups()  # type: ignore[union-attr]
        yield f"subprocess.Popen(['gedit', '{DOCUMENTS}/invitation.txt'])\ntime.sleep(2)"
    yield click("push-button 'Open Menu'")
    yield click("menu-item 'Find and Replace…'")
    yield write(words[0])
    yield click("entry 'Replace with'")
    shown = yield write(words[1])
    for _ in range(5):
        if words[0] not in content(shown):
            break
        shown = yield click("push-button 'Replace'")
    yield SAVE
    if absent:
        yield f"open('{DOCUMENTS}/absent.txt', 'a').write({absent + chr(10)!r})"
    yield "finish"


def _wanted(instruction: str) -> tuple[str, str] | None:
    """Return the word of a note and the new name of the note."""
    found = re.search(
        r'mentions "(\w+)"\. Find it .+ rename it to "(.+?)"|holds the word "(\w+)"\?.+the name "(.+?)"', instruction
    )
    return None if found is None else (found[1] or found[3], found[2] or found[4])


@given(_wanted)
def rename_in_the_terminal(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Find and rename in one command line."""
    yield run(f'mv "$(grep -rl {wish[0]} .)" {wish[1]}; ls')
    yield "finish"


@given(_wanted)
def rename_what_grep_shows(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Search with the lines, and rename by the menu of the file."""
    name = read(r"(\S+\.txt):", printed((yield run(f"grep -n {wish[0]} *"))))
    yield CLOSE
    yield right(icon(name))
    yield click("menu-item 'Rename…'")
    yield enter(wish[1], clear=True)
    yield "finish"


@given(_wanted)
def rename_after_reading_all(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Print every note with its name, and rename in Python."""
    shown = printed((yield run("for f in *.txt; do echo $f: $(cat $f); done")))
    name = read(rf"^(\S+): .*\b{wish[0]}\b", shown)
    yield f"os.rename('{DOCUMENTS}/{name}', '{DOCUMENTS}/{wish[1]}')"
    yield "finish"


def _visited(instruction: str) -> str:
    found = re.search(r"how often (\w+) was visited", instruction)
    return "" if found is None else found[1]


@given(_visited)
def count_by_wc(town: str, instruction: str, screen: str) -> ActionStream:
    """Count the lines that grep finds, and enter the number on the input line."""
    count = printed((yield run(f"grep {town} journal.txt | wc -l"))).strip()
    shown = yield f"subprocess.Popen(['libreoffice', '--calc', '{DOCUMENTS}/visits.ods'])\ntime.sleep(3)"
    yield click(cell(f"B{row_of(shown, town)}"))
    yield click("entry 'Input line'")
    yield enter(count)
    yield click("push-button 'Save'")
    yield "finish"


@given(_visited)
def count_by_awk(town: str, instruction: str, screen: str) -> ActionStream:
    """Count with awk, and enter the number with the helper of the spreadsheet."""
    count = printed((yield run(f"awk '$2 == \"{town}\"' journal.txt | wc -l"))).strip()
    yield CLOSE
    shown = yield double(icon("visits.ods"))
    yield f"CalcTools.set_cell_values(new_values=[{count!r}], range='B{row_of(shown, town)}')"
    yield click("menu 'File'")
    yield click("menu-item 'Save'")
    yield "finish"


@given(_visited)
def count_all_towns(town: str, instruction: str, screen: str) -> ActionStream:
    """Count every town, and enter a wrong number first, which is overwritten."""
    shown = printed((yield run("cut -d ' ' -f 2 journal.txt | sort | uniq -c")))
    count = read(rf"(\d+) {town}", shown)
    yield CLOSE
    shown = yield double(icon("visits.ods"))
    where = cell(f"B{row_of(shown, town)}")
    yield click(where)
    yield enter(str(int(count) + 1))
    yield SAVE
    yield click(where)
    yield enter(count)
    yield SAVE
    yield "finish"


def _client(instruction: str) -> tuple[str, str] | None:
    found = re.search(r'about the client (\w+)\. .+ rename the note to "(.+?)"', instruction)
    return None if found is None else (found[1], found[2])


@given(_client)
def sum_and_rename_by_commands(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Find, read and rename in the terminal, and enter the sum last."""
    client, new = wish
    name = printed((yield run(f"grep -l 'Client {client}' *.txt"))).strip()
    number = read(r"Sum (\d+)", printed((yield run(f"grep Sum {name}"))))
    yield run(f"mv {name} {new}")
    yield CLOSE
    shown = yield double(icon("ledger.ods"))
    yield click(cell(f"B{row_of(shown, client)}"))
    yield enter(number)
    yield click("push-button 'Save'")
    yield "finish"


@given(_client)
def sum_from_the_lines_around(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Read the whole note with one command, rename by the menu, and use the helper of the spreadsheet."""
    client, new = wish
    shown = printed((yield run(f"grep -C 3 'Client {client}' *.txt")))
    name, number = read(r"^(\S+\.txt):", shown), read(r"Sum (\d+)", shown)
    yield CLOSE
    yield right(icon(name))
    yield click("menu-item 'Rename…'")
    yield enter(new, clear=True)
    shown = yield double(icon("ledger.ods"))
    yield f"CalcTools.set_cell_values(new_values=[{number!r}], range='B{row_of(shown, client)}')"
    yield SAVE
    yield "finish"


@given(_client)
def sum_beside_the_note(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Open the note that was found in the editor, and rename it by F2."""
    client, new = wish
    name = printed((yield run(f"grep -rl {client} --include='*.txt' ."))).strip().removeprefix("./")
    number = read(r"Sum (\d+)", content((yield run(f"gedit {name} &"))))
    shown = yield f"subprocess.Popen(['localc', '{DOCUMENTS}/ledger.ods'])\ntime.sleep(3)"
    yield click(cell(f"B{row_of(shown, client)}"))
    yield enter(number)
    yield SAVE
    yield f"subprocess.Popen(['nautilus', '{DOCUMENTS}'])\ntime.sleep(2)"
    yield click(icon(name))
    yield press("f2")
    yield enter(new, clear=True)
    yield "finish"


WAYS: Ways = {
    "correct_note": [retyped, by_commands, one_by_one],
    "search_by_terminal": [
        rename_in_the_terminal,
        rename_what_grep_shows,
        rename_after_reading_all,
        count_by_wc,
        count_by_awk,
        count_all_towns,
        sum_and_rename_by_commands,
        sum_from_the_lines_around,
        sum_beside_the_note,
    ],
}
