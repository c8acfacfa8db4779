"""Whatever an agent calls, the repository answers with a text, soon, and without touching the host."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.domains.swe.engine import SweEngine, SweMachine
from agentworld_gym.domains.swe.engine.tools import TOOLS

LIMIT = 30_000
FILES = {"/repo/a.py": "x = 1\n", "/repo/tests/test_a.py": "from a import x\n\n\ndef test_x():\n    assert x == 1\n"}

COMMANDS = [
    ":(){ :|:& };:",
    "while true; do :; done",
    "yes",
    "cat /dev/zero",
    "x=a; while true; do x=$x$x; done",
    "f() { f; }; f",
    "echo {1..1000000000}",
    "printf '%1000000000d' 1",
    "dd if=/dev/zero of=big bs=1M count=2000",
    "for i in $(seq 2500); do echo > f$i; done",
    "rm -rf / --no-preserve-root; ls; git status; python -c 'print(1)'",
    "rm -rf /repo; pwd; git log",
    "rm -rf .git; git add -A; git commit -m x",
    "echo broken > .git/HEAD; git status",
    "exec bash; exit 300",
    "kill -9 $$; kill -9 1; kill -l",
    "sleep infinity & sleep infinity",
    "(" * 3000 + ")" * 3000,
    "echo " + "$(" * 300 + ")" * 300,
    "echo " + "a" * 500_000,
    "echo \x00a\x00; echo \udcff",
    "git log --format=%H%H%H%x00 -n 99999999999999999999",
    "git log -n -1 HEAD~999999999999; git show HEAD^^^^^^^^:; git diff ...; git log ..",
    "git grep '(a+)+$'; git log --grep='(' ; git log -S ''",
    "git commit -m ''; git commit -F nofile; git commit --author=x -m y --allow-empty",
    "git -C / status; git -C .. log; git --git-dir=/etc status; git -c",
    "git checkout -b '../../x'; git branch -m '' ; git stash pop 'stash@{99999999999}'",
    "git push ; git pull x y z; git clone https://example.com/x; git remote add a b",
    "git diff -U99999999999; git blame -L 5,1 a.py; git clean -fdx; git mv a.py /etc/x",
    "ln -s /etc/passwd l; cat l; git add l; git status",
    "python -c 'x = [0] * 10**12'",
    "python -c 'def f(): f()\nf()'",
    "python -m http.server; python -m nothing; python nofile.py; python -c; python --bogus",
    "python -c 'import os; os.system(\"id\")'; python -c '__import__(\"socket\").socket()'",
    "pytest /etc; pytest --bogus; pytest -k '((('; pytest nofile::x",
    "pip install -r nofile; pip download x; pip uninstall pytest; pip",
    "python - < /dev/urandom | head -c 100",
]


@pytest.fixture(scope="module")
def engine() -> SweEngine:
    """The engine whose Python runs everywhere."""
    return SweEngine("monty")


def begun(engine: SweEngine) -> SweMachine:
    """A small repository."""
    return engine.start({"files": FILES}, 0)


def shell(machine: SweMachine, command: str) -> str:
    """Run a command."""
    return machine.act({"name": "run_shell_command", "arguments": {"command": command}})


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: ascii(command[:32]))
def test_a_hostile_command_gets_an_answer(engine: SweEngine, command: str) -> None:
    machine = begun(engine)
    began = time.monotonic()
    text = shell(machine, command)
    assert text.startswith("Command: ")
    assert len(text) - len(command) < LIMIT
    assert time.monotonic() - began < 60.0
    assert shell(machine.fork(), "echo alive").split("\n")[2] == "Output: alive"
    json.dumps(dict(machine.state())).encode()


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "(" * 500, "a{99999}{99999}", "[", "\\", "*", "(?<=x)y", "\x00"]
)
def test_a_hostile_pattern_gets_an_answer(engine: SweEngine, pattern: str) -> None:
    machine = begun(engine)
    machine.act({"name": "write_file", "arguments": {"file_path": "/repo/a.txt", "content": "a" * 200_000 + "!"}})
    for name, key in (("search_file_content", "pattern"), ("glob", "pattern"), ("search_file_content", "include")):
        assert isinstance(machine.act({"name": name, "arguments": {"pattern": "a", key: pattern}}), str)


def test_a_repository_cannot_grow_without_end(engine: SweEngine) -> None:
    machine = begun(engine)
    for number in range(12):
        text = machine.act(
            {"name": "write_file", "arguments": {"file_path": f"/repo/{number}", "content": "x" * 10**6}}
        )
    assert text.endswith("No space left on device")
    assert "/repo/11" not in machine.state()
    assert "No space left" in shell(machine, "for i in 1 2 3; do cat 0 1 2 > big$i; done")


@pytest.mark.parametrize(
    "command",
    [
        "cat {path}",
        "cat ../../../../../..{path}",
        "python -c 'print(open(\"{path}\").read())'",
        "grep -r . {folder}",
        "git -C {folder} log; git add {path}",
        "cp {path} here; cat here",
        "cat /proc/self/root{path}",
        "source {path}",
    ],
)
def test_host_files_cannot_be_read(engine: SweEngine, command: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("host secret 8472")
    assert "8472" not in shell(begun(engine), command.format(path=secret, folder=tmp_path))


@pytest.mark.parametrize("tool", ["read_file", "list_directory", "search_file_content", "write_file", "edit"])
def test_tools_see_no_host_file(engine: SweEngine, tool: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("host secret 8472")
    arguments = {
        "absolute_path": str(secret),
        "file_path": str(secret),
        "path": str(tmp_path),
        "pattern": "secret",
        "content": "gone",
        "old_string": "host",
        "new_string": "gone",
    }
    assert "8472" not in begun(engine).act({"name": tool, "arguments": arguments})
    assert secret.read_text() == "host secret 8472"


def test_nothing_on_the_host_is_started_or_written(
    engine: SweEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = begun(engine)
    shell(machine, "python -c 'print(1)'")  # the interpreter's workers are running from here on

    def refuse(*arguments: Any, **more: Any) -> None:
        raise AssertionError("the host was touched")

    for owner, name in ((subprocess, "Popen"), (os, "system"), (os, "fork"), (socket, "create_connection")):
        monkeypatch.setattr(owner, name, refuse)
    monkeypatch.chdir(tmp_path)
    for command in ("touch x; mkdir y", "git commit --allow-empty -m x; git push", "python -m pytest -q", "pip list"):
        assert "the host was touched" not in shell(machine, command)
    assert list(tmp_path.iterdir()) == []


WORDS = [
    *(
        "log",
        "diff",
        "add",
        "commit",
        "stash",
        "pop",
        "reset",
        "show",
        "status",
        "checkout",
        "rm",
        "mv",
        "blame",
        "restore",
    ),
    *("branch", "revert", "pull", "push", "tag", "grep", "merge", "switch", "clean", "config", "rev-parse", "ls-files"),
    *(
        "-m",
        "-b",
        "-d",
        "-s",
        "-n",
        "-f",
        "--",
        "--hard",
        "--staged",
        "--stat",
        "--amend",
        "HEAD",
        "HEAD~1",
        "HEAD:",
        "..",
    ),
    *("x", "y/z", "a.py", ".", "'*'", "''", ":", ";", "&&", "|", ">", "<", "$(", ")", "#", '"', "{"),
]
words = st.text(max_size=20) | st.sampled_from(["/repo/a.py", "/repo", "x", "/", "a.py", "/repo/tests/test_a.py"])
values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | words
    | st.lists(words, max_size=3)
    | st.dictionaries(words, words)
)
names = st.sampled_from([*TOOLS]) | words
keys = st.sampled_from(
    ["absolute_path", "file_path", "path", "pattern", "content", "old_string", "new_string", "todos", "command", "glob",
     "offset", "limit", "ignore", "directory", "timeout", "is_background", "replace_all",
     "include", "output_mode", "paths", "edits", "fact", "bash_id", "shell_id", "expected_replacements"]
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(names, st.dictionaries(keys, values, max_size=5)), max_size=4))
def test_any_call_gets_a_text(calls: list[tuple[str, dict[str, Any]]]) -> None:
    machine = SweEngine("monty").start({"files": FILES}, 0)
    for name, arguments in calls:
        assert isinstance(machine.act({"name": name, "arguments": arguments}), str)
        assert isinstance(machine.observation_in("claude-code"), str)
        machine.spans  # noqa: B018
    machine.fork().state()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(WORDS), max_size=9))
def test_any_words_after_git_get_a_text(found: list[str]) -> None:
    machine = SweEngine("monty").start({"files": FILES}, 0)
    machine.act({"name": "write_file", "arguments": {"file_path": "/repo/a.py", "content": "x = 2\n"}})
    text = shell(machine, f"git {' '.join(found)}")
    assert text.startswith("Command: git")
    assert "gave up" not in text


@pytest.mark.parametrize(
    "call",
    [None, 3, "x", [], {}, {"name": 3}, {"name": "glob", "arguments": "["}, {"name": "glob", "arguments": 7}],
)
def test_what_is_no_call_is_told_so(engine: SweEngine, call: Any) -> None:
    assert begun(engine).act(call).startswith(("Error: ", "Tool "))
