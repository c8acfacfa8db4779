"""The repository in the dialects of both scaffolds: the same state, and each tool's answer as either prints it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.actions import canonical, in_claude_code
from agentworld_gym.domains.swe.engine import SweEngine, SweMachine

FILES = {
    "/repo/a.py": "import os\n\n\ndef add(a, b):\n    return a - b\n\n\ndef double(a):\n    return add(a, a)\n",
    "/repo/empty.txt": "",
    "/repo/n/b.md": "add\n",
}
CLAUDE = ActionParser(load_spec("swe:claude-code"))
CLI = ActionParser(load_spec("swe"))


@pytest.fixture
def machine() -> SweMachine:
    """A small repository."""
    return SweEngine("monty").start({"files": FILES}, 0)


def claude(machine: SweMachine, name: str, **arguments: Any) -> str:
    """What a tool of Claude Code answers, called by the text that an agent writes."""
    action = CLAUDE.parse(json.dumps({"name": name, "arguments": json.dumps(arguments)}))
    assert action.error is None, action.error
    assert json.loads(CLAUDE.action_block(action))["name"] == name
    assert json.loads(json.loads(CLAUDE.action_block(action))["arguments"]) == arguments
    machine.act(action.parsed)
    return machine.observation_in("claude-code")


SNIPPET = """\
The file /repo/a.py has been updated. Here's the result of running `cat -n` on a snippet of the edited file:
     1→import os
     2→
     3→
     4→def add(a, b):
     5→    c = a
     6→    return c + b
     7→
     8→
     9→def double(a):
    10→    return add(a, a)"""


def test_claude_code_reads_with_numbers_and_edits_with_a_snippet(machine: SweMachine) -> None:
    assert claude(machine, "Read", file_path="/repo/a.py", offset=4, limit=2) == (
        "     4→def add(a, b):\n     5→    return a - b"
    )
    old, new = "    return a - b\n", "    c = a\n    return c + b\n"
    assert claude(machine, "Edit", file_path="/repo/a.py", old_string=old, new_string=new) == SNIPPET
    assert claude(machine, "Read", file_path="/repo/a.py").split("\n")[5] == "     6→    return c + b"
    assert claude(machine, "Edit", file_path="/repo/a.py", old_string="a", new_string="b", replace_all=True) == (
        "The file /repo/a.py has been updated. All occurrences of 'a' were successfully replaced with 'b'."
    )
    edits = [{"old_string": "import", "new_string": "from"}, {"old_string": "os", "new_string": "x import y"}]
    assert claude(machine, "MultiEdit", file_path="/repo/a.py", edits=edits) == (
        'Applied 2 edits to /repo/a.py:\n1. Replaced "import" with "from"\n2. Replaced "os" with "x import y"'
    )


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("Write", {"file_path": "/repo/c.txt", "content": "x\n"}, "File created successfully at: /repo/c.txt"),
        ("Write", {"file_path": "/repo/a.py", "content": "x\n"}, "The file /repo/a.py has been updated successfully."),
        ("Glob", {"pattern": "**/*.py"}, "/repo/a.py"),
        ("Glob", {"pattern": "*.rs"}, "No files found"),
        ("Grep", {"pattern": "add"}, "Found 2 files\n/repo/a.py\n/repo/n/b.md"),
        ("Grep", {"pattern": "zebra"}, "No files found"),
        (
            "Grep",
            {"pattern": "ADD", "-i": True, "output_mode": "content", "-n": True},
            "/repo/a.py:4:def add(a, b):\n/repo/a.py:9:    return add(a, a)\n/repo/n/b.md:1:add",
        ),
        ("Grep", {"pattern": "add", "glob": "*.md", "output_mode": "content", "-n": False}, "/repo/n/b.md:add"),
        (
            "Grep",
            {"pattern": "add", "output_mode": "count"},
            "/repo/a.py:2\n/repo/n/b.md:1\n\nFound 3 total occurrences across 2 files.",
        ),
        (
            "TodoWrite",
            {"todos": [{"content": "Look", "status": "pending", "activeForm": "Looking"}]},
            "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
            "progress. Please proceed with the current tasks if applicable",
        ),
        ("Bash", {"command": "true"}, ""),
        ("Bash", {"command": "echo a; echo b >&2"}, "a\nb"),
        ("Bash", {"command": "cat no"}, "Exit code 1\ncat: no: No such file or directory"),
        ("Bash", {"command": "foo"}, "Exit code 127\nbash: line 1: foo: command not found"),
        ("Bash", {"command": "sleep 900"}, "Exit code 143\nCommand timed out after 2m 0s"),
        ("Read", {"file_path": "/repo/no.py"}, "<tool_use_error>File does not exist.</tool_use_error>"),
        (
            "Read",
            {"file_path": "/repo/empty.txt"},
            "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>",
        ),
        (
            "Edit",
            {"file_path": "/repo/a.py", "old_string": "zebra", "new_string": ""},
            "<tool_use_error>String to replace not found in file.\nString: zebra</tool_use_error>",
        ),
        (
            "Edit",
            {"file_path": "/repo/a.py", "old_string": "add", "new_string": ""},
            "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false. To replace all "
            "occurrences, set replace_all to true. To replace only one occurrence, please provide more context to "
            "uniquely identify the instance.\nString: add</tool_use_error>",
        ),
    ],
)
def test_what_a_tool_of_claude_code_answers(
    machine: SweMachine, name: str, arguments: dict[str, Any], answer: str
) -> None:
    assert claude(machine, name, **arguments) == answer


def test_a_command_in_the_background_is_read_and_ended_by_its_id(machine: SweMachine) -> None:
    started = claude(machine, "Bash", command="echo here; sleep 900", run_in_background=True)
    assert started == "Command running in background with ID: bash_1"
    shown = claude(machine, "BashOutput", bash_id="bash_1")
    assert shown.startswith("<status>running</status>\n\n<stdout>\nhere\n</stdout>\n\n<timestamp>2026-")
    assert "<stdout>" not in claude(machine, "BashOutput", bash_id="bash_1")
    assert json.loads(claude(machine, "KillShell", shell_id="bash_1"))["shell_id"] == "bash_1"
    assert claude(machine, "BashOutput", bash_id="bash_1").startswith("<status>killed</status>")
    assert not [field for field in machine.state() if field.startswith("processes/")]


def test_both_scaffolds_leave_the_same_state() -> None:
    calls = [
        {"name": "write_file", "arguments": {"file_path": "/repo/c.py", "content": "x = 1\n"}},
        {"name": "edit", "arguments": {"file_path": "/repo/c.py", "old_string": "1", "new_string": "2"}},
        {"name": "run_shell_command", "arguments": {"command": "echo y > z.txt", "directory": "/repo/n"}},
        {"name": "todo_write", "arguments": {"todos": [{"id": "1", "content": "Look", "status": "pending"}]}},
        {"name": "list_directory", "arguments": {"path": "/repo"}},
    ]
    one, two = (SweEngine("monty").start({"files": FILES}, 0) for _ in range(2))
    for call in calls:
        one.act(CLI.parse(json.dumps(call)).parsed)
        written = CLAUDE.action_block(CLAUDE.parse(json.dumps(call)))
        two.act(CLAUDE.parse(written).parsed)
    assert one.state() == two.state()
    assert two.observation_in("claude-code") == "a.py\nc.py\nempty.txt\nn"


@pytest.mark.parametrize(
    ("parser", "name", "key"), [(CLAUDE, "Read", "file_path"), (CLI, "read_file", "absolute_path")]
)
@given(gap=st.sampled_from(["", " ", "\n  ", "\t"]), plain=st.booleans(), path=st.text(max_size=20))
def test_arguments_keep_the_blanks_and_escapes_that_the_agent_wrote(
    parser: ActionParser, name: str, key: str, gap: str, plain: bool, path: str
) -> None:
    given_path = "/repo/" + path.encode("utf-8", "ignore").decode()
    arguments = json.dumps({key: given_path}, ensure_ascii=not plain, separators=("," + gap, ":" + gap))
    action = parser.parse(json.dumps({"name": name, "arguments": arguments}))
    assert json.loads(parser.action_block(action)) == {"name": name, "arguments": arguments}
    other, its_key = (CLI, "absolute_path") if parser is CLAUDE else (CLAUDE, "file_path")
    assert json.loads(json.loads(other.action_block(action))["arguments"]) == {its_key: given_path}


def test_an_unknown_dialect_is_an_error(machine: SweMachine) -> None:
    with pytest.raises(EngineError, match="cli and claude-code"):
        machine.observation_in("cobol")


def test_a_call_that_no_tool_takes_is_refused_in_the_words_of_the_scaffold() -> None:
    for parser, start in ((CLI, "Error: "), (CLAUDE, "<tool_use_error>Error: ")):
        action = parser.parse('{"name": "Open", "arguments": "{}"}')
        assert action.error is not None and action.error.startswith(start)


ARGUMENTS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "Read": {"file_path": st.text(), "offset": st.integers(0), "limit": st.integers(1)},
    "Write": {"file_path": st.text(), "content": st.text()},
    "Edit": {"file_path": st.text(), "old_string": st.text(), "new_string": st.text(), "replace_all": st.booleans()},
    "Bash": {"command": st.text(), "timeout": st.integers(1), "run_in_background": st.booleans()},
    "Glob": {"pattern": st.text(), "path": st.text()},
    "Grep": {
        "pattern": st.text(),
        "path": st.text(),
        "glob": st.text(),
        "output_mode": st.sampled_from(["content", "count", "files_with_matches"]),
        "-n": st.booleans(),
        "-i": st.booleans(),
    },
    "TodoWrite": {"todos": st.lists(st.fixed_dictionaries({"content": st.text(), "status": st.text()}))},
    "BashOutput": {"bash_id": st.text()},
}


@given(
    st.sampled_from(sorted(ARGUMENTS)).flatmap(
        lambda name: st.fixed_dictionaries(
            {"name": st.just(name), "arguments": st.fixed_dictionaries({}, optional=ARGUMENTS[name])}
        )
    )
)
def test_a_call_of_claude_code_comes_back_as_it_was(call: dict[str, Any]) -> None:
    back = in_claude_code(canonical(call))
    assert back == call
    assert list(back["arguments"]) == list(call["arguments"])
