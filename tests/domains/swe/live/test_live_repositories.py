"""A repository of one's own: tools on real files in both scaffolds, commands, rows that are graded by named tests."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_shells import needs_sandbox
from worlds import make

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import EngineError, Inspection
from agentworld_gym.domains.swe.live import RepositoryEngine, open_live
from agentworld_gym.kit.live import LiveMachine, LiveSource

SWE = "AgentWorld/SWE-v0"
ROOT = "/home/user/sums"
TESTS = "python3 run_tests.py"
RUN_TESTS = """\
import sums

for name, passes in (("test_add", sums.add(1, 2) == 3), ("test_half", sums.half(4) == 2)):
    print(f"{name} (sums)", "...", "ok" if passes else "FAIL")
"""


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_sandbox()


def git(folder: Path, *words: str) -> str:
    line = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-C", str(folder), *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose second commit repairs the first one, and a row of it."""
    place = tmp_path_factory.mktemp("repository") / "sums"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "sums.py").write_text("def add(a, b):\n    return a - b\n\n\ndef half(a):\n    return a / 2\n")
    (place / ".gitignore").write_text("*.log\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "Broken")
    base = git(place, "rev-parse", "HEAD").strip()
    (place / "sums.py").write_text("def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n")
    patch = git(place, "diff")
    git(place, "commit", "-qam", "Repaired")
    (place / "run_tests.py").write_text(RUN_TESTS)
    git(place, "add", "-AN")
    row = {
        "instance_id": "sums-1",
        "problem_statement": "add subtracts.",
        "base_commit": base,
        "patch": patch,
        "test_patch": git(place, "diff"),
        "FAIL_TO_PASS": json.dumps(["test_add (sums)"]),
        "PASS_TO_PASS": ["test_half (sums)"],
        "repo": "ada/sums",
    }
    git(place, "reset", "-q", "--hard")
    (place / "run_tests.py").unlink(missing_ok=True)
    (place.parent / "rows.jsonl").write_text(json.dumps(row) + "\n")
    return place


@pytest.fixture(scope="module")
def engine(sums: Path) -> Iterator[RepositoryEngine]:
    engine = opened(repository=str(sums), commit="HEAD~1", tests=TESTS, ahead=0)
    yield engine
    engine.close()


@pytest.fixture
def machine(engine: RepositoryEngine) -> Iterator[LiveMachine]:
    machine = engine.start({}, 0)
    yield machine
    machine.close()


def opened(**keys: Any) -> RepositoryEngine:
    return open_live(LiveSource.of(keys))


def called(machine: LiveMachine, tool: str, **arguments: Any) -> str:
    return machine.act({"name": tool, "arguments": arguments})


def command(machine: LiveMachine, line: str, **arguments: Any) -> str:
    return called(machine, "run_shell_command", command=line, **arguments)


def test_tools_and_commands_see_the_same_files(machine: LiveMachine) -> None:
    assert machine.observation.split("\n")[0] == f"Working directory: {ROOT}"
    assert called(machine, "read_file", absolute_path=f"{ROOT}/sums.py", offset=1, limit=1).endswith("    return a - b")
    edited = called(machine, "edit", file_path=f"{ROOT}/sums.py", old_string="a - b", new_string="a + b")
    assert edited == f"Successfully modified file: {ROOT}/sums.py (1 replacements)."
    assert "Output: 3\n" in command(machine, "python3 -c 'import sums; print(sums.add(1, 2))'")
    called(machine, "write_file", file_path=f"{ROOT}/new/b.txt", content="b\n")
    assert "?? new/" in command(machine, "git status --short")
    command(machine, "echo made > new/c.txt; cd new; pwd; false")
    assert f"{ROOT}/new/c.txt" in called(machine, "glob", pattern="**/*.txt")
    assert "L1: made" in called(machine, "search_file_content", pattern="ma.e")
    assert f"{ROOT}/new/c.txt" in machine.state() and not [key for key in machine.state() if "/.git/" in key]


def test_both_scaffolds_print_the_same_answer(sums: Path) -> None:
    env = make(SWE, world="live", live={"repository": str(sums), "ahead": 0}, dialect="claude-code")
    env.reset(seed=0)

    def step(tool: str, **arguments: Any) -> str:
        return str(env.step(json.dumps({"name": tool, "arguments": json.dumps(arguments)}))[0])

    assert step("Read", file_path=f"{ROOT}/sums.py", limit=1) == "     1→def add(a, b):"
    assert step("Bash", command="echo out; exit 3") == "Exit code 3\nout"
    assert step("Bash", command="echo 1; sleep 100", run_in_background=True).endswith("bash_1")
    assert "<status>running</status>" in step("BashOutput", bash_id="bash_1")
    assert "Successfully killed" in step("KillShell", shell_id="bash_1")
    env.close()


def test_a_long_output_of_a_background_shell_is_told_once_whatever_is_left_out_of_it(machine: LiveMachine) -> None:
    line = "seq 1 30000; echo half; read -r x <gate; printf 'caf\\351 \\342\\202\\254 end\\n'"
    command(machine, "mkfifo gate")
    command(machine, line, is_background=True)
    command(machine, "until grep -q half /dev/shm/background/bash_1; do sleep 0.02; done")
    first = called(machine, "BashOutput", bash_id="bash_1")
    assert "are left out" in first and "half" in first
    command(machine, "echo go >gate; sleep 0.1")
    later = called(machine, "BashOutput", bash_id="bash_1")
    assert "€ end" in later and "half" not in later and "29999" not in later
    assert "end" not in called(machine, "BashOutput", bash_id="bash_1")


def test_a_link_out_of_the_sandbox_leads_nowhere(machine: LiveMachine, sums: Path) -> None:
    command(machine, f"ln -s {sums}/sums.py out; ln -s / root; ln -s loop loop; ln -s {ROOT}/sums.py in; mkfifo pipe")
    for name in ("out", f"root{sums}/sums.py", "loop", "pipe", "root/proc/1/root/etc/shadow"):
        assert "File not found" in called(machine, "read_file", absolute_path=f"{ROOT}/{name}")
    assert "def add" in called(machine, "read_file", absolute_path=f"{ROOT}/in")
    called(machine, "write_file", file_path=f"{ROOT}/root/tmp/here.txt", content="inside\n")
    assert "Output: inside\n" in command(machine, "cat /tmp/here.txt")


def test_a_command_that_takes_too_long_is_stopped(machine: LiveMachine) -> None:
    shown = command(machine, "echo begun; sleep 100", timeout=300)
    assert "Output: begun\nError: Command timed out after 300 ms." in shown


def test_a_clone_holds_no_later_commits_and_the_original_is_not_touched(machine: LiveMachine, sums: Path) -> None:
    assert "Repaired" not in command(machine, "git log --all --oneline; git fsck --lost-found; git stash list")
    command(machine, "git commit --allow-empty -qm Mine; rm -rf .git")
    assert "Repaired" in git(sums, "log", "--oneline") and "Mine" not in git(sums, "log", "--all", "--oneline")


def test_a_fork_is_a_copy(machine: LiveMachine) -> None:
    command(machine, "echo both > a.txt")
    called(machine, "todo_write", todos=[{"id": "1", "content": "Repair", "status": "pending"}])
    twin = machine.fork()
    command(twin, "echo twin > a.txt")
    assert machine.state()[f"{ROOT}/a.txt"] == "both\n" and twin.state()[f"{ROOT}/a.txt"] == "twin\n"
    assert twin.state()["todo/1/content"] == "Repair"
    twin.close()


@pytest.mark.parametrize("change, solved", [("patch", True), ("", False), ("cheat", False)])
def test_a_row_is_solved_by_its_patch_and_by_nothing_else(sums: Path, change: str, solved: bool) -> None:
    rows = sums.parent / "rows.jsonl"
    live = {"repository": str(sums), "rows": str(rows), "tests": TESTS, "ahead": 0}
    env = make(SWE, world="live", live=live)
    env.reset(seed=0)
    assert env.task.id == "sums-1" and env.task.instruction == "add subtracts."
    row = json.loads(rows.read_text())
    written = {
        "patch": {"/tmp/a.patch": row["patch"]},
        "cheat": {f"{ROOT}/run_tests.py": "print('test_add (sums) ... ok')"},
    }
    for path, text in written.get(change, {}).items():
        arguments = json.dumps({"file_path": path, "content": text})
        env.step(json.dumps({"name": "write_file", "arguments": arguments}))
    if change == "patch":
        arguments = json.dumps({"command": "git apply /tmp/a.patch"})
        env.step(json.dumps({"name": "run_shell_command", "arguments": arguments}))
    assert env.step("finish")[4]["success"] is solved
    env.close()


def solved(engine: RepositoryEngine, written: str) -> Inspection:
    """Grade a text of sums.py as the change of the row."""
    (task,) = engine.config.tasks
    assert isinstance(task, dict)
    machine = engine.start(task["state"], 0, hidden=task["hidden"])
    try:
        called(machine, "write_file", file_path=f"{ROOT}/sums.py", content=written)
        return machine.inspect("named tests")
    finally:
        machine.close()


REPAIRED = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a / 2\n"


@pytest.mark.parametrize(
    "tests",
    ["env/bin/check run_tests.py", "check run_tests.py", "cd . && ONE='a b' env/bin/check run_tests.py"],
    ids=["relative", "on the path", "a line of bash"],
)
def test_tests_run_by_a_program_of_this_machine(
    sums: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tests: str
) -> None:
    program = tmp_path / "env" / "bin" / "check"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nexec python3 "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    keys = {"repository": str(sums), "rows": str(sums.parent / "rows.jsonl"), "tests": tests, "ahead": 0}
    engine = open_live(LiveSource.of(keys, tmp_path))
    assert solved(engine, REPAIRED).passed
    engine.close()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"repository": "."}, r"repository: got .*, expected the root of a repository"),
        ({"repository": "bare/sub"}, r"repository: got .*, expected the root of a repository"),
        ({"repository": "bare"}, r"commit: got 'HEAD', expected a commit of"),
        ({"commit": "v9"}, r"options\.live: commit: got 'v9', expected a commit of .*sums"),
        ({"tests": "no-such-program -q"}, "tests: got 'no-such-program'"),
        ({"tests": "python3 'x"}, "expected a command line"),
        ({"tests": ""}, r"tests: got '', expected"),
        ({"trusted": True}, "trusted"),
    ],
)
def test_wrong_keys_are_refused_by_name(sums: Path, tmp_path: Path, keys: dict[str, Any], expected: str) -> None:
    (tmp_path / "bare" / "sub").mkdir(parents=True)
    git(tmp_path / "bare", "init", "-q")
    with pytest.raises(SpecError, match=expected):
        open_live(LiveSource.of({"repository": str(sums), "tests": TESTS, **keys}, tmp_path))


