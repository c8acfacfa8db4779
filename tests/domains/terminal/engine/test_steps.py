"""Answers to lines of several commands and to keys: each command has its change, and the view reads in between."""

from __future__ import annotations

import json
import random
import time
from contextlib import closing
from typing import Any

import pytest

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import split_seed
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.engine.steps import CommandStep, inner_steps
from agentworld_gym.domains.terminal.engine.view import TerminalView
from agentworld_gym.domains.terminal.free_explorer import free_lines
from agentworld_gym.llm.prompting.state_answers import StateAnswers

PARSER = ActionParser(load_spec("terminal"))
ANSWERS = StateAnswers(TerminalView(), PARSER)
STATE = {"files": {"/home/dev/a.txt": "pear\nfig\n", "/home/dev/docs/b.txt": "plum\n", "/home/dev/c.log": ""}}
FAMILIES = sorted(families("terminal"))
BEFORE = json.dumps(TerminalView().begin(STATE, 0))


def keys(command: str) -> str:
    return json.dumps([{"keystrokes": f"{command}\n", "duration": 1.0}])


def change(machine: Any, command: str) -> str:
    """The change that a command makes, after which the view prints the capture."""
    before, action = compact(machine.visible_state()), keys(command)
    machine.act(PARSER.parse(action).parsed)
    after = machine.visible_state()
    assert ANSWERS.printed(compact(after)) == machine.observation
    written = ANSWERS.write(None, before, compact(after), action)
    assert json.loads(ANSWERS.read(None, before, written, action)) == after
    return written


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("mkdir x && mv a.txt x; ls", ["{1}/in = {}", '-{1}\n{2/1} = "{*1}"', 'said = "{}"']),
        ("cd nowhere && ls; pwd", ['said = "bash: cd: {1}: No such file or directory\\n"\nstatus = 1', 'said = "{}"']),
        ("grep kiwi a.txt && rm a.txt", ['said = "{}"']),
        ("[ -f a.txt ] && rm a.txt", ['said = "{}"', "-{1}"]),
        ("for f in *.txt *.log; do cp $f $f.bak; done", ['{2} = "{*1}"', '{2} = "{*1}"']),
        ("if [ -d docs ]; then touch docs/new; fi", ['said = "{}"', '{1}/text = ""']),
        ("for f in *.txt; do wc -l $f; done", ['said = "{}"']),
        ("n=3; touch f$n.txt", ['env/n = "{}"', '{1}/text = ""']),
        ("find . -name '*.txt' | xargs rm", ["-{1}\n-{2}"]),
        ("find . -name '*.txt' -exec chmod 600 {} \\;", ['{2}/mode = "{}"', '{2}/mode = "{}"']),
        ("echo hi > n.txt\ncat n.txt", ['{>}/text = "{}"\nsaid = "{}"', 'said = "{}"']),
        ("alias ll='ls -l'; ll", ['all\nsaid = "bash: ll: command not found\\n"\nstatus = 127']),
    ],
)
def test_the_change_of_a_line_is_that_of_each_of_its_commands(command: str, written: list[str]) -> None:
    text = change(TerminalMachine.start(STATE, 0), command)
    assert text.split("\n;\n") == written
    allows = ANSWERS.allows(None, BEFORE, keys(command))
    assert all(allows(text[:end]) for end in range(1, len(text) + 1))
    assert allows(text, whole=True)


def test_a_later_command_reads_what_an_earlier_one_is_predicted_to_write() -> None:
    action = keys("touch a.txt && cat a.txt")
    state = ANSWERS.read(None, BEFORE, '.a.txt/text = "lime\\n"\n;\nsaid = "{}"', action)
    assert ANSWERS.printed(state).split("\n")[1] == "lime"


