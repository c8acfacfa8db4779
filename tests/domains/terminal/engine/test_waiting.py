"""Commands that take virtual time: what a capture shows of them, what a wait brings, and what is typed meanwhile.

The screens are those of a real interactive bash to which the same keys were sent at the same times.
"""

from __future__ import annotations

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.terminal.engine import TerminalMachine
from agentworld_gym.domains.terminal.engine.engine import TerminalEngine

START = "dev@box:~$"


def started(**files: str) -> TerminalMachine:
    return TerminalMachine.start({"files": {f"/home/dev/{name}": text for name, text in files.items()}}, 0)


def after(machine: TerminalMachine, keystrokes: str, duration: float = 1.0) -> str:
    return machine.act([{"keystrokes": keystrokes, "duration": duration}])


def test_a_capture_before_the_end_has_no_prompt_and_a_wait_repeats_the_line() -> None:
    machine = started()
    assert after(machine, "sleep 9\n") == f"{START} sleep 9"
    assert after(machine, "", 5.0) == f"{START} sleep 9"
    assert after(machine, "", 3.0) == f"{START} sleep 9\n{START}"
    assert after(machine, "date +%T\n") == f"{START} date +%T\n09:00:09\n{START}"


def test_a_command_that_ends_in_time_is_finished() -> None:
    machine = started()
    assert after(machine, "sleep 1; echo a\n") == f"{START} sleep 1; echo a\na\n{START}"
    assert after(machine, "sleep 2\nsleep 3\n", 5.0) == f"{START} sleep 2\n{START} sleep 3\n{START}"


def test_output_and_effects_come_when_their_time_has_come() -> None:
    machine = started()
    entered = f"{START} for i in 1 2 3; do echo $i | tee -a log; sleep 2; done; pwd"
    assert after(machine, "for i in 1 2 3; do echo $i | tee -a log; sleep 2; done; pwd\n") == f"{entered}\n1"
    assert machine.files()["/home/dev/log"] == "1\n"
    assert after(machine, "", 2.0) == f"{entered}\n1\n2"
    assert machine.files()["/home/dev/log"] == "1\n2\n"
    assert after(machine, "", 60.0) == f"{entered}\n1\n2\n3\n/home/dev\n{START}"
    assert machine.files()["/home/dev/log"] == "1\n2\n3\n"


def test_an_interrupt_leaves_nothing_of_what_was_not_yet_run() -> None:
    machine = started()
    after(machine, "mkdir d; cd d; (cd /; sleep 9; echo no) && touch never\n")
    assert after(machine, "C-c").endswith(f"touch never\n^C\n{START[:-1]}/d$")
    assert after(machine, "echo $?; ls\n").split("\n")[1:-1] == ["130"]
    assert after(machine, "", 60.0) == f"{START[:-1]}/d$"


def test_lines_typed_ahead_are_shown_and_run_after_the_end() -> None:
    machine = started()
    after(machine, "sleep 9\n")
    assert after(machine, "echo b\nech") == f"{START} sleep 9\necho b\nech"
    assert after(machine, "", 9.0) == f"{START} sleep 9\necho b\nech{START} echo b\nb\n{START} ech"
    assert after(machine, "o c\n") == f"{START} echo c\nc\n{START}"


def test_keys_that_arrive_together_with_a_command_are_shown_when_the_shell_reads_them() -> None:
    machine = started()
    assert after(machine, "sleep 2; echo a\necho b\n") == f"{START} sleep 2; echo a"
    assert after(machine, "") == f"{START} sleep 2; echo a\na\n{START} echo b\nb\n{START}"


def test_a_line_typed_ahead_may_sleep_too() -> None:
    machine = started()
    after(machine, "sleep 2\nsleep 3\necho c\n")
    assert after(machine, "", 2.0) == f"{START} sleep 2\n{START} sleep 3"
    assert after(machine, "", 3.0) == f"{START} sleep 3\n{START} echo c\nc\n{START}"


def test_an_interrupt_forgets_what_was_typed_ahead() -> None:
    machine = started()
    after(machine, "sleep 9\n")
    after(machine, "touch never\n")
    assert after(machine, "C-c") == f"{START} sleep 9\ntouch never\n^C\n{START}"
    assert after(machine, "ls\n", 20.0) == f"{START} ls\n{START}"


def test_a_text_typed_over_a_stopped_program_does_not_stand_on_the_line() -> None:
    machine = started()
    after(machine, "sleep 9\n")
    after(machine, "ab")
    assert after(machine, "C-z").endswith(f"Stopped\n{START}")
    assert after(machine, "pwd\n") == f"{START} pwd\n/home/dev\n{START}"


def test_a_batch_waits_between_its_entries() -> None:
    batch = [{"keystrokes": "sleep 5; echo a\n", "duration": 2.0}, {"keystrokes": "", "duration": 3.0}]
    assert started().act(batch) == f"{START} sleep 5; echo a\na\n{START}"


