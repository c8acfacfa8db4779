"""A real shell over a private copy of a folder: what the screen shows, forks, checks, and what cannot be reached."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_shells import needs_sandbox
from processes import wait_until
from worlds import dream, make, predicted

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.engines import EngineError, SystemLost
from agentworld_gym.domains.terminal.live import ShellEngine, open_live
from agentworld_gym.kit.live import LiveMachine, LiveSource


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_sandbox()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shell") / "project"
    place.mkdir()
    (place / "a.txt").write_text("one\ntwo\n")
    (place / "long.txt").write_text("".join(f"line {number}\n" for number in range(200)))
    return place


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[ShellEngine]:
    engine = opened(folder=str(folder), setup="echo made > made.txt", ahead=0)
    yield engine
    engine.close()


@pytest.fixture
def machine(engine: ShellEngine) -> Iterator[LiveMachine]:
    machine = engine.start({}, 0)
    yield machine
    machine.close()


def opened(**keys: Any) -> ShellEngine:
    return open_live(LiveSource.of(keys))


def typed(machine: LiveMachine, *keys: str, seconds: float = 1.0) -> str:
    return machine.act([{"keystrokes": one, "duration": seconds} for one in keys])


def shown_in_time(machine: LiveMachine, text: str, *keys: str) -> bool:
    """Whether keys lead to a text. A busy machine may take more than the one step for which their program computes."""
    shown, until = typed(machine, *keys), time.monotonic() + 60
    while text not in shown and time.monotonic() < until:
        shown = typed(machine, "")
    return text in shown


def test_a_command_shows_its_line_its_output_and_the_prompt(machine: LiveMachine) -> None:
    assert machine.observation == "user@live:~/project$"
    shown = typed(machine, "cat a.txt made.txt\n")
    assert shown == "user@live:~/project$ cat a.txt made.txt\none\ntwo\nmade\nuser@live:~/project$"
    assert typed(machine, "false\n", "echo $?\n").endswith("$ echo $?\n1\nuser@live:~/project$")


def test_a_line_that_goes_on_at_the_margin_is_one_line(machine: LiveMachine) -> None:
    word = "x" * 100
    assert typed(machine, f"echo {word}\n").split("\n")[:2] == [f"user@live:~/project$ echo {word}", word]


def test_keys_without_enter_stay_on_the_line_and_names_of_keys_are_keys(machine: LiveMachine) -> None:
    assert typed(machine, "echo on") == "user@live:~/project$ echo on"
    assert typed(machine, "e\n") == "user@live:~/project$ echo one\none\nuser@live:~/project$"
    assert typed(machine, "Up", "Enter").startswith("user@live:~/project$ echo one\none")
    assert typed(machine, "cat a.t", "Tab", "Enter").startswith("user@live:~/project$ cat a.txt\none")


def test_a_pager_has_the_screen_and_gives_it_back(machine: LiveMachine) -> None:
    shown = typed(machine, "less long.txt\n").split("\n")
    assert shown[0] == "line 0" and shown[38] == "line 38"
    assert typed(machine, "G").split("\n")[-2] == "line 199"
    assert typed(machine, "q") == "user@live:~/project$ less long.txt\nuser@live:~/project$"


def test_what_reads_the_terminal_is_answered_and_what_hangs_shows_no_prompt(machine: LiveMachine) -> None:
    assert typed(machine, "read x\n", "milk\n", "echo got $x\n").endswith("got milk\nuser@live:~/project$")
    assert typed(machine, "cat\n") == "user@live:~/project$ cat"
    assert typed(machine, "hi\n", "C-d").endswith("hi\nhi\nuser@live:~/project$")


def test_a_program_that_hangs_is_left_by_its_keys(folder: Path) -> None:
    engine = opened(folder=str(folder), wait_seconds=0.2, ahead=0)
    machine = engine.start({}, 0)
    assert typed(machine, "sleep 1000\n", seconds=0.1) == "user@live:~/project$ sleep 1000"
    assert typed(machine, "C-c").endswith("^C\nuser@live:~/project$")
    engine.close()


@pytest.mark.parametrize("end", ["exit\n", "kill -9 $$\n"])
def test_the_end_of_a_shell_begins_another(machine: LiveMachine, end: str) -> None:
    typed(machine, "cd /tmp\n", end)
    assert typed(machine, "pwd\n").endswith("/home/user/project\nuser@live:~/project$")


def test_a_shell_at_its_prompt_is_copied_with_all_that_it_knows(
    engine: ShellEngine, machine: LiveMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "again", lambda *_: pytest.fail("the episode was played again"))
    typed(
        machine, "cd /tmp; f() { echo f $1; }; alias ll='ls -1'\n", "declare -A m=([a]=1); x='a\"b'; set -o noclobber\n"
    )
    typed(machine, "echo one > file; false\n")
    twin = machine.fork()
    for line in ("echo $?", "f 2", 'echo "$x" ${m[a]} $PWD', "ll", "echo two > file", "history | tail -n 3", "cd -"):
        assert typed(machine, f"{line}\n") == typed(twin, f"{line}\n")
    typed(twin, "echo twin > /tmp/other\n")
    assert "/tmp/other" not in machine.state() and twin.state()["/tmp/other"] == "twin\n"
    twin.close()


def test_a_fork_leaves_the_shell_as_it_is_and_runs_nothing_of_its_history(
    engine: ShellEngine, machine: LiveMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "again", lambda *_: pytest.fail("the episode was played again"))
    typed(machine, "touch kept; shopt -s extglob; g() { echo @(a|b); }\n", "END OF HISTORY\n", "echo once >> log\n")
    typed(machine, "true last | false\n")
    twin = machine.fork()
    for line in ("echo ${PIPESTATUS[*]} $_", "cat log; g", "history"):
        assert typed(machine, f"{line}\n") == typed(twin, f"{line}\n")
    assert "once\nonce" not in typed(twin, "cat log\n") and typed(machine, "true a; echo $_\n").count("\na\n") == 1
    twin.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("set -- a b c", "echo $1 $#"),
        ("pushd /tmp", "popd"),
        ("stty -echo", "echo hi"),
        ("enable -n test", "type test"),
        ("complete -W 'one two' xyz", "complete -p"),
        ("PS0=hello", "echo hi"),
        ("BASH_ARGV0=other", "echo $0"),
        ("true & disown", "echo ${!:+told}"),
        ("set -- -ab; getopts ab o", "getopts ab o; echo $o"),
    ],
)
def test_what_a_shell_cannot_be_given_is_played_again(machine: LiveMachine, before: str, after: str) -> None:
    typed(machine, f"{before}\n")
    twin = machine.fork()
    assert typed(machine, f"{after}\n") == typed(twin, f"{after}\n")
    twin.close()


def test_a_shell_with_something_in_the_background_is_played_again(engine: ShellEngine, machine: LiveMachine) -> None:
    typed(machine, "sleep 100 & echo begun > /tmp/begun\n")
    twin = machine.fork()
    assert twin.state()["/tmp/begun"] == "begun\n" and engine.exact_forks is True
    twin.close()


def test_checks_run_where_the_agent_has_defined_nothing(machine: LiveMachine) -> None:
    typed(machine, "cat() { echo fake; }; export PATH=/nowhere\n")
    assert machine.inspect("cat a.txt; pwd").output == "one\ntwo\n/home/user/project\n"
    assert not machine.inspect("rm a.txt; false").passed
    probe = machine.probe()
    assert typed(probe, "cat a.txt\n").split("\n")[1:3] == ["one", "two"]
    probe.close()
    assert machine.state()["/home/user/project/a.txt"] == "one\ntwo\n"


def test_the_state_tells_files_folders_links_and_permissions(machine: LiveMachine) -> None:
    typed(machine, "mkdir d; ln -s a.txt l; printf '\\377' > b; chmod 600 b\n")
    state = machine.state()
    here = "/home/user/project"
    assert state[f"{here}/d/"] is True and state[f"{here}/l#link"] == "a.txt" and state[f"{here}/b#mode"] == "600"
    assert str(state[f"{here}/b"]).startswith("1 bytes, ")


def test_what_nobody_may_read_is_told_and_copied_with_its_permissions(machine: LiveMachine) -> None:
    typed(machine, "mkdir -p d/e; echo in > d/e/f; echo secret > s; chmod 000 s d/e/f d/e; chmod 300 d\n")
    state, here = machine.state(), "/home/user/project"
    assert state[f"{here}/s"] == "secret\n" and state[f"{here}/d/e/f"] == "in\n"
    assert [state[f"{here}/{name}#mode"] for name in ("s", "d", "d/e", "d/e/f")] == ["0", "300", "0", "0"]
    twin = machine.fork()
    for line in ("stat -c %a s d", "cat s", "chmod 700 d d/e d/e/f; cat d/e/f"):
        assert typed(twin, f"{line}\n") == typed(machine, f"{line}\n")
    assert twin.observation.split("\n")[1] == "in"
    twin.close()


def test_nothing_of_this_machine_is_reached(machine: LiveMachine, folder: Path) -> None:
    shown = typed(machine, f"cat {folder}/a.txt /etc/shadow; ls /root; touch /usr/x /x /etc/x /dev/x\n")
    assert "one\ntwo" not in shown and shown.count("No such file") == 3 and shown.count("Read-only") == 4
    assert "Network is unreachable" in typed(machine, "(echo > /dev/tcp/192.0.2.1/80)\n")
    typed(machine, "rm -rf ~/project/*\n")
    assert (folder / "a.txt").read_text() == "one\ntwo\n"


def test_a_shell_that_floods_its_screen_or_its_disk_goes_on(folder: Path) -> None:
    engine = opened(folder=str(folder), wait_seconds=0.2, limits={"disk_mb": 8, "step_seconds": 1}, ahead=0)
    machine = engine.start({}, 0)
    assert len(typed(machine, "yes abc\n", seconds=0.2)) < 16_000
    assert shown_in_time(machine, "^C\nuser@live", "C-c")
    assert shown_in_time(machine, "No space left", "head -c 6M /dev/zero > a; head -c 6M /dev/zero > b\n")
    assert shown_in_time(machine, "removed\n", "rm a b; echo remov'ed'\n")
    typed(machine, r"printf '\e[?1049h\e[5;3r\eP#\x90\xff\e]7771;A\a'" + "\n")
    assert shown_in_time(machine, "alive\n", "clear; echo aliv'e'\n")
    engine.close()


def test_too_much_memory_costs_one_member(folder: Path) -> None:
    engine = opened(folder=str(folder), limits={"memory_mb": 64}, ahead=0)
    machine, other = engine.start({}, 0), engine.start({}, 0)
    with pytest.raises(SystemLost, match=r"limits\.memory_mb is 64"):
        typed(machine, "x=$(head -c 300M /dev/zero | tr '\\0' a); echo done\n", seconds=20)
        typed(machine, "echo\n")
    assert "hi" in typed(other, "echo hi\n")
    engine.close()


def test_nothing_is_left_after_close(folder: Path) -> None:
    engine = opened(folder=str(folder), ahead=2)
    machines = [engine.start({}, seed) for seed in range(3)]
    pids = []
    for machine in machines:
        typed(machine, "(setsid sleep 1000 &); echo\n")
        pids += machine._open()._box.inside()  # type: ignore[attr-defined]
    assert len(pids) >= 6
    engine.close()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), 20)


def test_a_task_has_files_a_setup_and_checks(folder: Path) -> None:
    task = {
        "instruction": "Count the lines.",
        "state": {"files": {"in/b.txt": "1\n2\n3\n"}, "setup": "cp in/b.txt c.txt"},
        "success": [{"run": "test $(cat out.txt) = 3"}, {"probe": "cat out.txt", "expect": {"equals": "3"}}],
    }
    env = make(world="live", live={"folder": str(folder), "tasks": [task], "ahead": 0})
    for line, solved in (("wc -l < c.txt > out.txt", True), ("echo 4 > out.txt", False)):
        env.reset(seed=0)
        env.step(line)
        assert env.step("finish")[4]["success"] is solved
    env.close()


def test_a_language_world_is_told_as_much_of_the_files_as_the_key_says(folder: Path) -> None:
    dream("parrot", lambda request: predicted("$ "))
    task = {
        "id": "own",
        "instruction": "Look.",
        "state": {"files": {"in/b.txt": "of the task"}},
        "success": [{"run": "true"}],
    }
    systems = {}
    for most in (0, 60_000):
        env = make(world="parrot", live={"folder": str(folder), "told_chars": most, "ahead": 0})
        env.reset(seed=0)
        systems[most] = env.unwrapped.episode.session.system
        assert "one\ntwo\n" in env.unwrapped.task.state["files"].values()
        env.close()
    assert "one\ntwo" in systems[60_000] and "one\ntwo" not in systems[0]
    env = make(world="parrot", live={"folder": str(folder), "tasks": [task], "told_chars": 0, "ahead": 0})
    env.reset(seed=0)
    assert "of the task" in env.unwrapped.episode.session.system
    env.close()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A small root file system."""
    for name in ("base64", "bash", "cat", "env", "head", "rm", "setsid", "stat", "tail", "tar", "timeout"):
        program = shutil.which(name)
        assert program is not None
        needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for place in (f"/usr/bin/{name}", *re.findall(r"(/\S+) \(0x", needed)):
            (tmp_path / place[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(program if place.startswith("/usr/bin/") else place, tmp_path / place[1:])
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "mark").write_text("of the image\n")
    return tmp_path


def test_an_image_is_the_root(image: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(SpecError, match=r"image: got .* expected a root file system with bash"):
        opened(image=str(tmp_path_factory.mktemp("empty")))
    engine = opened(image=str(image), ahead=0)
    machine = engine.start({}, 0)
    assert typed(machine, "cat /opt/mark\n").split("\n")[1] == "of the image"
    assert "command not found" in typed(machine, "python3\n")
    assert "Read-only file system" in typed(machine, "echo > /opt/mark\n")
    assert machine.inspect("cat /opt/mark").output == "of the image\n"
    engine.close()


def test_the_setup_runs_with_the_programs_of_the_image(image: Path, folder: Path) -> None:
    engine = opened(
        image=str(image),
        folder=str(folder),
        setup="cat /opt/mark a.txt > made.txt; command -v python3 >> made.txt; :",
        ahead=0,
    )
    machine = engine.start({}, 0)
    assert typed(machine, "cat made.txt\n").split("\n")[1:4] == ["of the image", "one", "two"]
    assert machine.state()["/home/user/project/made.txt"] == "of the image\none\ntwo\n"
    assert machine.fork().observation == machine.observation
    engine.close()


def test_wrong_keys_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="trusted"):
        opened(trusted=True)
    with pytest.raises(MissingFile, match=r"folder: .*nowhere: no such folder"):
        opened(folder=str(tmp_path / "nowhere"))
    with pytest.raises(SpecError, match="fold"):
        opened(fold=".")
    engine = opened(folder=str(tmp_path), setup="echo broken; false", ahead=0)
    with pytest.raises(EngineError, match="the setup 'echo broken; false' ended with status 1: broken"):
        engine.start({}, 0)
    engine.close()