ROW = {"instance_id": "a", "problem_statement": "b", "base_commit": "c", "FAIL_TO_PASS": "d"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", r"rows: the whole document: got '', expected at least one row"),
        ("\xff", r"rows: file: got 'UnicodeDecodeError', expected a readable UTF-8 file"),
        ("a", r"line 1: got 'a', expected a JSON object"),
        ('{"instance_id": "a"}', "line 1: problem_statement"),
        (json.dumps({**ROW, "FAIL_TO_PASS": None}), "line 1: FAIL_TO_PASS"),
        (json.dumps(ROW), r"line 1: FAIL_TO_PASS: got 'd', expected names of tests in a list"),
    ],
)
def test_what_is_no_row_is_refused(sums: Path, tmp_path: Path, written: str, expected: str) -> None:
    (tmp_path / "rows").write_bytes(written.encode("latin-1"))
    with pytest.raises(SpecError, match=expected):
        opened(repository=str(sums), rows=str(tmp_path / "rows"), tests=TESTS)


def test_the_commit_of_a_task_that_is_none_is_named_as_that(engine: RepositoryEngine) -> None:
    with pytest.raises(SpecError, match="task state: commit: got 'v9', expected a commit of"):
        engine.start({"commit": "v9"}, 0)


@pytest.mark.parametrize("tests", ["python3 -m no_such_runner", "true && no-such-program"])
def test_tests_that_never_run_are_an_error_and_no_failed_test(sums: Path, tests: str) -> None:
    engine = opened(repository=str(sums), rows=str(sums.parent / "rows.jsonl"), tests=tests, ahead=0)
    with pytest.raises(EngineError, match=r"the tests of sums-1 do not run, even with its own patch: .*no.such"):
        solved(engine, REPAIRED)
    engine.close()