def test_scripts_and_functions_sleep_as_well() -> None:
    machine = started(**{"s.sh": "echo one\nsleep 5\necho two\n"})
    assert after(machine, "bash s.sh\n") == f"{START} bash s.sh\none"
    assert after(machine, "", 5.0) == f"{START} bash s.sh\none\ntwo\n{START}"
    after(machine, "f() { sleep $1; echo slept; }\n")
    assert after(machine, "f 4\n") == f"{START} f 4"
    assert after(machine, "", 4.0) == f"{START} f 4\nslept\n{START}"


def test_a_job_in_the_background_does_not_hold_the_screen() -> None:
    assert after(started(), "sleep 9 &\n").endswith(f"\n{START}")


def test_a_loop_that_waits_for_ever_is_interrupted() -> None:
    machine = started()
    waiting = f"{START} until [ -f done ]; do sleep 1; done"
    assert after(machine, "until [ -f done ]; do sleep 1; done\n") == waiting
    assert after(machine, "", 30.0) == waiting
    assert after(machine, "C-c") == f"{waiting}\n^C\n{START}"


def test_copies_of_a_sleeping_terminal_are_exact_and_independent() -> None:
    machine = started()
    after(machine, "echo $RANDOM > drawn; sleep 5; echo $RANDOM | tee -a drawn; date\n")
    twin, other = machine.fork(), machine.fork()
    assert after(other, "C-c") == f"{machine.observation}\n^C\n{START}"
    machine.close()
    shown = after(twin.fork(), "", 5.0)
    assert shown == after(twin, "", 5.0)
    assert shown.endswith(f"Mon Mar  2 09:00:05 UTC 2026\n{START}")
    assert len(twin.files()["/home/dev/drawn"].split()) == 2
    assert len(other.files()["/home/dev/drawn"].split()) == 1


def test_a_probe_reads_the_files_as_they_are_and_not_as_they_will_be() -> None:
    machine = started()
    after(machine, "echo a > x; sleep 9; echo b > x\n")
    assert after(machine.probe(), "cat x\n").split("\n")[1] == "a"


def test_controls_leave_a_sleeping_command_as_it_is() -> None:
    for control in ("slow-service", "truncated-output", "partial-failure", "stale-data"):
        machine = TerminalEngine().start({}, 0, Controls({control: 1.0}))
        assert machine.act([{"keystrokes": "seq 9 > n; sleep 5\n"}]) == f"{START} seq 9 > n; sleep 5"
        assert machine.act([{"keystrokes": "", "duration": 5.0}]) == f"{START} seq 9 > n; sleep 5\n{START}"
        machine.close()


def test_an_interval_may_be_any_number_that_c_reads() -> None:
    machine = started()
    for interval, seconds in (("1e1", 10.0), ("0x10", 16.0), (".5e1s", 5.0), ("+1", 1.0)):
        assert after(machine, f"sleep {interval}\n", seconds - 0.5) == f"{START} sleep {interval}"
        assert after(machine, "", 1.0).endswith(f"\n{START}")
    assert after(machine, "sleep 1e9\n", 3600.0) == f"{START} sleep 1e9"
    after(machine, "C-c")
    for interval in ("1e", "e9", "-1", "1y", "0x"):
        said = f"sleep: invalid time interval '{interval}'" if interval != "-1" else "sleep: invalid option -- '1'"
        assert after(machine, f"sleep {interval}\n").splitlines()[1] == said


def test_timeout_ends_a_sleep_when_its_time_is_over() -> None:
    machine = started()
    assert after(machine, "timeout 1 sleep 5; echo $?\n", 0.5) == f"{START} timeout 1 sleep 5; echo $?"
    assert after(machine, "", 1.0) == f"{START} timeout 1 sleep 5; echo $?\n124\n{START}"
    assert after(machine, "date +%T\n").splitlines()[1] == "09:00:01"
    assert after(machine, "timeout 9 sleep 1 && echo slept\n", 2.0).splitlines()[1] == "slept"
    assert after(machine, "timeout -s KILL 1 sleep 5; echo $?\n", 2.0).splitlines()[1] == "137"
    assert after(machine, "timeout 0 sleep 2; echo $?\n", 3.0).splitlines()[1] == "0"
    assert after(machine, "timeout 1s sleep 1m || echo late\n", 2.0).splitlines()[1] == "late"


def test_timeout_and_sleep_refuse_what_is_no_interval() -> None:
    machine = started()
    assert after(machine, "timeout x sleep 5; echo $?\n").splitlines()[1::2] == [
        "timeout: invalid time interval 'x'",
        "125",
    ]
    assert after(machine, "timeout 5 sleep x; echo $?\n").splitlines()[1::2] == [
        "sleep: invalid time interval 'x'",
        "1",
    ]
