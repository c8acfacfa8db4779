"""The shell of a repository: its envelope, its programs, and git in git's own words."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import ctrl_c
import pytest

from agentworld_gym.base.text.envelope import bounded
from agentworld_gym.domains.swe.engine import SweEngine, SweMachine
from agentworld_gym.domains.swe.engine.episode import BEGIN
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import FileChange, patch
from agentworld_gym.domains.swe.engine.git.history import GitHistory
from agentworld_gym.domains.swe.engine.git.program import run_git
from agentworld_gym.domains.swe.engine.state import GitState

CALC = '''"""Arithmetic."""

import math


def one(x):
    """One."""
    if x:
        return 1
    return 0


def two(x):
    """Two."""
    for i in range(x):
        print(i)
    return 2


def three(x):
    return 3
'''
WORK = {
    "a/calc.py": CALC,
    "README.md": "# Calc\n\nUse it.\n",
    "tests/t.py": "def test():\n    assert 1\n",
    ".gitignore": "*.log\n",
}
GIT = {
    "commits": [
        {"message": "First", "files": {"a/calc.py": "x = 1\n", "README.md": None}},
        {"message": "Second\n\nBody."},
    ]
}
REMOTE = {"remote": {"commits": [{"message": "Theirs", "files": {"new.txt": "new\n"}}]}}

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")


@pytest.fixture(scope="module")
def engine() -> SweEngine:
    """The engine whose Python runs everywhere."""
    return SweEngine("monty")


@pytest.fixture
def machine(engine: SweEngine) -> SweMachine:
    """A repository with two commits."""
    return start(engine, GIT)


def start(engine: SweEngine, git: dict[str, Any] | None) -> SweMachine:
    """The repository with another history."""
    return engine.start({"files": {f"/repo/{path}": text for path, text in WORK.items()}, "git": git}, 0)


def shell(machine: SweMachine, command: str, **more: Any) -> dict[str, str]:
    """The envelope of a command by its fields."""
    text = machine.act({"name": "run_shell_command", "arguments": {"command": command, **more}})
    names = ("Command", "Directory", "Output", "Error", "Exit Code", "Signal", "Background PIDs", "Process Group PGID")
    fields, rest = {}, text
    for name, following in zip(names, [*names[1:], None], strict=True):
        assert rest.startswith(f"{name}: "), text
        cut = rest.rindex(f"\n{following}: ") if following else len(rest)
        fields[name], rest = rest[len(name) + 2 : cut], rest[cut + 1 :]
    return fields


# The envelope


def test_an_envelope_has_every_field(machine: SweMachine) -> None:
    assert shell(machine, "echo out; echo err >&2; exit 3", directory="a") == {
        "Command": "echo out; echo err >&2; exit 3",
        "Directory": "a",
        "Output": "out\nerr",
        "Error": "(none)",
        "Exit Code": "3",
        "Signal": "(none)",
        "Background PIDs": "(none)",
        "Process Group PGID": "53376",
    }


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("true", "(none)", "0"),
        ("foo --bar", "bash: line 1: foo: command not found", "127"),
        ("true\nfoo", "bash: line 2: foo: command not found", "127"),
        ("cat nofile", "cat: nofile: No such file or directory", "1"),
        ("cd nowhere", "bash: line 1: cd: nowhere: No such file or directory", "1"),
        ("echo 'x", "bash: -c: line 1: unexpected EOF while looking for matching `''", "2"),
        ("echo )", "bash: -c: line 1: syntax error near unexpected token `)'\nbash: -c: line 1: `echo )'", "2"),
        ("if true; then echo", "bash: -c: line 2: syntax error: unexpected end of file", "2"),
        ("cd a && pwd; wc -l < calc.py", "/repo/a\n21", "0"),
        ("pwd; echo $X", "/repo", "0"),
        ("ls", "README.md\na\ntests", "0"),
        ("ls -A | head -1; cat .git/HEAD", ".git\nref: refs/heads/main", "0"),
        ("which python git nothing", "/usr/bin/python\n/usr/bin/git", "1"),
        ("python -V; python3 --version", "Python 3.11.9\nPython 3.11.9", "0"),
        ("echo 'print(1 + 1)' | python -", "2", "0"),
        ("python - <<'E'\nprint('here')\nE", "here", "0"),
        ("whoami; echo $HOME", "dev\n/home/dev", "0"),
        ("date -u +%F", "2026-03-02", "0"),
        ("vim README.md", "bash: line 1: vim: command not found", "127"),
        ("kill 99", "bash: line 1: kill: (99) - No such process", "1"),
        ("pip show nothing", "WARNING: Package(s) not found: nothing", "1"),
        ("python -m pip install --break-system-packages pytest | tail -1", None, "0"),
    ],
)
def test_what_a_command_prints(machine: SweMachine, command: str, output: str | None, code: str) -> None:
    fields = shell(machine, command)
    assert fields["Exit Code"] == code
    assert output is None or fields["Output"] == output


def test_files_last_and_everything_else_does_not(machine: SweMachine) -> None:
    shell(machine, "cd a; export X=1; mkdir -p d/e; echo hi > d/f.txt; rm calc.py; touch /tmp/t")
    assert (
        shell(machine, "pwd; echo $X; cat a/d/f.txt; ls a a/d /tmp")["Output"]
        == "/repo\n\nhi\n/tmp:\nt\n\na:\nd\n\na/d:\ne\nf.txt"
    )


def test_bytes_that_are_no_text_survive(machine: SweMachine) -> None:
    shell(machine, r"printf '\xff\xfe\x01' > b.bin")
    assert shell(machine, "od -An -tx1 b.bin")["Output"].split() == ["ff", "fe", "01"]
    assert machine.state()["/repo/b.bin"] == "<3 bytes that are no text>"


@pytest.mark.parametrize(
    "command", ["echo begun; sleep 500; echo no", "echo begun; while true; do :; done", "echo begun; python"]
)
def test_what_does_not_end_is_stopped(machine: SweMachine, command: str) -> None:
    fields = shell(machine, command)
    assert (fields["Output"], fields["Error"]) == ("begun", "Command timed out after 120000 ms.")
    assert (fields["Exit Code"], fields["Signal"]) == ("(none)", "15")


def test_ctrl_c_while_a_shell_is_made_is_not_lost(machine: SweMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    # The sandbox looks twice at every command of ours, and takes what the second look raises for a no.
    looks = count()
    monkeypatch.setattr("inspect.iscoroutinefunction", lambda command: bool(next(looks) == 1 and ctrl_c.pressed()))
    with pytest.raises(KeyboardInterrupt):
        shell(machine, "pwd")


def test_a_timeout_is_in_milliseconds(machine: SweMachine) -> None:
    assert shell(machine, "sleep 4; echo done", timeout=5_000)["Output"] == "done"
    assert shell(machine, "sleep 6; echo done", timeout=5_000)["Error"] == "Command timed out after 5000 ms."


def test_processes_in_the_background_have_numbers_and_can_be_ended(machine: SweMachine) -> None:
    fields = shell(machine, "sleep 1000", is_background=True)
    assert (fields["Output"], fields["Exit Code"]) == ("(none)", "0")
    pid = fields["Background PIDs"]
    assert pid in shell(machine, "ps aux")["Output"]
    assert machine.state()[f"processes/{pid}"] == "sleep 1000"
    shell(machine, f"kill {pid}")
    assert f"processes/{pid}" not in machine.state()
    assert shell(machine, "sleep 9 & echo on")["Background PIDs"] not in ("(none)", pid)


def test_the_distributions_python_is_left_alone(machine: SweMachine) -> None:
    fields = shell(machine, "pip install requests")
    assert fields["Output"].startswith(
        "error: externally-managed-environment\n\n× This environment is externally managed"
    )
    assert fields["Exit Code"] == "1"


@pytest.mark.parametrize("write", ["echo more >> README.md", "echo more > README.md", "sed -i s/Calc/C/ README.md"])
def test_a_read_only_file_is_not_written_by_the_shell(machine: SweMachine, write: str) -> None:
    shell(machine, "chmod -w README.md")
    fields = shell(machine, write)
    assert (fields["Output"], fields["Exit Code"]) == ("bash: line 1: README.md: Permission denied", "1")
    assert machine.state()["/repo/README.md"] == WORK["README.md"]
    assert shell(machine, f"chmod u+w README.md; {write}")["Exit Code"] == "0"
    assert machine.state()["/repo/README.md"] != WORK["README.md"]


@pytest.mark.parametrize(
    "change", ["git checkout HEAD~1 -- a", "mv README.md a/calc.py", "rm a/calc.py; echo > a/calc.py"]
)
def test_a_read_only_file_can_be_replaced(machine: SweMachine, change: str) -> None:
    shell(machine, "chmod -w a/calc.py")
    assert shell(machine, change)["Exit Code"] == "0"
    assert machine.state()["/repo/a/calc.py"] != CALC


def test_a_script_stays_executable(machine: SweMachine) -> None:
    shell(machine, "echo 'echo hi' > run.sh; chmod +x run.sh; echo 'echo there' >> run.sh")
    machine.act({"name": "edit", "arguments": {"file_path": "/repo/run.sh", "old_string": "hi", "new_string": "hello"}})
    assert shell(machine, "./run.sh")["Output"] == "hello\nthere"
    assert machine.state()["mode//repo/run.sh"] == "755"


def test_a_long_output_is_bounded() -> None:
    assert len(bounded("x" * 100_000)) < 21_000


# git


def test_git_is_gone_with_its_folder(machine: SweMachine) -> None:
    fields = shell(machine, "rm -rf .git; git status")
    assert fields["Output"] == "fatal: not a git repository (or any of the parent directories): .git"
    assert fields["Exit Code"] == "128"
    assert machine.state()["git"] is False
    assert "not a git repository" in shell(machine, "git log")["Output"]


def test_without_version_control_git_says_so(engine: SweEngine) -> None:
    assert "not a git repository" in shell(start(engine, None), "git status")["Output"]


def test_work_travels_to_and_from_the_remote(engine: SweEngine) -> None:
    machine = start(engine, {**GIT, **REMOTE})
    assert "Your branch is up to date with 'origin/main'." in shell(machine, "git status")["Output"]
    shell(machine, "echo mine > mine.txt; git add .; git commit -qm Mine")
    assert "! [rejected]" in shell(machine, "git push")["Output"]
    shell(machine, "git reset -q --hard HEAD~1")
    assert "Fast-forward\n new.txt | 1 +" in shell(machine, "git pull")["Output"]
    shell(machine, "echo mine > mine.txt; git add .; git commit -qm Mine")
    assert "ahead of 'origin/main' by 1 commit" in shell(machine, "git status")["Output"]
    assert "main -> main" in shell(machine, "git push")["Output"]
    assert machine.state()["git/remote/main"] == machine.state()["git/head"]


def test_git_changes_what_is_on_disk(machine: SweMachine) -> None:
    shell(machine, "echo x > README.md; mkdir n; echo y > n/y.txt; git stash -u")
    assert "/repo/n/y.txt" not in machine.state()
    shell(machine, "git stash pop")
    assert (machine.state()["/repo/README.md"], machine.state()["/repo/n/y.txt"]) == ("x\n", "y\n")
    shell(machine, "git checkout -- README.md; git clean -fdq")
    assert shell(machine, "git status -s")["Output"] == "(none)"


class Real:
    """The same history in the real git."""

    def __init__(self, folder: Path, history: GitHistory) -> None:
        self.root = folder / "repo"
        self.root.mkdir()
        self.home = folder
        for setting in (
            ["init", "-q", "-b", "main"],
            ["config", "user.name", "Dev"],
            ["config", "user.email", "dev@example.com"],
        ):
            self.run(setting, BEGIN)
        for commit in reversed(list(history.ancestors(history.head.id))):
            for path in self.files():
                self.write(path, None)
            for path, text in commit.tree.items():
                self.write(path, text)
            self.run(["add", "-A"], commit.when)
            self.run(["commit", "-q", "-m", commit.message], commit.when)

    def run(self, argv: Sequence[str], when: int) -> tuple[str, str, int]:
        """Standard output, standard error and exit status."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": f"{when} +0000",
            "GIT_COMMITTER_DATE": f"{when} +0000",
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        done = subprocess.run(["git", *argv], cwd=self.root, env=env, capture_output=True, text=True, check=False)
        out, errors = (text.replace(str(self.root), "/repo") for text in (done.stdout, done.stderr))
        return out, errors, done.returncode

    def files(self) -> dict[str, str]:
        """The working tree."""
        paths = (
            path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.relative_to(self.root).parts
        )
        return {path.relative_to(self.root).as_posix(): path.read_text() for path in paths}

    def write(self, path: str, text: str | None) -> None:
        """Write or delete a file."""
        place = self.root / path
        if text is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)


