"""The grounded terminal: what a screen shows, how time passes, and that copies and repetitions are exact."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from itertools import count, pairwise

import ctrl_c
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.engines import Engine, Machine
from agentworld_gym.domains.terminal.engine import EngineError, TerminalMachine, shell

HOME = "/home/dev"
FILES = {
    f"{HOME}/notes.txt": "beta\nalpha\nbeta\n",
    f"{HOME}/nonl.txt": "no newline",
    f"{HOME}/data/a.csv": "name,age\nann,31\nbob,25\n",
    f"{HOME}/run.sh": {"content": "#!/bin/bash\necho ran $1\n", "mode": "755", "mtime": "2025-01-02T03:04:05"},
}


def started(seed: int = 0, **state: object) -> TerminalMachine:
    return TerminalMachine.start({"files": FILES, **state}, seed)


def typed(machine: TerminalMachine, *lines: str) -> str:
    return machine.act([{"keystrokes": f"{line}\n", "duration": 0.1} for line in lines])


def printed(machine: TerminalMachine, line: str) -> str:
    """The output alone: the observation without echo and prompt."""
    return "\n".join(typed(machine, line).split("\n")[1:-1])


# --- the screen


def test_starts_with_a_prompt() -> None:
    assert started().observation == "dev@box:~$"
    assert started(cwd="/srv/app").observation == "dev@box:/srv/app$"
    assert started(user="root", host="web1").observation == "root@web1:~#"


def test_shows_echo_output_and_the_next_prompt() -> None:
    machine = started()
    assert typed(machine, "cat notes.txt") == "dev@box:~$ cat notes.txt\nbeta\nalpha\nbeta\ndev@box:~$"
    assert machine.observation.endswith("dev@box:~$")


def test_output_without_final_newline_stands_before_the_prompt() -> None:
    assert typed(started(), "cat nonl.txt") == "dev@box:~$ cat nonl.txt\nno newlinedev@box:~$"


def test_a_batch_shows_everything_in_order() -> None:
    assert typed(started(), "echo one", "cd data", "pwd") == (
        "dev@box:~$ echo one\none\ndev@box:~$ cd data\ndev@box:~/data$ pwd\n/home/dev/data\ndev@box:~/data$"
    )


def test_errors_appear_between_outputs_in_order() -> None:
    assert printed(started(), "echo a; cat nofile; echo b; foo") == (
        "a\ncat: nofile: No such file or directory\nb\nbash: foo: command not found"
    )


def test_the_status_lives_on_to_the_next_line() -> None:
    machine = started()
    typed(machine, "ls nofile")
    assert printed(machine, "echo $?") == "2"
    assert printed(machine, "echo $?") == "0"


def test_typed_text_waits_for_enter() -> None:
    machine = started()
    assert machine.act([{"keystrokes": "echo he"}]) == "dev@box:~$ echo he"
    assert machine.act([{"keystrokes": ""}]) == "dev@box:~$ echo he"
    assert (
        machine.act([{"keystrokes": "llo "}, {"keystrokes": "x\n"}]) == "dev@box:~$ echo hello x\nhello x\ndev@box:~$"
    )
    assert machine.act([{"keystrokes": ""}]) == "dev@box:~$"
    assert machine.act([{"keystrokes": "ls "}]) == "dev@box:~$ ls"
    assert machine.act([{"keystrokes": "-d .\n"}]) == "dev@box:~$ ls -d .\n.\ndev@box:~$"


def test_an_unfinished_command_stands_without_a_prompt_and_is_shown_again() -> None:
    machine = started()
    machine.act([{"keystrokes": "printf begun"}])
    entered = "dev@box:~$ printf begun; while true; do :; done\nbegun"
    assert machine.act([{"keystrokes": "; while true; do :; done\n"}]) == entered
    assert machine.act([{"keystrokes": "", "duration": 5.0}]) == entered
    assert machine.fork().act([{"keystrokes": "ls\n"}]) == entered + "ls"
    assert machine.act([{"keystrokes": "C-c"}]) == entered + "^C\ndev@box:~$"
    assert typed(machine, "pwd") == "dev@box:~$ pwd\n/home/dev\ndev@box:~$"


def test_output_without_final_newline_stays_before_the_prompt_that_follows_it() -> None:
    machine = started()
    typed(machine, "cat nonl.txt")
    assert typed(machine, "pwd") == "no newlinedev@box:~$ pwd\n/home/dev\ndev@box:~$"


def test_control_keys() -> None:
    machine = started()
    machine.act([{"keystrokes": "rm notes.txt"}])
    assert machine.act([{"keystrokes": "C-c"}]) == "dev@box:~$ rm notes.txt^C\ndev@box:~$"
    assert machine.act([{"keystrokes": "echo ab\x7fc\n"}]).split("\n")[-2] == "ac"
    assert machine.act([{"keystrokes": "C-l"}]) == "dev@box:~$"
    assert "notes.txt" in machine.files()[f"{HOME}/run.sh"] or f"{HOME}/notes.txt" in machine.files()


def test_end_of_input_starts_the_shell_afresh() -> None:
    machine = started(cwd="/srv")
    assert machine.act([{"keystrokes": "C-d"}]) == "dev@box:/srv$ exit\ndev@box:~$"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["for i in 1 2", "do echo $i", "done"], "for i in 1 2\n> do echo $i\n> done\n1\n2\ndev@box:~$"),
        (["cat << EOF", "$USER", "EOF"], "cat << EOF\n> $USER\n> EOF\ndev\ndev@box:~$"),
        (["echo 'a", "b'"], "echo 'a\n> b'\na\nb\ndev@box:~$"),
        (["echo a |", "cat"], "echo a |\n> cat\na\ndev@box:~$"),
        (["echo a \\", "b"], "echo a \\\n> b\na b\ndev@box:~$"),
        (["if true; then", "echo y; fi"], "if true; then\n> echo y; fi\ny\ndev@box:~$"),
    ],
)
def test_unfinished_commands_get_a_continuation_prompt(lines: list[str], shown: str) -> None:
    assert typed(started(), *lines) == f"dev@box:~$ {shown}"


@pytest.mark.parametrize("wrong", [")", "fi", "echo a;; b", "| cat", "if true; fi", "do x", "echo && && x"])
def test_syntax_errors(wrong: str) -> None:
    machine = started()
    assert printed(machine, wrong).startswith("bash: syntax error near unexpected token `")
    assert printed(machine, "echo $?") == "2"


def test_an_empty_action_asks_to_confirm_and_keeps_asking() -> None:
    machine = started()
    assert machine.act([]) == machine.act([])
    assert "[]" in machine.observation
    assert typed(machine, "pwd") == "dev@box:~$ pwd\n/home/dev\ndev@box:~$"


def test_the_screen_holds_forty_lines() -> None:
    lines = typed(started(), "seq 1 100").split("\n")
    assert len(lines) == 40
    assert lines[-2:] == ["100", "dev@box:~$"]


def test_control_sequences_act_on_the_screen() -> None:
    assert printed(started(), "printf 'loading\\rdone   \\n'") == "done"
    assert printed(started(), "printf '\\033[31mred\\033[0m\\n'") == "red"
    assert typed(started(), "echo gone; clear") == "dev@box:~$"


def test_ls_prints_columns_on_the_screen_and_lines_into_a_pipe() -> None:
    machine = started()
    assert printed(machine, "ls") == "data  nonl.txt  notes.txt  run.sh"
    assert printed(machine, "ls | cat") == "data\nnonl.txt\nnotes.txt\nrun.sh"
    assert printed(machine, "ls > out; head -1 out") == "data"
    assert printed(machine, "touch 'a b'; ls") == "'a b'   data   nonl.txt   notes.txt   out   run.sh"


def test_ls_long() -> None:
    machine = started()
    assert printed(machine, "ls -l") == (
        "total 16\n"
        "drwxr-xr-x 2 dev dev 4096 Mar  2 09:00 data\n"
        "-rw-r--r-- 1 dev dev   10 Mar  2 09:00 nonl.txt\n"
        "-rw-r--r-- 1 dev dev   16 Mar  2 09:00 notes.txt\n"
        "-rwxr-xr-x 1 dev dev   24 Jan  2  2025 run.sh"
    )


# --- files and time


def test_files_are_those_of_the_state_and_of_what_was_done() -> None:
    machine = started(dirs=["/srv/empty"], links={f"{HOME}/l": "notes.txt"}, env={"COLOUR": "blue"})
    typed(machine, "cat l > copy; echo $COLOUR >> copy")
    assert machine.files()[f"{HOME}/copy"] == "beta\nalpha\nbeta\nblue\n"
    assert printed(machine, "readlink l; ls -d /srv/empty") == "notes.txt\n/srv/empty"


def test_permissions_survive_writing_and_moving() -> None:
    machine = started()
    typed(machine, "echo 'echo more' >> run.sh", "sed -i 's/ran/RAN/' run.sh", "mv run.sh r2.sh")
    assert printed(machine, "stat -c %a r2.sh; ./r2.sh x") == "755\nRAN x\nmore"


def test_the_clock_is_virtual() -> None:
    machine = started(clock="2026-01-31T23:59:00")
    began = time.monotonic()
    shown = machine.act([{"keystrokes": "date; sleep 3600; date +%F_%H\n", "duration": 3600.0}])
    assert shown.split("\n")[1:-1] == [
        "Sat Jan 31 23:59:00 UTC 2026",
        "2026-02-01_00",
    ]
    assert time.monotonic() - began < 60
    machine.act([{"keystrokes": "", "duration": 120}])
    assert printed(machine, "touch f; date -r f +%H:%M") == "01:01"


def test_file_times_follow_the_virtual_clock() -> None:
    machine = started()
    typed(machine, "touch old", "sleep 90000")
    machine.act([{"keystrokes": "", "duration": 3600.0}] * 25)
    typed(machine, "touch fresh", "touch -d '3 days ago' older")
    assert printed(machine, "stat -c '%n %y' fresh old older") == (
        "fresh 2026-03-03 10:00:00.000000000 +0000\n"
        "old 2026-03-02 09:00:00.000000000 +0000\n"
        "older 2026-02-28 10:00:00.000000000 +0000"
    )
    assert printed(machine, "[ fresh -nt old ] && echo newer; find . -newer old -name '*fresh'") == "newer\n./fresh"
    assert printed(machine, "find . -mtime -1 -name '*fresh'; find . -mtime +1 -name 'older'") == "./fresh\n./older"


def test_archives_keep_times() -> None:
    machine = started()
    typed(machine, "tar czf a.tgz run.sh", "rm run.sh", "tar xzf a.tgz")
    assert printed(machine, "ls -l run.sh") == "-rwxr-xr-x 1 dev dev 24 Jan  2  2025 run.sh"


# --- repetition and copies

ACTIONS = st.lists(
    st.sampled_from(
        [
            "ls -la",
            "echo $RANDOM",
            "mktemp",
            "shuf notes.txt",
            "date +%T.%N",
            "sleep 7",
            "touch x; stat -c %Y x",
            "echo line >> notes.txt",
            "cat notes.txt",
            "mkdir -p d/e && cd d",
            "cd",
            "mv notes.txt moved",
            "cp moved notes.txt",
            "rm -f moved",
            "chmod 600 notes.txt",
            "x=$((x+1)); echo $x",
            "f() { echo f$1; }; f 2",
            "alias ll='ls -l'",
            "ll",
            "history | tail -2",
            "ls nofile",
            "echo $? $SECONDS $SRANDOM",
            "tar cf t.tar . ; md5sum t.tar",
            "find . -mmin -1 | sort",
            "head -c 8 /dev/urandom | od -An -tx1",
            "awk 'BEGIN {srand(); print rand(), systime()}'",
            "echo 'open",
            "while true; do :; done",
            "sleep 5 &",
            "jq -n now; uuidgen",
            "uptime; cat /proc/uptime",
        ]
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(actions=ACTIONS, seed=st.integers(0, 3))
def test_same_state_seed_and_actions_give_the_same_screens(actions: list[str], seed: int) -> None:
    one, two = started(seed), started(seed)
    for action in actions:
        assert typed(one, action) == typed(two, action)
    assert one.files() == two.files()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=ACTIONS, after=ACTIONS)
def test_a_fork_is_exact_and_independent(before: list[str], after: list[str]) -> None:
    machine = started()
    for action in before:
        typed(machine, action)
    twin, bystander = machine.fork(), machine.fork()
    assert twin.observation == machine.observation
    files = bystander.files()
    for action in after:
        assert typed(machine, action) == typed(twin, action)
    assert bystander.files() == files
    assert typed(bystander, "pwd") is not None


def test_a_fork_that_fails_leaves_its_original_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = started()

    def fail(shell: object) -> None:
        raise EngineError("no room for a copy")

    with monkeypatch.context() as patch:
        patch.setattr("agentworld_gym.domains.terminal.engine.shell.Shell.copy", fail)
        with pytest.raises(EngineError, match="no room"):
            machine.fork()
    gc.collect()
    assert "notes.txt" in typed(machine, "ls")


def test_a_fork_tells_its_state_before_its_first_action() -> None:
    machine = started()
    typed(machine, "ln -s /etc/hostname name; chmod 600 *")
    twin = machine.fork()
    assert twin.state() == machine.state()
    writer = machine.fork()
    writer.write("/tmp/x", "x")
    assert writer.files() == {**machine.files(), "/tmp/x": "x"}


def test_seeds_differ() -> None:
    draws = {printed(started(seed), "echo $RANDOM; shuf -i 1-1000 -n 3; mktemp -u") for seed in range(4)}
    assert len(draws) == 4


def test_a_machine_that_is_dropped_keeps_no_open_file() -> None:
    machine = started()
    printed(machine.fork(), "ls")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        printed(machine.fork(), "ls")
    assert len(os.listdir("/proc/self/fd")) <= before + 3


def test_a_fork_of_a_fork() -> None:
    machine = started()
    chain = [machine]
    for number in range(4):
        typed(chain[-1], f"echo {number} >> log")
        chain.append(chain[-1].fork())
    assert [printed(m, "wc -l < log") for m in chain] == ["1", "2", "3", "4", "4"]


def test_more_actions_than_the_sandbox_counts() -> None:
    machine = started()
    for _ in range(1_200):
        typed(machine, "true")
    assert printed(machine.fork(), "echo alive") == "alive"


def test_satisfies_the_protocols() -> None:
    engine: Engine = TerminalMachine
    machine = engine.start({}, 0)
    assert isinstance(machine, Machine)
    machine.close()
    machine.close()
    with pytest.raises(EngineError, match="close"):
        machine.act([{"keystrokes": "ls\n"}])


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"users": "x"}, "users"),
        ({"user": "Not A User"}, "user"),
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": "/a/../../etc"}, "cwd"),
        ({"clock": "yesterday"}, "clock"),
        ({"files": {"a.txt": "x"}}, "files"),
        ({"files": {"/a": {"content": "x", "mode": "9"}}}, "files./a.mode"),
        ({"files": {"/a": "x", "/a/b": "y"}}, "/a/b"),
        ({"dirs": "x"}, "dirs"),
        ({"env": {"A B": "x"}}, "env"),
    ],
)
def test_a_wrong_state_says_what_is_wrong(state: dict[str, object], key: str) -> None:
    with pytest.raises(SpecError) as raised:
        TerminalMachine.start(state, 0)
    assert raised.value.file == "task state"
    assert raised.value.key == key


def test_time_never_goes_back() -> None:
    machine = started()
    stamps = [float(printed(machine, "date +%s.%N")) for _ in range(5)]
    assert all(a < b for a, b in pairwise(stamps))


def test_ctrl_c_while_a_command_runs_is_kept_until_it_has_ended() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), deferred_interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        reached.append("the end")
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_a_shell_is_made_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = started()
    twin = machine.fork()
    # The sandbox looks twice at every command of ours, and takes what the second look raises for a no.
    looks = count()
    monkeypatch.setattr("inspect.iscoroutinefunction", lambda command: bool(next(looks) % 2 and ctrl_c.pressed()))
    with pytest.raises(KeyboardInterrupt):
        started()
    with pytest.raises(KeyboardInterrupt):
        printed(twin, "pwd")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_of_its_own_runs_commands_without_touching_signals() -> None:
    shown = []
    thread = threading.Thread(target=lambda: shown.append(TerminalMachine.start({}, 1).act([{"keystrokes": "pwd\n"}])))
    thread.start()
    thread.join()
    assert shown == ["dev@box:~$ pwd\n/home/dev\ndev@box:~$"]


def test_the_state_tells_permissions_that_are_not_usual_whatever_set_them() -> None:
    machine = started()
    typed(
        machine, "install -D -m 740 notes.txt bin/tool", "install -d -m 700 safe", "chmod 755 data", "chmod 644 run.sh"
    )
    modes = {name: value for name, value in machine.state().items() if name.endswith("#mode")}
    assert modes == {f"{HOME}/bin/tool#mode": "740", f"{HOME}/safe#mode": "700"}
    typed(machine, "echo more >> bin/tool")
    assert printed(machine, "stat -c %a bin/tool") == "740"


def test_the_system_is_an_ordinary_one_and_names_no_sandbox() -> None:
    machine = started()
    kernel = printed(machine, "uname -r").strip()
    assert printed(machine, ". /etc/os-release; echo $ID-$VERSION_CODENAME").strip() == "debian-bookworm"
    assert printed(machine, "cat /proc/version").startswith(f"Linux version {kernel} (debian-kernel")
    for line in ("cat /etc/os-release", "cat /proc/*", "cat /proc/self/mounts /proc/1/mounts", "cat /etc/[ghopst]*"):
        shown = printed(machine, line).casefold()
        assert "bashkit" not in shown and "sandbox" not in shown, shown
    for one in (machine, machine.fork(), started()):
        listed = printed(one, "ls -la / /etc").splitlines()[2:10]
        dates = {row.split()[5:8] == ["Mar", "2", "09:00"] for row in listed}
        assert dates == {True}, "its files are as old as the system, whatever the clock of the host says"
    typed(machine, "mkdir /etc/old; touch /etc/old/a /etc/gone")
    line = "cat /etc/os-release > /etc/copy; mkdir /etc/d; ln -s ../copy /etc/d/l; chmod 600 /etc/copy"
    assert printed(machine, f"{line}; rm -r /etc/gone /etc/old") == ""
    for one in (machine, machine.fork()):
        assert printed(one, "cd /etc; cat d/l | head -n 1; ls -d gone old copy d; stat -c %a copy").splitlines() == [
            'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
            "ls: cannot access 'gone': No such file or directory",
            "ls: cannot access 'old': No such file or directory",
            "copy  d",
            "600",
        ]


LINES_ON_ETC = [
    "ls /etc/*",
    "rm -rf /etc/*",
    "rm -rf /etc; ls /etc/*release; mkdir /etc",
    "mv /etc/hosts /etc/release",
    "ln -sf b /etc/my-release; readlink /etc/my-release",
    "mkdir /etc/release.d; echo x > /etc/release.d/x",
    "rm -r /etc/release.d; echo f > /etc/release.d; cat /etc/release.d",
    "chmod 000 /etc/release.d; cat /etc/rel*",
    "rmdir /etc/release; echo hi > /etc/release",
    "rm /etc/release; mkdir /etc/release; ls /etc/rel*",
    "echo y > /etc/os-release",
    "mkdir -p /etc/a/b/c; mv /etc/a /etc/release-a; ls -R /etc/release*",
]


@pytest.mark.parametrize("seed", range(6))
def test_what_lines_do_in_etc_is_the_same_whether_or_not_they_name_the_system(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox refuses to change its own files in there, and no change of others ends an episode."""
    lines = random.Random(seed).choices(LINES_ON_ETC, k=12)
    machine = started()
    shown = [printed(machine, line) for line in lines]
    monkeypatch.setattr(shell, "names_release", lambda typed: False)
    machine = started()
    assert [printed(machine, line) for line in lines] == shown
