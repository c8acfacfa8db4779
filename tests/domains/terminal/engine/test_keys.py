"""The keys of a terminal: their names in tmux, the line that is edited, the history, and Tab."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.domains.terminal.engine import TerminalMachine
from agentworld_gym.domains.terminal.engine.keyboard import InputLine, keys_of
from agentworld_gym.domains.terminal.engine.screen import capture

FILES = {"/home/dev/notes.txt": "a\n", "/home/dev/nota bene.md": "b\n", "/home/dev/data/x.csv": "1\n"}


def pressed(*keys: str) -> str:
    """The line after some keys, each an entry of one batch."""
    machine = TerminalMachine.start({"files": FILES}, 0)
    return machine.act([{"keystrokes": key} for key in keys])


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("C-c", "c-C", "^C", "\x03"), "\x03"),
        (("Enter", "enter", "C-m", "C-j", "\r", "\r\n"), "\n"),
        (("BSpace", "C-h", "C-?", "\x08"), "\x7f"),
        (("Up", "C-p", "\x1b[A", "\x1bOA"), "\x1b[A"),
        (("Home", "C-a", "\x1b[H"), "\x1b[1~"),
        (("Tab", "C-i", "\t"), "\x1b\t"),
        (("Escape", "C-[", "\x1b"), "\x1b"),
    ],
)
def test_a_key_has_several_names(names: tuple[str, ...], key: str) -> None:
    assert [list(keys_of(name)) for name in names] == [[key]] * len(names)


@pytest.mark.parametrize("text", ["M-file.txt", "s-and-more", "C-cc", "Entered", "ls Up", "^^^"])
def test_other_text_is_typed_as_it_stands(text: str) -> None:
    assert list(keys_of(text)) == [text]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("ac", "Left", "b"), "abc"),
        (("bc", "Home", "a", "End", "d"), "abcd"),
        (("abx", "Left", "Left", "C-k", "c"), "ac"),
        (("abc", "C-b", "C-b", "DC", "C-d"), "a"),
        (("ab cd", "Left", "C-w"), "ab d"),
        (("ab cd", "Left", "C-u"), "d"),
        (("abc", "Left", "BSpace", "Right", "d"), "acd"),
        (("ab", "Escape", "F5", "PgUp", "NPage", "IC", "M-b", "S-Up", "c"), "abc"),
        (("ab", "C-l", "c"), "abc"),
        (("a", "Space", "b"), "a b"),
        (("ab", "Right", "Left", "Left", "Left", "c"), "cab"),
    ],
)
def test_the_line_can_be_edited(keys: tuple[str, ...], line: str) -> None:
    assert pressed(*keys) == f"dev@box:~$ {line}"


def test_what_is_edited_is_what_runs_and_the_cursor_stays_between_captures() -> None:
    machine = TerminalMachine.start({"files": FILES}, 0)
    machine.act([{"keystrokes": "echo bc"}, {"keystrokes": "Left"}])
    machine = machine.fork()
    assert machine.act([{"keystrokes": "Left"}, {"keystrokes": "a"}]) == "dev@box:~$ echo abc"
    assert machine.act([{"keystrokes": "Enter"}]) == "dev@box:~$ echo abc\nabc\ndev@box:~$"


def test_an_interrupt_leaves_the_line_whole() -> None:
    assert pressed("abc", "Left", "C-c") == "dev@box:~$ abc^C\ndev@box:~$"


def test_arrows_go_through_the_history() -> None:
    machine = TerminalMachine.start({"files": FILES}, 0)
    machine.act([{"keystrokes": "echo one\necho two\n"}])
    keys = ["dra", "Up", "Up", "Up", "Down", "Down", "Down", "ft"]
    shown = [machine.act([{"keystrokes": key}]).removeprefix("dev@box:~$ ") for key in keys]
    assert shown == ["dra", "echo two", "echo one", "echo one", "echo two", "dra", "dra", "draft"]
    assert machine.act([{"keystrokes": "C-c"}, {"keystrokes": "Up"}, {"keystrokes": "Enter"}]) == (
        "dev@box:~$ draft^C\ndev@box:~$ echo two\ntwo\ndev@box:~$"
    )


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("cat notes\t", "cat notes.txt"),
        ("cat no\t", "cat not"),
        ("cat nota\t", "cat nota\\ bene.md"),
        ("cat nota\\ b\t", "cat nota\\ bene.md"),
        ("cd \t", "cd data/"),
        ("cat data/\t", "cat data/x.csv"),
        ("wc < ~/data/x\t", "wc < ~/data/x.csv"),
        ("cat nothing\t", "cat nothing"),
        ("ls /nowhere/x\t", "ls /nowhere/x"),
        ("ls /home/d\t", "ls /home/dev/"),
    ],
)
def test_tab_completes_a_path(typed: str, line: str) -> None:
    assert pressed(typed) == f"dev@box:~$ {line}"
    assert pressed(typed.rstrip("\t"), "Tab") == f"dev@box:~$ {line}"


def test_a_tab_within_text_is_a_character() -> None:
    machine = TerminalMachine.start({}, 0)
    machine.act([{"keystrokes": "cat > Makefile << 'EOF'\nall:\n\techo x\nEOF\n"}])
    assert machine.files()["/home/dev/Makefile"] == "all:\n\techo x\n"


KEYS = st.lists(
    st.sampled_from(["a", "bc", " ", "Left", "Right", "Home", "End", "BSpace", "DC", "C-k", "C-u", "C-w"]), max_size=12
)


@settings(max_examples=200, deadline=None)
@given(KEYS)
def test_the_screen_shows_the_line_that_runs(keys: list[str]) -> None:
    line, printed = InputLine(), ["$ "]
    for key in (key for name in keys for key in keys_of(name)):
        line.press(key, printed)
    assert capture("".join(printed)) == f"$ {line.typed}".rstrip()
    assert line.before + line.typed[len(line.before) :] == line.typed
