"""The structured state of a repository: it is complete, and the view prints every answer from what is shown of it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_restored_goes_on

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.swe.engine import SweMachine
from agentworld_gym.domains.swe.engine.structured_state.read_only import only_reads
from tests.helpers.predicted_states import ABSURD, operations, printed_state
from tests.helpers.repositories import (
    ANSWERS,
    ENGINE,
    SHOP,
    STATE,
    VIEW,
    call,
    change,
    edit,
    roundtripped,
    shell,
    started,
)

DISTURBED = {name: 0.4 for name in load_spec("swe").controls}
FAMILIES = sorted(families("swe"))
COMMANDS = (
    "git add -A; git commit -qm All; git log --format=%s",
    "git stash; git stash list",
    "git stash pop",
    "git checkout -b other; git branch",
    "git commit --amend -m 'Another one' --allow-empty",
    "mkdir -p a/b && touch a/b/c && chmod 400 a/b/c",
    "rm -rf a; mv README.md LIESMICH.md",
    "printf '\\377\\376' > bytes.bin; git add bytes.bin; git commit -m Bytes",
    "sleep 100 & echo $!",
    "ps; date; ls -l",
    "python -m pytest -q -x",
    "python -c 'print(1 / 0)'",
    "git revert --no-edit HEAD",
    "git fetch; git status; git reset --hard HEAD",
)
"""Commands that change what the menus of tasks leave alone."""


def episode(family: str, number: int) -> tuple[SweMachine, Iterator[dict[str, Any]]]:
    """A repository of a task, under controls every other time, and calls without end."""
    task = generate("swe", family, 1 + number % 3, number)
    rng, parser = random.Random(number), ActionParser(load_spec("swe"))
    calls = [parser.parse(action).parsed for action in task.menu if not finishes(action)] + [*map(shell, COMMANDS)]
    controls = Controls(DISTURBED if number % 2 else {}, number)
    return ENGINE.start(task.state, number, controls), iter(lambda: rng.choice(calls), None)


def in_other_dialect(machine: SweMachine) -> str:
    return machine.observation_in("claude-code")


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_a_machine_restored_from_its_state_goes_on_exactly(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        assert_restored_goes_on(machine, lambda machine: next(calls), 12, 12, in_other_dialect)


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_the_view_prints_every_answer_from_what_is_shown_and_changes_nothing(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        for _ in range(16):
            shown = roundtripped(machine.visible_state())
            json.dumps(shown, ensure_ascii=False).encode()
            before = json.dumps(shown)
            assert VIEW.view(shown) == machine.observation
            action = next(calls)
            VIEW.describe_for_model(shown, action)
            VIEW.noted(shown, action)
            assert json.dumps(shown) == before
            change(machine, action)


def test_what_a_tool_shows_of_the_files_is_not_told() -> None:
    machine = started()
    for action in (
        call("read_file", absolute_path="/repo/shop.py", offset=1, limit=2),
        call("read_many_files", paths=["*.md"]),
        call("list_directory", path="/repo"),
        call("glob", pattern="**/*.py"),
        call("search_file_content", pattern="mean"),
        call("list_directory", path="/repo/none"),
        call("read_file", absolute_path="/repo/none.py"),
        call("read_file", absolute_path="shop.py"),
        call("search_file_content", pattern="("),
        call("todo_write", todos=[{"id": "1", "content": "Look", "status": "pending"}]),
        call("save_memory", fact="The tests are slow."),
        shell("cat shop.py | head -n 1; ls none"),
        shell("git log --oneline; git status --short"),
    ):
        assert change(machine, action) == ["same"]


def test_a_change_says_which_files_change_and_names_their_texts() -> None:
    machine = started()
    assert change(machine, edit("sum", "max")) == ['{file} = "{edited}"']
    assert change(machine, edit("prices", "costs", expected_replacements=5)) == ['{file} = "{edited}"']
    assert machine.observation == "Successfully modified file: /repo/shop.py (5 replacements)."
    assert change(machine, edit("", "x = 1\n", "/repo/new.py")) == ['{file} = "{edited}"']
    assert change(machine, call("write_file", file_path="/repo/a/b.txt", content="one\ntwo\n")) == [
        '{file} = "{content}"'
    ]
    assert change(machine, shell("sed -i s/one/three/ a/b.txt")) == ['{to} = "{}"']
    assert change(machine, shell("rm a/b.txt")) == ["-{from}"]
    assert change(machine, shell("git checkout -q -- shop.py")) == ['{word} = "{}"']


def test_a_refusal_is_told_by_its_reason() -> None:
    machine = started()
    assert change(machine, edit("product", "sum")) == ['.refused = "no text"']
    assert change(machine, edit("prices", "costs")) == ['.refused = "many"']
    assert change(machine, edit("prices", "costs", expected_replacements=2)) == ['.refused = "many"']
    assert machine.observation.startswith("Failed to edit, expected 2 occurrences but found 5")
    assert change(machine, edit("a", "b", "shop.py")) == ['.refused = "relative"']
    assert change(machine, call("save_memory", fact=" ")) == [
        '.problem = "fact must be a non-empty string"',
        '.refused = "argument"',
    ]


def test_the_path_of_a_file_is_no_text_that_a_file_gets() -> None:
    write = call("write_file", file_path="/repo/a.txt", content="b\n")
    given, _ = VIEW.named_values(VIEW.begin(STATE, 0), write)
    assert given == {"content": "b\n"}


def test_a_call_is_refused_for_reasons_of_its_tool_alone() -> None:
    shown = VIEW.begin(STATE, 0)
    for action, reason, known in (
        (shell("ls"), "no text", False),
        (edit("a", "b"), "no text", True),
        (call("write_file", file_path="/repo/a", content=""), "many", False),
    ):
        noted = VIEW.noted(shown, action)
        ((*reasons,),) = [list(choice or ()) for choice in VIEW.choices(noted, ("said", "refused")) or ()]
        assert (reason in reasons) is known
        allows = ANSWERS.allows(None, compact(shown), json.dumps(action))
        assert allows(f'.refused = "{reason}"') is known
        if not known:
            with pytest.raises(AnswerError, match="never refused so"):
                VIEW.view({**noted, "said": {**noted["said"], "refused": reason}})
    assert not ANSWERS.allows(None, compact(shown), json.dumps(shell("ls")))('.exit = "1')


def test_the_names_are_there_whether_or_not_the_call_succeeds() -> None:
    shown = VIEW.begin(STATE, 0)
    for old in ("sum", "prices", "product", ""):
        given, _ = VIEW.named_values(shown, edit(old, "max"))
        assert given["edited"] == (SHOP.replace(old, "max") if old else "max")
    assert VIEW.named_values(shown, edit("sum", "max", "/repo/none.py"))[0]["edited"] == "max"


def test_what_stands_at_a_path_is_told_and_what_a_call_does_to_it_is_not() -> None:
    shown = VIEW.begin(STATE, 0)
    assert VIEW.describe_for_model(shown, edit("prices", "costs")) == 'shop.py {"lines":6,"old_string":5}'
    assert VIEW.describe_for_model(shown, edit("x", "y", "/repo/none.py")) == "none.py none"
    assert (
        VIEW.describe_for_model(shown, call("write_file", file_path="/repo/shop.py/a", content="b"))
        == "shop.py/a below a file"
    )
    assert VIEW.describe_for_model(shown, call("list_directory", path="/repo/tests")) == "tests folder"
    assert (
        VIEW.describe_for_model(shown, shell("cat shop.py"))
        == VIEW.describe_for_model(shown, call("sing"))
        == VIEW.describe_for_model(shown, None)
        == ""
    )
    assert VIEW.describe_for_model(shown, shell("git push")) == 'git {"branch":"main","fetched":[0,0],"remote":[1,0]}'
    assert VIEW.describe_for_model(shown, shell("python -m pytest -q tests/test_shop.py::test_mean")).split("\n") == [
        'tests/test_shop.py {"lines":16,"tests":{"test_mean":11}}',
        'git {"branch":"main","fetched":[0,0],"remote":[1,0]}',
    ]


def test_a_path_makes_no_line_of_its_own_in_what_is_told() -> None:
    forged = "/repo/x none\nshop.py folder\u2028" + "y" * 3_000
    (line,) = VIEW.describe_for_model(VIEW.begin(STATE, 0), call("read_file", absolute_path=forged)).splitlines()
    assert len(line) < 250


def test_a_test_run_changes_which_tests_fail_and_the_view_prints_the_report() -> None:
    machine, run = started(), shell("python -m pytest -q")
    assert change(machine, run) == [
        'failures/test_mean_of_nothing = "16\\nshop.py:6\\nZeroDivisionError: division by zero"'
    ]
    assert change(machine, run) == ["same"]
    assert change(machine, shell("python -m pytest -q tests/test_shop.py::test_mean")) == ["same"]
    change(machine, edit("    return total(", "    if not prices:\n        return 0\n    return total("))
    assert change(machine, run) == ["-failures/test_mean_of_nothing"]
    change(machine, edit("sum(prices)", "sum(prices) + 1"))
    assert len(change(machine, run)) == 3
    change(machine, edit("def total", "def totals"))
    told = VIEW.describe_for_model(machine.visible_state(), run).split("\n")[0]
    assert told.endswith('"broken":true}')
    assert change(machine, run) == ['failures/tests~1test_shop.py = "{}"']
    assert "cannot import name 'total' from 'shop'" in machine.observation
    assert change(machine, shell("echo runs; python -m pytest -q")) == ["same"]
    assert change(machine, shell("python --version && python -m pytest -q")) == ["same"]
    assert change(machine, shell("echo a | tee b; python -m pytest -q"))[-1] == '.before = "a\\n"'


def test_a_report_that_the_state_does_not_tell_is_told_in_letters() -> None:
    machine = started()
    assert change(machine, shell("python -m pytest -q none.py"))[-1].startswith('.output = "\\nno tests ran')
    (*_, output) = change(machine, shell("python -m pytest -q || git status --short"))
    assert output.startswith('.output = "..')


def test_a_commit_is_added_and_the_view_prints_its_summary() -> None:
    machine = started()
    change(machine, edit("sum", "max"))
    assert change(machine, shell("git commit -am 'Take the largest'")) == [
        "git/branches/main = 3",
        '+git/commits {"message":"{}","files":"{}"}',
    ]
    assert change(machine, shell("git commit -am 'Once more'")) == [".exit = 1", '.output = "{status}"']
    assert change(machine, shell("git log --oneline"))[0] == "same"


def test_commits_of_the_remote_are_pulled_and_pushed_by_number() -> None:
    machine = started()
    assert change(machine, shell("git pull")) == [
        'files/AUTHORS = "{}"',
        "git/branches/main = 2",
        "git/tracking/main = 2",
        '.output = "{fetched}\\n{forward}"',
    ]
    change(machine, edit("sum", "max"))
    change(machine, shell("git commit -am 'Take the largest'"))
    assert change(machine, shell("git push")) == [
        "git/server/main = 3",
        "git/tracking/main = 3",
        '.output = "{pushed}"',
    ]


def test_what_is_read_after_a_fetch_is_read_off_the_state_that_has_the_commits() -> None:
    machine, command = started(), shell("git fetch -q; git log -1 --format=%s origin/main")
    assert change(machine, command) == ["git/tracking/main = 2", '.before = "{fetched}\\n"']
    assert machine.observation.split("\n")[4] == "Name the authors"
    assert change(machine, command) == ["same"]


def test_what_a_program_prints_is_told_in_letters_and_how_it_ends() -> None:
    machine = started()
    assert change(machine, shell("python -c 'import shop; print(shop.total([4, 5]))'")) == ['.output = "9"']
    assert change(machine, shell("rm none.py")) == [
        ".exit = 1",
        ".output = \"rm: cannot remove '{word}': No such file or directory\"",
    ]
    assert change(machine, shell("python")) == [
        '.error = "Command timed out after 120000 ms."',
        ".exit = null",
        ".signal = 15",
    ]


def test_a_call_that_finds_nothing_to_read_is_refused_by_the_view() -> None:
    read = json.dumps(call("list_directory", path="/repo/none"))
    state = ANSWERS.read(None, compact(VIEW.begin(STATE, 0)), "same", read)
    assert ANSWERS.printed(state) == "Directory not found: /repo/none"


def test_files_are_read_as_they_are_predicted() -> None:
    read = json.dumps(call("read_file", absolute_path="/repo/none.py"))
    state = ANSWERS.read(None, compact(VIEW.begin(STATE, 0)), '{file} = "x = 1\\n"', read)
    assert ANSWERS.printed(state) == "x = 1"
    assert json.loads(state)["files"]["none.py"] == ["x = 1\n", 10]


def test_a_probe_that_only_reads_is_opened() -> None:
    shown = VIEW.begin(STATE, 0)
    for action in (call("read_file", absolute_path="/repo/shop.py"), shell("grep -c def shop.py")):
        opened = VIEW.state_after_opening(shown, action)
        assert opened is not None
        assert VIEW.view(opened) == started().act(action)
    for action in (shell("python shop.py"), shell("git fetch"), edit("sum", "max"), call("sing")):
        assert VIEW.state_after_opening(shown, action) is None


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_a_true_change_is_allowed_at_every_character(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        for _ in range(5):
            action, before = next(calls), compact(machine.visible_state())
            text = "\n".join(change(machine, action))
            allows = ANSWERS.allows(None, before, json.dumps(action))
            ends = range(1, len(text) + 1, 1 + len(text) // 100)
            assert all(allows(text[:end]) for end in ends)
            assert allows(text, whole=True)


MACHINE = started()
MACHINE.act(shell("python -m pytest -q"))
BEFORE = json.dumps(MACHINE.visible_state())
OPERATIONS = operations(
    json.loads(BEFORE),
    places=["said/refused", "said/output", "said/exit", "{file}", "{word}", "files/a/b", "failures/test_mean", "."],
    words=["no file", "many", "", "..", "a/b", "12\nassert False", "(a = 1)\n3\nshop.py:9\nE: x", "main", "git diff"],
    keys=["id", "parents", "files", "message", "tool", "path", "command", "bytes", "a.py", ".."],
)
ACTIONS = st.sampled_from(
    [
        None,
        call("read_file", absolute_path="/repo/shop.py"),
        call("read_file", absolute_path=7),
        call("search_file_content", pattern="(", path="/repo"),
        edit("prices", "costs"),
        edit("", "x"),
        shell("python -m pytest -q"),
        shell("cat shop.py tests/test_shop.py; git diff; git log"),
        shell("git commit -am Fix"),
        shell("git pull"),
        shell("git push"),
        shell("sed -i s/a/b/ shop.py"),
        shell("rm 'a"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join), action=ACTIONS, following=ACTIONS)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, action: Any, following: Any) -> None:
    text = None if action is None else json.dumps(action)
    if (state := printed_state(ANSWERS, BEFORE, answer, text)) is None:
        return
    ANSWERS.display(state, following)
    ANSWERS.state_after_opening(state, following)
    printed_state(ANSWERS, state, "same", None if following is None else json.dumps(following))


@pytest.mark.parametrize("answer", ABSURD.values(), ids=ABSURD)
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))


def test_arguments_that_are_nested_too_deeply_are_not_noted() -> None:
    machine, deep = started(), json.loads("[" * 900 + "]" * 900)
    assert machine.act(call("glob", pattern="*", ignore=deep)).startswith("Found")
    assert machine.visible_state()["said"] == machine.observation


@pytest.mark.parametrize(
    "command",
    [
        'echo "$(rm notes.md)"',
        'echo "`python shop.py`"',
        """echo "it's $(rm notes.md) it's" """,
        "sed -n '1w out' notes.md",
        "sort -uo out notes.md",
        "sort --ou=out notes.md",
        "uniq notes.md out",
        "find . -fls out",
    ],
)
def test_a_command_that_writes_in_an_unusual_way_does_not_only_read(command: str) -> None:
    assert not only_reads(command)
    change(started(), shell(command))


@pytest.mark.parametrize(
    "command", [r"echo '$(ls)'", r'echo "\$(ls) \`ls\`"', r"sed 's/a\/b/w/' notes.md", 'echo "a > b"']
)
def test_quoted_characters_are_no_commands(command: str) -> None:
    assert only_reads(command)


def test_permissions_beyond_the_usual_ones_are_shown() -> None:
    change(started(), shell("chmod 4755 notes.md"))


def test_a_command_in_the_background_is_restored() -> None:
    machine = started()
    machine.act(call("run_shell_command", command="ls", is_background=True))
    assert SweMachine.restore(roundtripped(machine.structured_state())).observation == machine.observation


def test_the_message_of_a_commit_may_have_an_apostrophe() -> None:
    machine = started()
    machine.act(shell("rm notes.md"))
    given, _ = VIEW.named_values(machine.visible_state(), shell("""git commit -am "It's gone" """))
    assert given["message"] == "It's gone"