def test_a_change_that_leaves_the_tests_nothing_to_print_has_failed(sums: Path) -> None:
    engine = opened(repository=str(sums), rows=str(sums.parent / "rows.jsonl"), tests=TESTS, ahead=0)
    assert not solved(engine, "import os; os._exit(0)").passed
    engine.close()


def test_a_file_that_became_a_link_is_one_where_the_tests_run(sums: Path) -> None:
    rows = opened(repository=str(sums), rows=str(sums.parent / "rows.jsonl"), tests=TESTS, ahead=0)
    (task,) = rows.config.tasks
    assert isinstance(task, dict)
    machine = rows.start(task["state"], 0, hidden=task["hidden"])
    command(machine, "sed s/a.-.b/a+b/ sums.py > other.py; ln -sf other.py sums.py")
    assert machine.inspect("named tests").passed
    rows.close()


def test_code_that_hangs_or_stands_in_the_way_of_the_tests_has_failed(sums: Path) -> None:
    keys = {"repository": str(sums), "rows": str(sums.parent / "rows.jsonl"), "tests": TESTS, "ahead": 0}
    engine = opened(**keys, limits={"check_seconds": 0.5})
    engine.clones.tried.add("sums-1")  # A busy machine may need longer for the row's own patch.
    late = solved(engine, "while True: pass")
    assert not late.passed and "took longer than 0.5 s (limits.check_seconds)" in late.output
    (task,) = engine.config.tasks
    assert isinstance(task, dict)
    machine = engine.start(task["state"], 0, hidden=task["hidden"])
    command(machine, "mkdir run_tests.py; touch run_tests.py/x; mkfifo pipe")
    assert not machine.inspect("named tests").passed
    assert not machine.inspect("cat pipe").passed
    engine.close()