def test_a_change_of_a_command_that_is_not_run_cannot_be_read() -> None:
    action = keys("grep kiwi a.txt && rm a.txt")
    with pytest.raises(AnswerError, match="no step"):
        ANSWERS.read(None, BEFORE, 'said = "{}"\n;\n-{1}', action)
    assert not ANSWERS.allows(None, BEFORE, action)('said = "{}"\n;')


@pytest.mark.parametrize(
    "keystrokes",
    [["\n"], ["C-c"], ["ec", "ho hi\n"], ["ls", "C-c"], ["ls", "Enter"], ["echo 'a\n", "b'\n"], ["cat <<E\n", "C-c"]],
    ids=str,
)
def test_what_keys_type_at_the_prompt_is_the_view_s(keystrokes: list[str]) -> None:
    machine = TerminalMachine.start(STATE, 0)
    for one in keystrokes:
        before, action = compact(machine.visible_state()), json.dumps([{"keystrokes": one}])
        machine.act(PARSER.parse(action).parsed)
        written = ANSWERS.write(None, before, compact(machine.visible_state()), action)
        assert written in ("same", 'said = "{}"')
        assert ANSWERS.allows(None, before, action)(written, whole=True)
        assert ANSWERS.printed(ANSWERS.read(None, before, written, action)) == machine.observation


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_the_answers_to_free_form_lines_print_every_observation_again(number: int, family: str) -> None:
    task = generate("terminal", family, 1 + number % 3, split_seed("test", number))
    with closing(TerminalMachine.start(task.state, number)) as machine:
        for action in free_lines(task, random.Random(number), 24):
            before = compact(machine.visible_state())
            machine.act(PARSER.parse(action).parsed)
            written = ANSWERS.write(None, before, compact(machine.visible_state()), action)
            after = ANSWERS.read(None, before, written, action)
            assert json.loads(after) == machine.visible_state(), action
            assert ANSWERS.printed(after) == machine.observation, action


def test_only_no_change_is_allowed_for_an_empty_line() -> None:
    allows = ANSWERS.allows(None, BEFORE, json.dumps([{"keystrokes": "\n"}]))
    assert allows("sa")
    assert not allows("said")
    assert not allows("al")


def test_a_long_line_has_a_short_answer() -> None:
    assert change(TerminalMachine.start(STATE, 0), "echo " + "a" * 1500) == 'said = "{}"'


@pytest.mark.parametrize("left", ["rm a.txt ", "echo 'a\n", "cat\n", "sleep 60\n"])
def test_a_probe_begins_at_a_prompt_of_its_own(left: str) -> None:
    look = [{"keystrokes": "cat a.txt\n"}]
    with closing(TerminalMachine.start(STATE, 0)) as machine, closing(machine.probe()) as probe:
        machine.act([{"keystrokes": left, "duration": 1.0}])
        opened = ANSWERS.state_after_opening(compact(machine.visible_state()), look)
        assert opened is not None
        assert ANSWERS.printed(opened) == probe.act(look)


@pytest.mark.parametrize(
    "keystrokes", [["cat a.txt\nrm a.txt\n"], ["cat a.txt\n", "pwd\n"], ["cat a.txt\npw"]], ids=str
)
def test_of_several_lines_nothing_is_opened(keystrokes: list[str]) -> None:
    assert ANSWERS.state_after_opening(BEFORE, [{"keystrokes": one} for one in keystrokes]) is None


@pytest.mark.parametrize(
    "command",
    [
        "for f in a; do rm x{}y; done",
        "for f in{}a; do rm x; done > out",
        "if a; then rm x{}y; fi",
        "if a; then rm x; else rm y; fi{}; ls",
        "find a{0}-exec{0}rm{0}x",
    ],
)
@pytest.mark.parametrize("blank", [" ", "\n"], ids=["blanks", "lines"])
def test_a_line_with_thousands_of_blanks_is_read_at_once(command: str, blank: str) -> None:
    begun = time.process_time()
    inner_steps(json.loads(BEFORE), CommandStep(command.format(blank * 3000)))
    assert time.process_time() - begun < 2
