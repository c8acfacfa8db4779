"""What each control of the terminal shows, and what helps against it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from agentworld_gym.core.engines import Controls, Machine
from agentworld_gym.domains.terminal.engine.engine import TerminalEngine

FILES = {"/home/dev/a": "1\n2\n3\n4\n5\n", "/home/dev/b": "x\n", "/home/dev/d/e": "y\n"}
FAULT = "Resource temporarily unavailable"


@pytest.fixture
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """A terminal under the control that the test names, at full strength."""
    with closing(TerminalEngine().start({"files": FILES}, 0, Controls({request.param: 1.0}))) as terminal:
        yield terminal


def under(control: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("machine", [control], indirect=True)


def shown(machine: Machine, *lines: str) -> list[str]:
    """What the last of some command lines shows, line by line."""
    return [machine.act([{"keystrokes": line + "\n"}]) for line in lines][-1].split("\n")


@under("intermittent-errors")
def test_a_command_that_was_not_run_can_be_tried_again(machine: Machine) -> None:
    assert shown(machine, "rm b") == ["dev@box:~$ rm b", f"bash: fork: {FAULT}", "dev@box:~$"]
    assert "/home/dev/b" in "".join(machine.state())
    assert shown(machine, "rm b") == ["dev@box:~$ rm b", "dev@box:~$"]


@under("permission-denied")
def test_a_protected_file_is_changed_only_after_chmod(machine: Machine) -> None:
    before = machine.state()
    assert shown(machine, "cp a n && echo z >> b")[1:-1] == ["bash: /home/dev/b: Permission denied"]
    assert machine.state() == before
    assert shown(machine, "cat b")[1:-1] == ["x"]
    assert shown(machine, "chmod u+w b", "echo z >> b", "cat b")[1:-1] == ["x", "z"]


@under("permission-denied")
def test_a_protected_file_can_be_moved_and_removed(machine: Machine) -> None:
    assert shown(machine, "mv b c", "rm c", "ls")[1:-1] == ["a  d"]


@under("slow-service")
def test_a_slow_command_holds_the_screen(machine: Machine) -> None:
    assert shown(machine, "ls") == ["dev@box:~$ ls"]
    assert shown(machine, "pwd") == ["dev@box:~$ ls", "pwd"]
    assert machine.act([{"keystrokes": "", "duration": 5.0}]) == "dev@box:~$ ls\npwd\na  b  d\ndev@box:~$"
    assert machine.act([{"keystrokes": ""}]) == "dev@box:~$"


@under("slow-service")
def test_an_interrupted_command_gives_the_prompt_back_without_its_output(machine: Machine) -> None:
    assert shown(machine, "cd d") == ["dev@box:~$ cd d"]
    assert machine.act([{"keystrokes": "C-c"}]) == "dev@box:~$ cd d\n^C\ndev@box:~/d$"
    assert shown(machine, "ls") == ["dev@box:~/d$ ls"]


@under("truncated-output")
def test_of_a_long_output_the_end_is_seen(machine: Machine) -> None:
    assert shown(machine, "cat a") == ["3", "4", "5", "dev@box:~$"]
    assert shown(machine, "head -n 3 a") == ["dev@box:~$ head -n 3 a", "1", "2", "3", "dev@box:~$"]


@under("partial-failure")
def test_a_file_written_by_half_is_whole_after_a_second_try(machine: Machine) -> None:
    assert shown(machine, "cp a c")[1:-1] == [f"cp: /home/dev/c: write error: {FAULT}"]
    assert shown(machine, "cat c")[1:-1] == ["1", "2"]
    assert shown(machine, "cp a c")[1:-1] == []
    assert shown(machine, "cat c")[1:-1] == ["1", "2", "3", "4", "5"]


@under("stale-data")
def test_a_reader_sees_an_older_state_until_sync(machine: Machine) -> None:
    assert shown(machine, "echo z >> b", "cat b")[1:-1] == ["x"]
    assert shown(machine, "sync", "cat b")[1:-1] == ["x", "z"]


@under("stale-data")
def test_the_prompt_is_never_stale(machine: Machine) -> None:
    """What is shown of the past must not say that the shell is in another folder than it is."""
    assert shown(machine, "echo z >> b", "cd d")[-1] == "dev@box:~/d$"
    assert shown(machine, "cd ..")[-1] == "dev@box:~$"
    assert shown(machine, "cat b") == ["dev@box:~$ cat b", "x", "dev@box:~$"]


@under("stale-data")
def test_a_closed_copy_leaves_the_older_files_to_its_original(machine: Machine) -> None:
    shown(machine, "echo z > b")
    machine.fork().close()
    assert shown(machine, "cat b") == ["dev@box:~$ cat b", "x", "dev@box:~$"]
