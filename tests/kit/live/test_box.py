"""A sandbox that stays: what its commands end by, and what it tells after one was late."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_shells import needs_sandbox

from agentworld_gym.core.engines import SystemLate, SystemLost
from agentworld_gym.domains.swe.live.sandbox_files import SandboxFiles
from agentworld_gym.kit.live import Confinement, LiveConfig
from agentworld_gym.kit.live.box import TIMED_OUT, SandboxBox, run_on_copy
from agentworld_gym.kit.live.config import LiveLimits
from agentworld_gym.kit.live.file_archive import FileArchive


@pytest.fixture(scope="module", autouse=True)
def needed() -> None:
    needs_sandbox()


@pytest.fixture
def box() -> Iterator[SandboxBox]:
    with Confinement(LiveConfig(), "my.yaml", Path.cwd()) as confinement:
        sandbox = SandboxBox(confinement, FileArchive.of({"/home/user/a.txt": "hi"}))
        yield sandbox
        sandbox.close()


def test_a_command_that_takes_too_long_is_told_from_one_that_ends_so_by_itself(box: SandboxBox) -> None:
    assert box.run("sleep 5", seconds=0.3).status == TIMED_OUT
    assert box.run("trap '' TERM; sleep 5; sleep 5", seconds=0.3).status == TIMED_OUT
    assert box.run("timeout 0.1 sleep 2", seconds=5).status == 124


def test_a_check_that_takes_too_much_has_failed() -> None:
    limits = LiveLimits(memory_mb=64)
    with Confinement(LiveConfig(limits=limits), "my.yaml", Path.cwd()) as confinement:
        found = run_on_copy(confinement, FileArchive.of({}), "x=$(head -c 300M /dev/zero | tr '\\0' a)", "/home/user")
    assert not found.passed and "limits.memory_mb is 64" in found.output


def test_a_late_answer_is_never_taken_for_the_next_one(box: SandboxBox) -> None:
    with pytest.raises(SystemLate):
        box._do("sleep 1; echo U1RBTEU= >&$answers; echo 0 >&$answers", 0.2)
    with pytest.raises(SystemLost):
        box.run("echo hi")


def test_tools_read_the_files_of_a_sandbox_and_none_of_the_kernel(box: SandboxBox) -> None:
    files = SandboxFiles(box.first, "/home/user")
    found = files.get("/home/user/a.txt")
    assert found is not None and found.text == "hi"
    assert box.run("ln -s /proc/version /home/user/link").status == 0
    assert [files.get(path) for path in ("/proc/version", "/home/user/link", "/dev/null")] == [None] * 3