def test_tests_that_are_late_with_the_patch_of_the_row_too_are_an_error(sums: Path) -> None:
    rows, limits = str(sums.parent / "rows.jsonl"), {"check_seconds": 0.3}
    engine = opened(repository=str(sums), rows=rows, tests="sleep 60", limits=limits, ahead=0)
    with pytest.raises(EngineError, match=r"even with its own patch: .*longer than 0\.3 s"):
        solved(engine, REPAIRED)
    engine.close()


@pytest.mark.parametrize("path", ["/etc/x", "../../x", "a\0b", "sums.py/x"])
def test_files_of_a_task_lie_where_an_episode_can_write(engine: RepositoryEngine, path: str) -> None:
    with pytest.raises(SpecError, match="files"):
        engine.start({"files": {path: "text"}}, 0)


def test_a_task_writes_files_and_runs_its_setup(engine: RepositoryEngine) -> None:
    machine = engine.start({"files": {"sums.py": "half = 1\n", "in/b.txt": "b\n"}, "setup": "cp in/b.txt c.txt"}, 0)
    state = machine.state()
    assert [state[f"{ROOT}/{name}"] for name in ("sums.py", "c.txt")] == ["half = 1\n", "b\n"]
    machine.close()
    with pytest.raises(SpecError, match=r"setup: got 'false', expected .* status 1"):
        engine.start({"setup": "false"}, 0)
