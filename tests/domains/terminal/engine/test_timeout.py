"""`timeout`: the virtual clock decides whether a program ends in time, and nothing of it is done after that.

The lines print, leave and return what they do in a real bash, which is asked where there is one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.terminal.engine import TerminalMachine
from tests.helpers.repositories import shell as command
from tests.helpers.repositories import started as repository

START = "dev@box:~$"
SCRIPT = "echo one\nsleep 0.6\necho two\ntouch late\n"

LINES = (
    "timeout 0.2 bash -c 'sleep 0.6; echo x'; echo $?",
    "timeout 0.2 sh s.sh; echo $?; ls",
    "timeout 5 sh s.sh; echo $?; ls",
    "timeout 0.2 ./run.sh; echo $?; ls",
    "timeout 0.2 yes > /dev/null; echo $?",
    "timeout 0.2 bash -c 'while :; do :; done'; echo $?",
    "timeout 0.2 bash -c 'echo a > f; sleep 0.6; echo b > f; touch g'; cat f; ls",
    "timeout 0.2 bash -c 'echo a | tee f && (sleep 0.6; touch g); touch h'; ls",
    "timeout 0.2 timeout 5 sleep 0.6; echo $?",
    "timeout 0.7 bash -c 'timeout 0.2 sleep 9; touch yes; sleep 9; touch no'; echo $?; ls",
    "timeout 0.2 bash -c 'timeout 9 bash -c \"echo in; sleep 2\"; echo no'; echo $?",
    "for i in 1 2; do timeout 0.1 bash -c 'sleep 0.6; echo no'; done; echo $?",
    "x=$(timeout 0.2 bash -c 'echo in; sleep 0.6; echo out'); echo [$x]",
    "find . -name s.sh -exec timeout 0.2 sh {} ';'",
    "echo s.sh | xargs timeout 0.2 sh; ls",
    "timeout 0.2 bash -c 'sleep 0.6' || echo late",
    "{ timeout -s KILL 0.2 bash -c 'sleep 0.6'; } 2> /dev/null; echo $?",
    "timeout --preserve-status 0.2 sleep 0.6; echo $?",
    "timeout --preserve-status -s INT 0.2 sleep 0.6; echo $?",
    "timeout -v 0.2 sleep 0.6; echo $?",
    "timeout -k 1 0.2 sleep 0.6; echo $?",
    "timeout 5 bash -c 'exit 7'; echo $?",
    "echo hi | timeout 5 cat",
    "timeout 5 yes | head -n 2",
    "X=5 timeout 5 bash -c 'echo $X'; Y=5; timeout 5 bash -c 'echo [$Y]'",
    "timeout 5 echo \"it's\" 'a b'; timeout 5 pwd | tail -c 2 | wc -l",
    "timeout 5 cd /; echo $?",
    "timeout 5 nosuch; echo $?",
    "timeout 5 ./nosuch; echo $?",
    "timeout 5 ./s.sh; echo $?",
    "f() { echo hi; }; timeout 5 f; echo $?",
    "timeout 5; echo $?",
    "timeout 1y ls; echo $?",
    "timeout -k x 1 ls; echo $?",
    "timeout -s FOO 1 ls; echo $?",
)


def started() -> TerminalMachine:
    machine = TerminalMachine.start({"files": {"/home/dev/s.sh": SCRIPT, "/home/dev/run.sh": SCRIPT}}, 0)
    machine.act([{"keystrokes": "chmod +x run.sh; clear\n", "duration": 0.0}])
    return machine


def answer(line: str) -> str:
    """What a line prints in the terminal, in a pipe."""
    screen = started().act([{"keystrokes": f"{{ {line}\n}} 2>&1 | cat\n", "duration": 60.0}])
    return screen.split("| cat\n", 1)[1].removesuffix(START)


@pytest.mark.skipif(shutil.which("timeout") is None or not Path("/bin/bash").exists(), reason="no real bash")
@pytest.mark.parametrize("line", LINES)
def test_a_line_does_what_it_does_in_a_real_bash(line: str, tmp_path: Path) -> None:
    for name in ("s.sh", "run.sh"):
        (tmp_path / name).write_text(SCRIPT)
    (tmp_path / "run.sh").chmod(0o755)
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    ran = subprocess.run(["/bin/bash", "-c", f"{{ {line}\n}} 2>&1"], cwd=tmp_path, env=env, capture_output=True)
    assert answer(line) == ran.stdout.decode()


def test_the_clock_stands_where_the_limit_or_the_program_ended() -> None:
    for line, seconds in {
        "timeout 3 bash -c 'sleep 50; echo no'": "03",
        "timeout 30 bash -c 'sleep 5'": "05",
        "timeout 4 yes > /dev/null": "04",
        "timeout 4 bash -c 'sleep 1; while :; do :; done'": "04",
        "timeout 2 timeout 9 sleep 50": "02",
        "timeout 9 timeout 2 sleep 50": "02",
        "timeout 9 ls": "00",
    }.items():
        machine = started()
        screen = machine.act([{"keystrokes": f"{line}; date +%S\n", "duration": 60.0}])
        assert screen.split("\n")[-2] == seconds, line


def test_a_program_with_a_limit_holds_the_screen_until_then() -> None:
    machine = started()
    line = "timeout 3 bash -c 'echo a; sleep 5; echo b'; echo $?"
    assert machine.act([{"keystrokes": f"{line}\n", "duration": 1.0}]) == f"{START} {line}\na"
    twin = machine.fork()
    assert machine.act([{"keystrokes": "", "duration": 2.5}]) == f"{START} {line}\na\n124\n{START}"
    assert twin.act([{"keystrokes": "C-c"}]) == f"{START} {line}\na\n^C\n{START}"
    endless = "timeout 3 bash -c 'while :; do :; done'; echo $?"
    assert machine.act([{"keystrokes": f"{endless}\n", "duration": 1.0}]) == f"{START} {endless}"
    assert machine.act([{"keystrokes": "", "duration": 2.5}]) == f"{START} {endless}\n124\n{START}"


def test_both_streams_of_a_program_come_in_the_order_in_which_it_wrote_them() -> None:
    line = "timeout 5 bash -c 'echo e >&2; echo o; echo f >&2'"
    assert started().act([{"keystrokes": f"{line}\n"}]) == f"{START} {line}\ne\no\nf\n{START}"


def test_timeouts_in_timeouts_have_a_bound() -> None:
    line = "timeout 9 timeout 8 timeout 7 timeout 6 timeout 5 timeout 4 ls; echo $?"
    assert answer(line) == "timeout: fork system call failed: Resource temporarily unavailable\n125\n"


def test_a_program_with_a_limit_runs_apart() -> None:
    """It would take the process with it that it breaks."""
    machine = TerminalMachine.start({"files": {"/home/dev/r": "timeout 9 ./r\n"}}, 0)
    machine.act([{"keystrokes": "chmod +x r; ./r; timeout 9 ./r\n", "duration": 60.0}])
    assert machine.act([{"keystrokes": "echo on\n"}]).split("\n")[1] == "on"


@pytest.mark.parametrize("line", ["timeout 1 bash -c 'sleep 5; touch no'; echo $?", "timeout 1 yes > no2; echo $?"])
def test_a_limit_holds_in_the_terminal_of_a_desktop(line: str) -> None:
    machine = DesktopMachine.start({"open": [{"program": "terminal"}]}, 0)
    typed = f"{line}\nls ~/no\n"
    shown = machine.act(f"pyautogui.write({typed!r})")
    assert "124" in shown and "ls: cannot access" in shown


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("timeout 1 bash -c 'sleep 5; touch no'", 124),
        ("timeout 1 yes > /dev/null", 124),
        ("timeout 1 bash -c 'while :; do :; done'", 124),
        pytest.param("timeout 1 python -c 'while True: pass'", 124, marks=pytest.mark.slow),  # ten seconds of a core
        ("timeout 1 python", 124),
        ("timeout 1 bash -c 'git add .; sleep 5; git commit -qm no'", 124),
        ("timeout 9 git status --short", 0),
        ("timeout 9 bash -c 'exit 3'", 3),
    ],
)
def test_a_limit_holds_in_a_repository(line: str, code: int) -> None:
    machine = repository()
    assert f"\nExit Code: {code}\n" in machine.act(command(line))
    shown = machine.act(command("ls; git log --oneline"))
    assert "no\n" not in shown.replace("(none)\n", "") and shown.count("Begin") == 1


def test_the_limit_of_the_tool_ends_a_command_before_a_later_one_of_its_own() -> None:
    shown = repository().act(command("timeout 500 sleep 400; echo after"))
    assert "Command timed out after 120000 ms." in shown and "Output: (none)" in shown
