"""A line that runs one file stays in this process, if the file is harmless and nothing changes it before it runs."""

from __future__ import annotations

import pytest

from agentworld_gym.domains.terminal.engine import TerminalMachine, shell
from agentworld_gym.domains.terminal.engine.parser import parse
from agentworld_gym.domains.terminal.engine.script_safety import NOT_INSTALLED, is_safe_script

FILES = {
    "s.sh": "#!/bin/bash\n# counts\nfor f in *; do wc -c $f; done\necho $1 $X | tr a b\n",
    "conf": "mode=fast\nretry=3\n",
    "r": "./r\n",
    "calls": "bash s.sh\n",
    "py": "#!/usr/bin/env python3\nprint(1)\n",
    "open": "if true; then\n",
    "dynamic": "$1 r\n",
    "functions": "f() { f | f; }; f\n",
}


def started(*lines: str) -> TerminalMachine:
    machine = TerminalMachine.start({"files": {f"/home/dev/{name}": text for name, text in FILES.items()}}, 0)
    for line in ("chmod +x s.sh r calls py", *lines):
        machine.act([{"keystrokes": f"{line}\n"}])
    return machine


def stays(machine: TerminalMachine, line: str) -> bool:
    return is_safe_script(f"{line}\n", parse(f"{line}\n"), scripts=machine._system)


HERE = (
    "./s.sh",
    "./s.sh a b",
    "bash s.sh | wc -l",
    "sh s.sh > out; cat out",
    "chmod u-x s.sh; ./s.sh; ls",
    "source conf; echo $mode $retry",
    ". ./conf && echo $mode",
    "X=a ./s.sh",
    "ls -l && cat s.sh && sh s.sh 2> /dev/null",
    "python3 -c 'print(1)'",
    "git status || echo none",
    "sh nothing; ls",
    "./nothing || echo none",
)


@pytest.mark.parametrize("line", HERE)
def test_a_harmless_file_runs_here_as_it_would_apart(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here, apart = started(), started()
    assert stays(here, line)
    shown = here.act([{"keystrokes": f"{line}\n"}])
    monkeypatch.setattr(shell, "is_safe_script", lambda *_, **__: False)
    assert apart.act([{"keystrokes": f"{line}\n"}]) == shown
    assert apart.state() == here.state()


@pytest.mark.parametrize(
    "line",
    [
        "./r",
        "./calls",
        "./py",
        "sh open",
        "sh dynamic sh",
        "sh functions",
        "cp r nothing; sh nothing",
        "sh .",
        "/bin/bash -c ./r",
        "./../../bin/bash r",
        "echo './r' > s.sh; ./s.sh",
        "echo $(cp r s.sh); ./s.sh",
        "./s.sh $(cp r s.sh)",
        "./s.sh <(cp r s.sh)",
        "cp r s.sh; ./s.sh",
        "mv r s.sh && ./s.sh",
        "sort -o s.sh r; ./s.sh",
        "cat r | tee s.sh | sh s.sh",
        "cd /tmp; sh s.sh",
        "x=r; sh $x",
        "sh s*.sh",
        "sh < r",
        "sh /dev/stdin < r",
        "sh -c ./r",
        "bash -s r",
        "sh s.sh; sh s.sh",
        "sh s.sh & ./r",
        "ls & sh s.sh",
        "for i in 1 2; do sh s.sh > s.sh; done",
        "while sh s.sh; do cp r s.sh; done",
        "f() { sh s.sh; }; f",
        "eval sh s.sh",
        "env sh s.sh",
        "echo s.sh | xargs sh",
        "find . -name s.sh -exec sh {} ';'",
        "echo ./r > ~/python3; python3",
        "sh s.sh; python3",
    ],
)
def test_what_may_run_something_else_goes_apart(line: str) -> None:
    assert not stays(started(), line)


def test_a_file_among_the_programs_is_found_before_one_in_the_folder() -> None:
    machine = started("mkdir bin; echo './r' | tee bin/conf bin/python3 bin/far; chmod +x bin/*", "PATH=bin:$PATH")
    assert not stays(machine, "sh far")
    assert not stays(machine, "source conf")
    assert not stays(machine, "python3 x")
    assert stays(machine, "source ./conf") and stays(machine, "sh conf") and stays(machine, "git status")


def test_a_file_that_was_changed_is_looked_at_again() -> None:
    machine = started()
    assert stays(machine, "./s.sh")
    machine.act([{"keystrokes": "cp r s.sh\n"}])
    assert not stays(machine, "./s.sh")


@pytest.mark.parametrize("name", sorted(NOT_INSTALLED))
def test_a_program_that_is_not_installed_is_not_found(name: str) -> None:
    line = f"{name} -c './r' x; echo $?"
    assert started().act([{"keystrokes": f"{line}\n"}]).split("\n")[1:3] == [f"bash: {name}: command not found", "127"]