SESSIONS = {
    "looking": (
        "log|log --oneline|log -p|log --stat|log --oneline --graph|show|show HEAD~1:a/calc.py|show HEAD:a|"
        "status|branch|branch -v|branch -a|rev-parse HEAD|rev-parse --abbrev-ref HEAD|rev-list --count HEAD|"
        "config user.name|remote -v|tag|stash list|ls-files|grep -n return|blame a/calc.py|"
        "blame -L 1,3 a/calc.py|log --format=%h_%an_%ad_%s -1|log -S one --oneline|log --oneline -- README.md|"
        "log README.md|log --grep Sec --oneline|show -s|show --stat HEAD|show --name-only|"
        "log --name-status -1|log --pretty=oneline|log --pretty=format:%s|log --author=Dev --oneline"
    ),
    "changed": (
        "status|status -s|status --porcelain|status -sb|diff|diff --stat|diff --numstat|diff --shortstat|"
        "diff --name-only|diff --name-status|diff -U1|diff HEAD|diff HEAD~1|diff HEAD~1 HEAD --stat|"
        "diff HEAD~1..HEAD|diff -- a|diff tests|diff --quiet|ls-files -m|ls-files -o --exclude-standard|"
        "status a|stash|status|stash list|stash show"
    ),
    "recording": (
        "add a/calc.py|status|status -s|diff --cached|diff|commit -m Third|status|add -A|status|"
        "commit -m Fourth|log -2 --stat|commit --amend -m Again|commit --amend --no-edit|commit -m nothing|"
        "reset --soft HEAD~1|status -s|reset|status -s|checkout README.md|restore a/calc.py|status -s|"
        "reset --hard HEAD|status|rm tests/t.py|status|restore --staged tests/t.py|checkout -- tests/t.py|"
        "mv a/calc.py a/k.py|reset --hard|clean -n|clean -nd|clean -fd|clean"
    ),
    "moving": (
        "checkout -b topic|branch|switch main|commit -am Third|switch topic|log --oneline|checkout main|"
        "checkout HEAD~1|status|checkout main|merge topic|branch -d topic|revert --no-edit HEAD|log --oneline|"
        "show --stat|checkout README.md"
    ),
    "paths of a commit": (
        "checkout HEAD~1 -- a/calc.py|status -s|diff --cached --stat|checkout -q HEAD -- a/calc.py|status -s|"
        "checkout HEAD~1 a/calc.py|status -s|checkout -q HEAD a/calc.py|status -s|checkout HEAD~1 -- nope"
    ),
    "a branch elsewhere": (
        "branch old HEAD~1|status -s|branch|rev-parse old|checkout -b held HEAD~1|branch|reset --hard|"
        "checkout -b older HEAD~1|status -s|log --oneline|switch main|branch old|switch -c old HEAD~1|branch"
    ),
    "wrong": (
        "show HEAD~5|diff nofile|add nope|add|checkout -- nope|commit -m x|restore nope|switch nope|"
        "checkout nope|log nope|show nope|log --bogus|stash pop|stash drop|blame nope|commit|restore|"
        "branch -D zip|push|fetch|pull|reset nope"
    ),
}


