"""Captures of a terminal in the compact profile: without what was shown already, and back again without loss."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.view import compact
from agentworld_gym.engines.terminal.view import TerminalView
from agentworld_gym.prompting.answers import answer_codec
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.prompting.terminal_shorthand import WHOLE, with_carried, without_carried
from agentworld_gym.recipe.collect.config import CollectConfig
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.screens.terminal import carried, echo_of
from agentworld_gym.sessions.row import Row
from agentworld_gym.tasks import generate

IDLE = "dev@box:~/d$"
WAIT = '[{"keystrokes": "", "duration": 2.0}]'


def keys(*entries: str) -> str:
    return json.dumps([{"keystrokes": entry} for entry in entries])


LINES = st.one_of(
    st.sampled_from(
        ["", " ", ">", IDLE, f"{IDLE} ls", f"text{IDLE}", "ls", "^C", "a.txt", "\\", "[]", WHOLE, "(venv) a@b:/#"]
    ),
    st.text(max_size=6),
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)
ACTIONS = st.one_of(st.none(), LINES, st.lists(LINES, max_size=3).map(lambda some: keys(*some)))


@given(TEXTS, ACTIONS, TEXTS)
@example(IDLE, "clear", IDLE)
@example(IDLE, "seq 99", "\n".join([f"{IDLE} seq 99", *map(str, range(38)), IDLE]))
def test_every_capture_comes_back(before: str, action: str | None, capture: str) -> None:
    assert with_carried(before, action, without_carried(before, action, capture)) == capture
    ended = f"{carried(before)} {capture}"
    assert with_carried(before, action, without_carried(before, action, ended)) == ended
    with_carried(before, action, capture)


@pytest.mark.parametrize(
    ("before", "action", "capture", "answer"),
    [
        (IDLE, "ls", f"{IDLE} ls\na\n{IDLE}", f"ls\na\n{IDLE}"),
        (f"x\n{IDLE}", "\n", f"{IDLE}\n{IDLE}", f"\n{IDLE}"),
        (f"no newline{IDLE}", "ls", f"no newline{IDLE} ls\n{IDLE}", f"ls\n{IDLE}"),
        (IDLE, WAIT, IDLE, ""),
        (IDLE, "clear", IDLE, IDLE),
        (IDLE, keys("C-l"), IDLE, IDLE),
        (IDLE, "seq 3", f"1\n2\n3\n{IDLE}", f"1\n2\n3\n{IDLE}"),
        (IDLE, "[]", "Are you sure?", "Are you sure?"),
        (f"{IDLE} make", WAIT, f"{IDLE} make\ndone\n{IDLE}", f"done\n{IDLE}"),
        (f"{IDLE} make", WAIT, f"{IDLE} make\n{IDLE}", IDLE),
        (f"{IDLE} make", WAIT, f"{IDLE} make", ""),
        (f"{IDLE} make", "ls", f"{IDLE} make\nls", "ls"),
        (f"a\n{IDLE} make\nls", keys("C-c"), f"{IDLE} make\nls\n^C\n{IDLE}", f"^C\n{IDLE}"),
        (f"{IDLE} cat << E\n>", keys("x\nE\n"), f"> x\n> E\nx\n{IDLE}", f"x\n> E\nx\n{IDLE}"),
        ("", "ls", f"ls\n{IDLE}", f"ls\n{IDLE}"),
    ],
)
def test_an_answer_begins_with_what_comes_after_the_last_capture(
    before: str, action: str, capture: str, answer: str
) -> None:
    assert without_carried(before, action, capture) == answer
    assert with_carried(before, action, answer) == capture
    assert answer_codec("terminal", "full", "full").write(None, before, capture, action) == capture


@pytest.mark.parametrize(
    ("action", "echo"),
    [
        ("ls -l ", "ls -l"),
        (WAIT, ""),
        (keys("ls", "\n"), None),
        (keys("a b", " c\n"), "a b c"),
        ("[", None),
        ("[]", None),
    ],
)
def test_the_echo_is_told_by_the_action_where_no_key_edits_it(action: str, echo: str | None) -> None:
    assert echo_of(action) == echo


def recorded(controls_share: float) -> list[Row]:
    """Sessions of all policies, under controls or none."""
    config = CollectConfig(profile="compact", controls_share=controls_share)
    recorder = Recorder([load_spec("terminal")], config, seed=3)
    return [row for number in range(30) if (row := recorder.row(number)) is not None]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_recorded_answers_hold_no_prompt_line_and_come_back(share: float) -> None:
    rows = recorded(share)
    assert len({row.policy for row in rows}) >= 4
    codec = answer_codec("terminal", "compact", "full")
    for row in rows:
        before = row.first_observation
        for action, shown in zip(row.actions, row.observations, strict=True):
            answer = codec.write(None, before, shown, action)
            assert codec.read(None, before, answer, action) == shown
            assert not answer.startswith(WHOLE)
            if shown.startswith(f"{carried(before)} "):
                assert answer.split("\n")[0] == echo_of(action)
            before = shown


def turn_of(line: str) -> str:
    """The turn of a command in the state form."""
    spec, view = load_spec("terminal"), TerminalView()
    screen = compact(view.begin(generate("terminal", "create_files", 1, 0).state, 0))
    task = generate("terminal", "create_files", 1, 0)
    action = ActionParser(spec).parse(line)
    assert Prompts(spec, profile="compact").turn(task, 2, action, "dev@box:~$", "") == line
    return Prompts(spec, profile="compact", form="state", view=view).turn(task, 2, action, screen, screen)


@pytest.mark.parametrize(
    ("line", "shown"), [("ls", "reads\nls"), ("echo a > b.txt", "reads\n> -\necho a > b.txt"), ("cd x", "1 -\ncd x")]
)
def test_a_command_of_one_line_stands_below_its_outline_as_it_is(line: str, shown: str) -> None:
    assert turn_of(line) == shown


@pytest.mark.parametrize(
    "line", ["reads\nls", "cat > f <<'E'\nreads\n> -\n\tE\nE", "case x in\nreads\n;\nls", "ls\n\nls"]
)
def test_no_further_line_of_a_command_looks_like_one_of_the_outline(line: str) -> None:
    outline, first, rest = turn_of(line).partition(line.split("\n")[0] + "\n\t")
    assert first + rest == line.replace("\n", "\n\t")
    assert not any(told.startswith("\t") for told in outline.splitlines())
