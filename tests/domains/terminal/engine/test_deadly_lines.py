"""A line that breaks the shell's interpreter costs that line: no other session, and not even its own one."""

from __future__ import annotations

import os
import threading
import time

import pytest
from deadly_lines import FEW, LINES

from agentworld_gym.base.process.disposable import Disposable, WorkLost, disposable
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.swe.engine import SweEngine
from agentworld_gym.domains.terminal.engine import TerminalMachine, shell
from agentworld_gym.domains.terminal.engine.command_line import CommandLine
from agentworld_gym.domains.terminal.engine.isolated_shell import LineLost
from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.read_only_programs import printed
from agentworld_gym.domains.terminal.engine.script_safety import is_safe_script
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

STATE = {"files": {"/home/dev/a.txt": "x\ny\n"}}
HOST_WORDS = ("MemoryError", "OverflowError", "RecursionError", "panicked", "Traceback")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short limit of real time, so that lines without end are."""
    monkeypatch.setattr(shell, "LAST_RESORT_SECONDS", 1.5)


def typed(machine: TerminalMachine, line: str) -> str:
    return machine.act([{"keystrokes": f"{line}\n", "duration": 0.1}])


def tried(machine: TerminalMachine, line: str) -> str:
    """Type a line; what it breaks is told in brackets."""
    try:
        return typed(machine, line)
    except LineLost as lost:
        return f"[{lost}]"


@pytest.mark.parametrize("kind", LINES)
def test_a_deadly_line_costs_no_more_than_itself(kind: str) -> None:
    machine = TerminalMachine.start(STATE, 0)
    typed(machine, "echo kept > b.txt; x=5; f() { echo of $1; }")
    script, _, line = LINES[kind].rpartition("\n")
    typed(machine, script)
    told = tried(machine, line)
    assert not any(word in told for word in HOST_WORDS)
    for one in (machine.fork(), machine):
        one.act([{"keystrokes": "C-c"}, {"keystrokes": "C-c"}])
        assert typed(one, "cat b.txt; f $x").split("\n")[1:3] == ["kept", "of 5"]


def test_a_line_that_was_lost_was_never_entered() -> None:
    machine = TerminalMachine.start(STATE, 0)
    typed(machine, "echo one; bash -c 'echo two'")
    before, text = machine.fork(), machine.observation
    with pytest.raises(LineLost, match="SIGABRT"):
        typed(machine, "echo lost > b.txt; w=%99999999999999999999p; find . -printf $w")
    assert machine.observation == text
    assert machine.state() == before.state()
    assert typed(machine, "history; ls") == typed(before, "history; ls")


@pytest.mark.parametrize("width", ["%4000000000", "%99999999999999999999", "%" + "9" * 5000])
def test_a_width_that_no_memory_holds_is_an_error_of_the_program(width: str) -> None:
    machine = TerminalMachine.start(STATE, 0)
    assert typed(machine, f"date +{width}d; echo $?").split("\n")[-3:-1] == ["date: memory exhausted", "1"]
    assert typed(machine, f"stat -c {width}n a.txt; echo $?").split("\n")[-3:-1] == ["stat: memory exhausted", "1"]
    assert "find: memory exhausted\n" in typed(machine, f"find . -printf '{width}p'")
    assert typed(machine, f"stat -c %.{width[1:]}n a.txt").split("\n")[-2] == "a.txt"


def test_a_row_that_no_screen_holds_is_an_error_of_the_program() -> None:
    machine = TerminalMachine.start(STATE, 0)
    said = "xxd: invalid number of columns (max. 256)."
    assert typed(machine, "xxd -c 3000000000 a.txt; echo $?").split("\n")[1:3] == [said, "1"]
    assert typed(machine, "xxd -c 300 -p a.txt").split("\n")[1] == "780a790a"


def test_a_command_that_runs_out_of_memory_is_no_text_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentworld_gym.core.engines import EngineError
    from agentworld_gym.domains.terminal.engine import builtins

    def greedy(context: object, call: object) -> str:
        raise MemoryError

    monkeypatch.setitem(builtins.COMMANDS, "df", greedy)
    with pytest.raises(EngineError, match="df asked for more than there is: MemoryError"):
        typed(TerminalMachine.start(STATE, 0), "df; echo on")


def test_what_runs_apart_is_the_session_that_it_would_be_here() -> None:
    """Functions, variables, times, random numbers and the clock go there and come back."""
    lines = (
        "f() { echo f $1 $RANDOM; date; }; alias l='ls -l'; export y=3",
        "f 1; l",
        "sleep 70; touch new; set -- a b",
        "bash -c 'echo $y; echo more >> a.txt'; f 2; stat -c '%n %y' *",
        "cd /tmp; pushd ~; mktemp; head -c 4 /dev/urandom | xxd",
        "sleep 5 & echo $!; wait; history",
    )
    apart, here = TerminalMachine.start(STATE, 3), TerminalMachine.start(STATE, 3)
    here._system.run = here._system.run_here
    for line in lines:
        assert typed(apart, line) == typed(here, line)
        twin = TerminalMachine.restore(apart.structured_state())
        assert twin.state() == apart.state() == here.state()


def test_a_function_with_the_name_of_a_command_runs_nothing_while_nobody_types() -> None:
    machine = TerminalMachine.start(STATE, 0)
    typed(machine, "touch a.txt; sleep 100; touch() { echo run >> ran; ./r; }; cd() { touch; }")
    typed(machine, "command touch b.txt")
    for _ in range(3):
        machine = machine.fork()
        assert "ran" not in " ".join(machine.state())


@pytest.mark.parametrize("kind", FEW)
def test_the_terminal_of_a_desktop_stays(kind: str) -> None:
    machine = DesktopMachine.start({}, 0)
    machine.act("subprocess.Popen(['gnome-terminal'])")
    machine.act(f"pyautogui.write({LINES[kind]!r}); pyautogui.press('enter')")
    shown = machine.act("pyautogui.write('echo $((6 * 7))'); pyautogui.press('enter')")
    assert "42" in shown


@pytest.mark.parametrize("kind", FEW)
def test_a_repository_stays(kind: str) -> None:
    machine = SweEngine("monty").start({"files": {"/repo/a.py": "print(6 * 7)\n"}}, 0)

    def run(command: str) -> str:
        return machine.act({"name": "run_shell_command", "arguments": {"command": command}})

    run("echo kept > b.txt")
    before = machine.state()
    try:
        assert "Signal: (none)" not in run(LINES[kind]) or "Error: (none)" not in machine.observation
    except LineLost:
        assert machine.state() == before
    assert "kept\n42" in run("cat b.txt; python a.py")


def test_a_repository_does_apart_what_it_does_here() -> None:
    machine = SweEngine("monty").start({"files": {"/repo/a.py": "print(6 * 7)\n"}}, 0)
    lines = "echo made > b.txt; git add b.txt; git commit -qm made; python a.py; sleep 2 & git log --oneline; ls -l"
    twin = machine.fork()
    here, apart = (
        one.act({"name": "run_shell_command", "arguments": {"command": command}})
        for one, command in ((machine, lines), (twin, f"eval {lines!r}"))
    )
    assert here.partition("Output:")[2].partition("Error:")[0] == apart.partition("Output:")[2].partition("Error:")[0]
    files = [{k: v for k, v in one.state().items() if "processes" not in k} for one in (machine, twin)]
    assert files[0] == files[1]


def test_the_view_of_a_language_world_stays() -> None:
    shown = TerminalMachine.start(STATE, 0).visible_state()
    line = CommandLine((), "find . -printf '%99999999999999999999p' | xargs env env env -- ls")
    assert printed(shown, line) is None or "MemoryError" not in printed(shown, line).screen


def test_one_of_a_wave_of_64_fails_and_63_go_on() -> None:
    runner: EpisodeRunner = EnvOptions(spec="terminal", judge="none").runner()
    episodes = [episode for episode, _, _ in runner.start(list(range(64)), {})]
    deadly = "w=%99999999999999999999p; find . -printf $w"
    told = runner.advance(episodes, [deadly if n == 40 else f"echo {n}" for n in range(64)])
    assert [n for n, one in enumerate(told) if "failure" in one.info] == [40]
    assert told[40].info["failure"]["kind"] == "engine"
    assert all(told[n].observation.split("\n")[1] == str(n) for n in range(64) if n != 40)
    runner.close()


def asked(script: str) -> bool:
    try:
        return is_safe_script(f"{script}\n", parse(f"{script}\n"))
    except (Incomplete, TooDeep, Unexpected):
        return False


@pytest.mark.parametrize("kind", LINES)
def test_no_deadly_line_counts_as_harmless(kind: str) -> None:
    script = LINES[kind]
    assert not asked(script) or "+1" in script


MORE = r"""
((./r); ls)
echo $((r) | (r))
[[ a ; ./r ]]
SHOPT_x=1; read PS4 < f; ls
echo ${x@P}
ls() { ./r; }; ls
alias ls=./r
$x
"l"s
/bin/ls
awk -f p
awk "$x"
awk -v a=$x '{print}'
awk '{print | "sh"}'
find $x
[ $x ]
find . -ok ls
find . -exec sh -c ls \;
find . -exec "$x" \;
xargs $x
xargs sh
xargs -I % sh -c %
trap ls EXIT
jq -n 'def f: f; f'
jq 'reduce .[] as $x (0; [.])'
xxd -c $n f
echo `r`
cat <(r)
tee >(r)
[ {!,!}{,}{,} 1 ]
. r
coproc ls
exec ls
command ls
builtin cd
time time time time ls
"""


@pytest.mark.parametrize("script", [*MORE.strip().split("\n"), "echo $(echo # )\n./r)", "cat << $x\n./r\n$x"])
def test_what_may_run_anything_else_is_not_harmless(script: str) -> None:
    assert not asked(script)


USUAL = r"""
ls -la | head -3
for f in *; do wc -l $f; done
mkdir -p a/b && cd a
find . -name '*.txt' -exec grep -c x {} +
awk -F, '{s += $2} END {print s}' a.txt
x=$(pwd); echo "$x" $((3 * (4 + 1)))
if [ -f "$x/a.txt" ]; then sed -i s/x/y/ a.txt; fi
[[ -d a ]] || echo none
jq '.a[] | select(.b > 1)' a.txt
ls *.txt | xargs -n 1 wc -l
exit
"""


def test_usual_lines_are_harmless_and_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(shell, "run_isolated")
    machine = TerminalMachine.start(STATE, 0)
    for line in [*USUAL.strip().split("\n"), "cat << E > b.txt\n$x\nE"]:
        typed(machine, line)
        machine = machine.fork()


@pytest.fixture
def slow_starts(monkeypatch: pytest.MonkeyPatch) -> list[Disposable]:
    """A clock on which every process takes a minute to be there, and who waited for one."""
    clock, ready, waited = time.monotonic, Disposable._ready, list[Disposable]()

    def late(processes: Disposable) -> object:
        worker = ready(processes)
        waited.append(processes)
        return worker

    monkeypatch.setattr(Disposable, "_ready", late)
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 60 * len(waited))
    return waited


def test_the_wait_for_a_process_is_no_time_of_what_a_terminal_types(slow_starts: list[Disposable]) -> None:
    machine = TerminalMachine.start({}, 0)
    screen = machine.act([{"keystrokes": "bash -c 'sleep 1; echo one'\necho two\n", "duration": 5}])
    assert screen.split("\n")[1:] == ["one", "dev@box:~$ echo two", "two", "dev@box:~$"]
    assert slow_starts


def test_the_wait_for_a_process_is_no_time_of_what_a_desktop_types(slow_starts: list[Disposable]) -> None:
    machine = DesktopMachine.start({}, 0)
    machine.act("subprocess.Popen(['gnome-terminal'])")
    lines = "f() { echo of $1; }\\nf 1\\nls | xargs -n 1 bash -c 'echo x'\\necho $((6 * 7))\\n"
    assert "42" in machine.act(f'pyautogui.write("{lines}")')
    assert slow_starts


def test_work_may_break_its_process_and_goes_on_in_another_one() -> None:
    lethal = disposable("deadly_work:broken")
    for how, said in (("abort", "SIGABRT"), ("exit", "code 3"), ("hang", "in time"), ("raise", "ValueError: so")):
        with pytest.raises(WorkLost, match=said):
            lethal.call(how, seconds=1.0)
        assert lethal.call("", seconds=10) == "done"


def test_work_is_bounded_in_memory() -> None:
    with pytest.raises(WorkLost, match="memory"):
        disposable("deadly_work:broken").call("greed", seconds=20)


def test_work_of_many_threads_and_of_a_forked_process_is_done() -> None:
    work = disposable("deadly_work:broken")
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(work.call("", 20))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["done"] * 20
    pid = os.fork()
    if not pid:
        os._exit(0 if disposable("deadly_work:broken").call("", 60) == "done" else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert work.call("", 20) == "done"


def test_a_script_that_only_waits_is_run_apart_as_here() -> None:
    entered = EnteredScript("bash -c 'sleep 50'; echo late\n")
    machine = TerminalMachine.start(STATE, 0)
    assert machine.act([{"keystrokes": entered.script, "duration": 10}]).endswith("sleep 50'; echo late")
    assert machine.act([{"keystrokes": "", "duration": 60}]).split("\n")[-2] == "late"
