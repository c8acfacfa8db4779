"""The structured state of a terminal: it is complete, and the view prints every capture from what is shown of it."""

from __future__ import annotations

import gc
import json
import os
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_restored_goes_on, assert_view_prints, roundtripped

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.terminal.engine import TerminalEngine
from agentworld_gym.domains.terminal.engine.command_line import command_line
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.engine.read_only_programs import printed
from agentworld_gym.domains.terminal.engine.view import TerminalView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.helpers.predicted_states import ABSURD, operations, printed_state

VIEW = TerminalView()
PARSER = ActionParser(load_spec("terminal"))
ANSWERS = StateAnswers(VIEW, PARSER)
STATE = {"files": {"/home/dev/a.txt": "pear\nfig\n", "/home/dev/docs/b.txt": "plum\n", "/home/dev/c.log": ""}}
DISTURBED = {name: 0.3 for name in load_spec("terminal").controls}
FAMILIES = sorted(families("terminal"))
ODD = [
    'cat > typed.txt <<"END"\none\nEND',
    "for i in 1 2; do echo $i >> count.txt; done",
    "printf half",
    "sleep 30; echo late > late.txt",
    "export NAME=x; echo $NAME",
    "tar -cf all.tar *; tar -tf all.tar",
    "ln -s a.txt link; cat link",
    "head -c 100 /dev/zero > zeros.bin",
    "cat",
]
"""Lines that ask for more than a pipeline of plain programs, or hold the screen."""


def keys(command: str) -> str:
    return json.dumps([{"keystrokes": f"{command}\n", "duration": 1.0}])


def change(machine: Any, command: str) -> str:
    """The change that a command makes, after which the view prints the capture."""
    before, action = compact(machine.visible_state()), keys(command)
    machine.act(PARSER.parse(action).parsed)
    after = machine.visible_state()
    assert VIEW.view(roundtripped(after)) == machine.observation
    written = ANSWERS.write(None, before, compact(after), action)
    assert json.loads(ANSWERS.read(None, before, written, action)) == after
    return written


def episode(family: str, number: int) -> tuple[Any, Iterator[Any]]:
    """A terminal in the state of a task, under controls every other time, and commands of its menu without end."""
    task = generate("terminal", family, 1 + number % 3, number)
    rng = random.Random(number)
    commands = [keys(action) for action in task.menu if not finishes(action)] + [*map(keys, ODD)]
    controls = Controls(DISTURBED if number % 2 else {}, number)
    machine = TerminalEngine().start(task.state, number, controls)
    return machine, iter(lambda: PARSER.parse(rng.choice(commands)).parsed, None)


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_a_machine_restored_from_its_state_goes_on_exactly(number: int, family: str) -> None:
    machine, commands = episode(family, number)
    with closing(machine):
        assert_restored_goes_on(machine, lambda machine: next(commands), 8, 12, apart="snapshot")


def test_a_script_that_sleeps_wakes_in_a_restored_machine() -> None:
    machine = TerminalMachine.start(STATE, 0)
    machine.act([{"keystrokes": "sleep 3; cat a.txt\n", "duration": 1.0}])
    twin = TerminalMachine.restore(roundtripped(machine.structured_state()))
    wait = [{"keystrokes": "", "duration": 5.0}]
    assert twin.act(wait) == machine.act(wait)
    assert "pear\nfig\n" in twin.observation


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_the_view_prints_every_capture_from_what_is_shown_and_changes_nothing(number: int, family: str) -> None:
    machine, commands = episode(family, number)
    with closing(machine):
        assert_view_prints(VIEW, machine, lambda machine: next(commands), 14)


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("sort a.txt", 'said = "{}"'),
        ("cat nothing.txt", 'said = "{}"'),
        ("awk '$1 > 3 {print}' a.txt", 'said = "{}"'),
        ("sed 's/new w/x/; 2q' a.txt", 'said = "{}"'),
        ("sort a.txt | head -n 1 > top.txt", '{>}/text = "{}"\nsaid = "{}"'),
        ("cat a.txt >> docs/b.txt", '{>}/text = "{}"\nsaid = "{}"'),
        ("sed -i s/fig/kiwi/ a.txt", '{2}/text = "{}"\nsaid = "{}"'),
        ("cp a.txt docs", '{2/1} = "{*1}"'),
        ("mv a.txt docs/b.txt", '-{1}\n{2}/text = "{}"'),
        ("mv docs papers", '-{1}\n{2} = "{*1}"'),
        ("rm *.txt *.log", "-{1}\n-{2}"),
        ("mkdir -p x/y", "{1}/in = {}"),
        ("chmod u+x a.txt", '{2}/mode = "{}"'),
        ("cd docs", 'cwd = "{}"'),
        ("tar -cf all.tar a.txt docs", '{1}/tar = "{}"'),
        ("rm nothing.txt", "said = \"rm: cannot remove '{1}': No such file or directory\\n\"\nstatus = 1"),
        ("echo hi > no/file", 'said = "bash: {>}: No such file or directory\\n"\nstatus = 1'),
        ("zsh a.txt", 'said = "bash: {0}: command not found\\n"\nstatus = 127'),
        ("cat a.txt | zsh", 'said = "bash: {|1}: command not found\\n"\nstatus = 127'),
        ("cd nowhere", 'said = "bash: cd: {1}: No such file or directory\\n"\nstatus = 1'),
        ("cat > typed.txt <<EOF\none\nEOF", '{>}/text = "{}"\nsaid = "{}"'),
        ("cat a.txt | tee b.txt", '{>}/text = "{}"\nsaid = "{}"'),
        ("NAME=pear", 'env/NAME = "{}"'),
        ("", "same"),
        ("# no command", "same"),
        ("echo )", 'said = "{}"'),
        ("sleep 60", 'screen = "{}"'),
        ("touch a.txt", "same"),
    ],
)
def test_a_change_names_what_a_command_prints_and_what_becomes_of_its_operands(command: str, written: str) -> None:
    assert change(TerminalMachine.start(STATE, 0), command) == written