@needs_git
@pytest.mark.parametrize("name", SESSIONS)
def test_git_answers_like_the_real_one(name: str, tmp_path: Path) -> None:
    history = GitHistory.of(GitState.model_validate(GIT), WORK)
    real, work = Real(tmp_path, history), dict(WORK)
    if name != "looking":
        changed = {
            "a/calc.py": CALC.replace("return 1", "return 11").replace(
                "def three", "def extra():\n    return 5\n\n\ndef three"
            ),
            "new.py": "x\n",
            "d/e.py": "y\n",
            "x.log": "z\n",
            "README.md": None,
        }
        for path, text in changed.items():
            real.write(path, text)
        work = {path: text for path, text in {**work, **changed}.items() if text is not None}
    for number, line in enumerate(SESSIONS[name].split("|")):
        argv, now = line.split(), BEGIN + 10 * number
        call = run_git(GitCall(history, work, "/repo", "/repo", now), argv)
        assert ("".join(call.out), "".join(call.errors), call.status) == real.run(argv, now), line
        assert work == real.files(), line


@needs_git
def test_patches_are_those_of_git_and_apply(tmp_path: Path) -> None:
    rng = random.Random(7)
    real = Real(tmp_path, GitHistory.of(GitState.model_validate(GIT), {"f": CALC * 3}))
    same = 0
    for _ in range(25):
        lines = (CALC * 3).splitlines(keepends=True)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(lines))
            lines[at : at + rng.randint(0, 4)] = rng.choice(
                [["    x = 1\n"], ["\n", "\n", "def new():\n", "    return 1\n"], [], ["a"]]
            )
        old, new = CALC * 3, "".join(lines)
        if old == new:
            continue
        mine = patch(FileChange("f", old, new))
        (tmp_path / "patch").write_text(mine)
        assert real.run(["apply", "../patch"], BEGIN)[2] == 0
        assert real.files()["f"] == new
        same += real.run(["diff"], BEGIN)[0] == mine
        real.write("f", old)
    assert same >= 20
