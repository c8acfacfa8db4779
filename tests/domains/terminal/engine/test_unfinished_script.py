"""Programs that read what is typed: what the screen shows, what files hold, and how Ctrl-D and Ctrl-C end them.

The screens are those of a real interactive bash to which the same keys were sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.domains.terminal.engine import TerminalMachine

PROMPT = "dev@box:~$"
ENDS = {"keystrokes": "C-d"}


@pytest.fixture
def machine() -> Iterator[TerminalMachine]:
    with closing(TerminalMachine.start({"files": {"/home/dev/a.txt": "one\n"}}, 0)) as started:
        yield started


def typed(machine: TerminalMachine, *keystrokes: str) -> str:
    return machine.act([{"keystrokes": keys, "duration": 0.1} for keys in keystrokes])


def content(machine: TerminalMachine, name: str) -> str | None:
    return machine.files().get(f"/home/dev/{name}")


def test_cat_shows_each_line_again_until_the_end_of_input(machine: TerminalMachine) -> None:
    assert typed(machine, "cat\n") == f"{PROMPT} cat"
    assert typed(machine, "hello\n") == f"{PROMPT} cat\nhello\nhello"
    assert typed(machine, "C-d") == f"{PROMPT} cat\nhello\nhello\n{PROMPT}"
    assert typed(machine, "echo $?\n") == f"{PROMPT} echo $?\n0\n{PROMPT}"


def test_cat_writes_what_is_typed_into_a_file(machine: TerminalMachine) -> None:
    assert typed(machine, "cat > new.txt\nfirst 'line'\n") == f"{PROMPT} cat > new.txt\nfirst 'line'"
    assert content(machine, "new.txt") == "first 'line'\n"
    assert typed(machine, "$HOME `x` \\\n", "C-d").endswith(f"\n$HOME `x` \\\n{PROMPT}")
    assert content(machine, "new.txt") == "first 'line'\n$HOME `x` \\\n"


def test_cat_appends_what_is_typed(machine: TerminalMachine) -> None:
    typed(machine, "cat >> a.txt\n", "two\n", "three\n", "C-d")
    assert content(machine, "a.txt") == "one\ntwo\nthree\n"


def test_the_end_of_input_behind_text_hands_the_text_over(machine: TerminalMachine) -> None:
    assert typed(machine, "cat > new.txt\n", "no newline", "C-d") == f"{PROMPT} cat > new.txt\nno newline"
    assert content(machine, "new.txt") == "no newline"
    assert typed(machine, "C-d").endswith(PROMPT)
    assert content(machine, "new.txt") == "no newline"


def test_an_interrupt_keeps_the_lines_that_were_written(machine: TerminalMachine) -> None:
    typed(machine, "cat > new.txt\n", "kept\n", "lost")
    assert typed(machine, "C-c") == f"{PROMPT} cat > new.txt\nkept\nlost^C\n{PROMPT}"
    assert content(machine, "new.txt") == "kept\n"
    assert typed(machine, "echo $?\n").splitlines()[1] == "130"


@pytest.mark.parametrize(
    ("line", "lines", "shown"),
    [
        ("sort", ["b", "a"], "b\na\na\nb"),
        ("cat | sort -r", ["a", "b"], "a\nb\nb\na"),
        ("wc -l", ["x", "y", "z"], "x\ny\nz\n3"),
        ("cat -n", ["x"], "x\n     1\tx"),
        ("tee copy", ["x"], "x\nx"),
        ("cat a.txt; cat -", ["x"], "x\none\nx"),
        ("cat && echo done", ["x"], "x\nx\ndone"),
    ],
)
def test_other_readers_and_lists_get_what_is_typed(
    machine: TerminalMachine, line: str, lines: list[str], shown: str
) -> None:
    typed(machine, f"{line}\n", *(f"{text}\n" for text in lines))
    assert typed(machine, "C-d") == f"{PROMPT} {line}\n{shown}\n{PROMPT}"


@pytest.mark.parametrize(
    "line",
    [
        "cat a.txt",
        "cat < a.txt",
        "echo one | cat",
        "cat <<< one",
        "cat *.txt",
        "f() { cat; }; echo one | f",
        "(cat) < a.txt",
    ],
)
def test_a_reader_with_another_input_does_not_wait(machine: TerminalMachine, line: str) -> None:
    assert typed(machine, f"{line}\n") == f"{PROMPT} {line}\none\n{PROMPT}"


def test_time_passes_while_lines_are_typed(machine: TerminalMachine) -> None:
    machine.act([{"keystrokes": "cat > new.txt\n", "duration": 10.0}])
    machine.act([{"keystrokes": "line\n", "duration": 10.0}, ENDS])
    assert typed(machine, "date +%T\n").splitlines()[1] == "09:00:21"


def test_a_probe_sees_the_files_and_none_of_the_waiting(machine: TerminalMachine) -> None:
    typed(machine, "cat > new.txt\n", "line\n")
    with closing(machine.probe()) as probe:
        assert typed(probe, "cat new.txt\n") == f"{PROMPT} cat new.txt\nline\n{PROMPT}"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(exclude_categories=["C"], exclude_characters="\x7f"), max_size=12), max_size=3))
def test_copies_and_restored_machines_go_on_alike(lines: list[str]) -> None:
    with closing(TerminalMachine.start({}, 0)) as first:
        typed(first, "cat > f\n", *(f"{line}\n" for line in lines))
        copies = [first.fork(), TerminalMachine.restore(json.loads(json.dumps(first.structured_state())))]
        seen = typed(first, "last\n", "C-d", "cat f\n")
        for copy in copies:
            with closing(copy):
                assert typed(copy, "last\n", "C-d", "cat f\n") == seen
                assert copy.state() == first.state()
        assert content(first, "f") == "".join(f"{line}\n" for line in [*lines, "last"])