def test_an_archive_is_told_by_its_members_and_unpacked_by_them() -> None:
    machine = TerminalMachine.start(STATE, 0)
    change(machine, "tar -cf all.tar a.txt docs/b.txt")
    assert change(machine, "tar -tf all.tar") == 'said = "{}"'
    assert change(machine, "tar -xOf all.tar a.txt") == 'said = "{}"'
    change(machine, "rm a.txt")
    change(machine, "mkdir out")
    assert change(machine, "tar -xf all.tar -C out") == '{1.1} = "{*1.1}"\n{1.2} = "{*1.2}"'


def test_what_stands_where_a_command_may_write_is_told_and_what_it_does_is_not() -> None:
    shown = VIEW.begin(STATE, 0)
    assert VIEW.describe_for_model(shown, PARSER.parse(keys("mv a.txt docs")).parsed) == "1 file\n2 folder\n2/1 -"
    assert VIEW.describe_for_model(shown, PARSER.parse(keys("cat a.txt > no/x")).parsed) == "reads\n> --"
    assert VIEW.describe_for_model(shown, PARSER.parse(keys("cat c.log nothing")).parsed) == "reads"
    assert VIEW.describe_for_model(shown, PARSER.parse(keys("rm c.log")).parsed) == "1 empty"
    assert VIEW.describe_for_model(shown, PARSER.parse(keys("zsh; ls")).parsed) == "0 -\n;\nreads"
    assert (
        VIEW.describe_for_model(shown, PARSER.parse(keys("mkdir x && mv a.txt x")).parsed) == "1 -\n;\n1 file\n2 = 1:1"
    )


def test_a_name_is_there_whether_or_not_the_command_fails() -> None:
    shown = VIEW.begin(STATE, 0)
    for command in ("sort a.txt > top.txt", "sort a.txt > no/top.txt"):
        given, _ = VIEW.named_values(shown, PARSER.parse(keys(command)).parsed)
        assert given["text"] == "fig\npear\n"
    answer = '{>}/text = "{}"\nsaid = "{}"'
    after = json.loads(ANSWERS.read(None, compact(shown), answer, keys("sort a.txt > no/top.txt")))
    assert after["files"]["home"]["in"]["dev"]["in"]["no"] == {"in": {"top.txt": {"text": "fig\npear\n"}}}


def test_what_a_program_reads_is_read_off_the_predicted_files() -> None:
    before = compact(VIEW.begin(STATE, 0))
    after = ANSWERS.read(None, before, '.a.txt/text = "lime\\n"', keys("touch a.txt"))
    state = ANSWERS.read(None, after, 'said = "{}"', keys("cat a.txt"))
    assert ANSWERS.printed(state) == "dev@box:~$ cat a.txt\nlime\ndev@box:~$"


@pytest.mark.parametrize(
    "command",
    [
        "rm a.txt",
        "sort -o a.txt a.txt",
        "sort -uo a.txt a.txt",
        "find . -delete",
        "uniq a.txt b.txt",
        "awk -f script a.txt",
        "awk '{print > \"x\"}' a.txt",
        "sed -i.bak s/a/b/ a.txt",
        "sed 's/a/b/w out' a.txt",
        "sed -n 'w out' a.txt",
        "sed -ni p a.txt",
        "sed -ne'w out' a.txt",
        "sed wout a.txt",
        "sed s/a/b/wout a.txt",
        "sed s,a,b,2pw a.txt",
        "sed '/a/e touch out' a.txt",
        "awk --file=script a.txt",
        "uniq - out",
        "find . -{delete,print}",
        "tar -xf a.tar",
        "tar --extract -f a.tar",
        "ls; rm a.txt",
        "ls & rm a.txt",
        "cat $(rm a.txt)",
        "cat `rm a.txt`",
        "cat <(rm a.txt)",
        "cat $(ls; rm a.txt)",
        "for f in *; do rm $f; done",
        "cat a.txt | tee b.txt",
        "yes",
    ],
)
def test_a_line_that_may_write_or_never_ends_is_not_read_by_the_view(command: str) -> None:
    shown = VIEW.begin(STATE, 0)
    line = command_line(command)
    assert line is None or line.target or printed(shown, line) is None
    assert VIEW.state_after_opening(shown, PARSER.parse(keys(command)).parsed) is None


@pytest.mark.parametrize(
    "script", ["s/e/w/; 2q", "s,w,e,g;p", "y/we/ew/", r"/w\/e/Id", r"\,e,!d", "$a we", ":e;te", "1r we"]
)
def test_a_script_of_sed_in_which_letters_are_no_commands_is_read_by_the_view(script: str) -> None:
    line = command_line(f"sed '{script}' a.txt")
    assert line is not None
    assert line.reads


def test_a_text_of_sed_that_looks_like_its_option_is_not_removed() -> None:
    line = command_line("sed 's/ -i /x/' -i a.txt")
    assert line is not None
    assert line.edits is None


@pytest.mark.parametrize(
    "commands",
    [
        ("chmod 0 a.txt", "cat a.txt"),
        ("chmod 700 docs", "ls -ld docs"),
        ("head -c 9 /dev/zero > z.bin", "chmod 600 z.bin", "ls -l"),
        ("cd /etc", "cat hostname"),
        ("ln -s docs link", "cd link", "pwd", "cat b.txt"),
        ("ln -s /home/dev/docs link", "ln -s link other", "cd other/../other", "ls"),
        ("rm -r /tmp", "ls"),
        ("ln -s a.txt link", "chmod 600 link", "ls -l", "rm a.txt", "ls -l"),
    ],
)
def test_an_odd_state_is_complete_and_printed(commands: tuple[str, ...]) -> None:
    machine = TerminalMachine.start(STATE, 0)
    for command in commands:
        change(machine, command)
        assert VIEW.fields(roundtripped(machine.visible_state())) == machine.state()


@pytest.mark.parametrize(
    "files",
    [
        {"x" * 400: {"text": ""}},
        {"x" * 400: {"bytes": "AAAA"}},
        {"home": {"text": ""}, "srv": {"in": {}}},
        {"srv": {"in": {}}, "big": {"tar": [{"id": "x", "text": "1" * 10_000_000}]}},
    ],
    ids=["long name", "long name of bytes", "file at home", "large archive"],
)
def test_a_state_that_no_shell_can_have_leaves_no_file_open(files: dict[str, Any]) -> None:
    shown = {**VIEW.begin(STATE, 0), "cwd": "/", "files": files}
    before = open_files()
    for _ in range(3):
        with pytest.raises(AnswerError):
            VIEW.fields(shown)
    assert open_files() == before


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/dev/fd"))


def test_a_terminal_whose_folder_is_gone_still_has_a_state() -> None:
    machine = TerminalMachine.start(STATE, 0)
    for command in ("cd docs; rm -r ../docs", "ls"):
        machine.act(PARSER.parse(keys(command)).parsed)
        assert machine.visible_state()["cwd"] == "/home/dev/docs"


@given(st.text(alphabet="ab .*~/\\'\"|<>&;$(){}-!#\n\x00\u00e9", max_size=30))
def test_any_line_is_read_or_is_none(text: str) -> None:
    line = command_line(text)
    assert line is None or all(line.programs)


BEFORE = json.dumps(VIEW.begin(STATE, 0))
OPERATIONS = operations(
    json.loads(BEFORE),
    places=["said", "line", "screen", ".a.txt/tar", ".docs/in/b.txt/bytes", ".x/in", "{1}/text", "{>}", "cwd"],
    words=["pear\n", "/home/dev", "..", "~", "600", "{}", "{1}", "{said}"],
    keys=["in", "text", "tar", "link", "bytes", "mode", "id", "a/b", ""],
)
COMMANDS = ["ls -l", "cat a.txt > b.txt", "tar -tf a.txt", "cp a.txt docs", "mv docs x", "cd docs", "chmod 600 a.txt"]


@settings(max_examples=300, deadline=None)
@given(
    answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join),
    commands=st.tuples(st.sampled_from(COMMANDS), st.sampled_from(COMMANDS)),
)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, commands: tuple[str, str]) -> None:
    first, second = map(keys, commands)
    if (state := printed_state(ANSWERS, BEFORE, answer, first)) is None:
        return
    ANSWERS.display(state, PARSER.parse(second).parsed)
    ANSWERS.state_after_opening(state, PARSER.parse(second).parsed)
    ANSWERS.allows(None, state, second)('said = "{', whole=False)
    printed_state(ANSWERS, state, 'said = "{}"', second)


@pytest.mark.parametrize("answer", ABSURD.values(), ids=ABSURD)
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))


@pytest.mark.parametrize("command", ["sort a.txt > b.txt", "mv a.txt docs", "rm nothing.txt", "tar -cf a.tar a.txt"])
def test_a_true_change_is_allowed_at_every_character(command: str) -> None:
    text = change(TerminalMachine.start(STATE, 0), command)
    allows = ANSWERS.allows(None, BEFORE, keys(command))
    assert all(allows(text[:end]) for end in range(1, len(text) + 1))
    assert allows(text, whole=True)
