"""What a command of a live system can reach: attacks from inside its sandbox."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.kit.live import Confinement, LiveConfig, LiveLimits
from agentworld_gym.kit.live.process_watch import family_of, process_watch

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("bwrap") is None, reason="needs bubblewrap"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("sesame")
    return tmp_path


def said(folder: Path, script: str, **keys: object) -> str:
    """What a script of a shell prints in the sandbox."""
    with Confinement(LiveConfig.model_validate(keys), "my.yaml", folder) as confinement:
        command = confinement.command(["sh", "-c", script])
        done = subprocess.run(
            command, env=confinement.environment(), capture_output=True, text=True, timeout=30, check=False
        )
    return done.stdout + done.stderr


def test_files_variables_and_processes_of_this_machine_are_not_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTWORLD_KEY", "sesame-key")
    tried = (
        f"cat {folder}/secret /etc/shadow {Path.home()}/.profile; cat /proc/*/environ; env; ls /proc /home /root /var"
    )
    shown = said(folder, tried)
    assert "sesame" not in shown and "root:$" not in shown
    numbers = [int(word) for word in shown.split() if word.isdigit()]
    assert len(numbers) < 10 and os.getpid() not in numbers


def test_nothing_of_the_system_can_be_written_and_no_rights_can_be_won(folder: Path) -> None:
    tried = [
        "touch /usr/x",
        "touch /etc/x",
        "touch /x",
        "echo 1 > /proc/sys/kernel/panic",
        "mount -t tmpfs none /mnt",
        "unshare -U true",
        "chroot / true",
    ]
    shown = said(folder, "; ".join(f"{one} 2>/dev/null && echo done {one}" for one in tried))
    assert "done" not in shown


def test_home_and_temporary_files_are_private_and_bounded(folder: Path) -> None:
    script = "echo $HOME; touch ~/a /tmp/b && echo made; head -c 3000000 /dev/zero > /tmp/c; ls -s /tmp/c; ls ~ /tmp"
    shown = said(folder, script, limits={"disk_mb": 1})
    assert shown.startswith("/home/user\nmade\n") and "3000" not in shown
    assert not Path("/tmp/b").exists()


def test_there_is_no_network_unless_a_key_says_so(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"timeout 2 bash -c '</dev/tcp/127.0.0.1/{port}' 2>/dev/null && echo reached"
        assert said(folder, script) == ""
        assert said(folder, script, network=True) == "reached\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_keys_that_the_kernel_keeps_for_whoever_started_a_command_are_out_of_reach(folder: Path) -> None:
    numbers = {"keyctl": 250, "add_key": 248, "bpf": 321, "io_uring_setup": 425}
    script = "import ctypes as c; l = c.CDLL(None, use_errno=True); print(l.syscall(NUMBER, 0, -3, 0), c.get_errno())"
    for name, number in numbers.items():
        shown = said(folder, f"python3 -c '{script.replace('NUMBER', str(number))}'")
        assert shown == f"-1 {errno.ENOSYS if name == 'io_uring_setup' else errno.EPERM}\n", name


def test_a_folder_is_read_where_a_key_names_it_and_never_written(folder: Path) -> None:
    assert said(folder, f"cat {folder}/secret; touch {folder}/x 2>/dev/null && echo wrote", read=["."]) == "sesame"
    with pytest.raises(SpecError, match="read"):
        Confinement(LiveConfig(read=("gone",)), "my.yaml", folder)
    with pytest.raises(SpecError, match="network"):
        Confinement(LiveConfig(network=("example.org",)), "my.yaml", folder)


def test_programs_and_files_are_named_as_at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of a virtual environment by its name, and a script by that of the file beside the configuration."""
    program = folder / "bin" / "watering"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ncat $1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with Confinement(LiveConfig(), "my.yaml", folder) as confinement:
        confinement.show(["watering", "secret"])
        line = confinement.command(["watering", "secret"])
        assert subprocess.run(line, env=confinement.environment(), capture_output=True, timeout=30).stdout == b"sesame"


def test_a_command_shows_the_installation_of_its_program_and_the_files_that_it_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder / "home"
    installed, linked = home / "tools" / "watering", home / ".local" / "bin" / "watering"
    for place in (installed / "bin", installed / "lib", linked.parent):
        place.mkdir(parents=True)
    (installed / "lib" / "words").write_text("from its folder")
    (installed / "bin" / "watering").write_text(
        f"#!/bin/sh\ncat {installed}/lib/words\ncat {installed}/keys\nls {home} {folder}\n"
    )
    (installed / "bin" / "watering").chmod(0o755)
    (installed / "keys").write_text("sesame")
    (home / "diary").write_text("mine")
    linked.symlink_to(installed / "bin" / "watering")
    monkeypatch.setenv("HOME", str(home))
    for program in (installed / "bin" / "watering", linked):
        with Confinement(LiveConfig(), "my.yaml", folder) as confinement:
            confinement.show([str(program), "secret"])
            line = confinement.command([str(program)])
            shown = subprocess.run(line, env=confinement.environment(), capture_output=True, timeout=30, text=True)
            assert shown.stdout.startswith("from its folder")
            assert "secret" in shown.stdout and "diary" not in shown.stdout and "sesame" not in shown.stdout


def test_a_script_of_a_virtual_environment_runs_though_its_python_lies_elsewhere(folder: Path) -> None:
    python, made = folder / "pythons" / "3.11" / "bin" / "python3.11", folder / "made" / "bin"
    python.parent.mkdir(parents=True)
    made.mkdir(parents=True)
    python.write_text('#!/bin/sh\nexec cat "$@"\n')
    python.chmod(0o755)
    (made / "python").symlink_to(python)
    (made.parent / "pyvenv.cfg").touch()
    (made / "watering").write_text(f"#!/bin/sh\nexec {made}/python $1\n")
    (made / "watering").chmod(0o755)
    with Confinement(LiveConfig(), "my.yaml", folder) as confinement:
        confinement.show(["made/bin/watering", "secret"])
        line = confinement.command(["made/bin/watering", "secret"])
        assert subprocess.run(line, env=confinement.environment(), capture_output=True, timeout=30).stdout == b"sesame"


def test_a_program_that_lies_among_what_a_home_holds_needs_a_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / ".local" / "bin" / "watering"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    with (
        Confinement(LiveConfig(), "my.yaml", folder) as confinement,
        pytest.raises(SpecError, match=r"command: got .*, expected .*read: "),
    ):
        confinement.show([str(program)])


def test_a_program_that_is_missing_is_named_with_how_it_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentworld_gym.kit.live.confinement.PATH", "/nowhere")
    monkeypatch.setenv("PATH", str(folder))
    with Confinement(LiveConfig(trusted=True), "my.yaml", folder) as confinement:
        with pytest.raises(SpecError, match=r"'node', expected a program that is installed here: apt install nodejs"):
            confinement.show(["node", "server.js"])
        with pytest.raises(WorldNotConfigured, match=r"ScienceWorld needs java: apt install default-jre-headless"):
            confinement.require("java", "ScienceWorld")


@pytest.mark.parametrize("trusted", [False, True])
def test_a_script_that_is_not_there_is_named_before_anything_starts(folder: Path, trusted: bool) -> None:
    with Confinement(LiveConfig(trusted=trusted), "my.yaml", folder) as confinement:
        with pytest.raises(SpecError, match=r"my\.yaml: command: got 'sevrer\.py', expected a script that is there"):
            confinement.show(["python3", "-u", "sevrer.py", "--quick"])
        (folder / "server.py").touch()
        confinement.show(["python3", "-u", "server.py", "report.py"])  # Only the script has to be there.
        confinement.show(["sh", "-c", "exec python3 server.py"])


def test_a_file_that_cannot_be_executed_is_told_from_one_that_is_missing(folder: Path) -> None:
    (folder / "server.py").touch()
    expected = pytest.raises(SpecError, match=r"'\./server\.py', expected .* chmod \+x")
    with Confinement(LiveConfig(trusted=True), "my.yaml", folder) as confinement, expected:
        confinement.show(["./server.py"])


def test_one_folder_needs_no_list() -> None:
    assert LiveConfig.model_validate({"read": "venv"}).read == ("venv",)


IN_MEMORY = (
    "import os, time; f = os.memfd_create(str()); [os.write(f, bytes(1 << 20)) for _ in range(200)]; time.sleep(30)"
)
"""A program that fills a file which lies in memory and has no name."""


@pytest.fixture
def running(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that are ended after the test."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for one in started:
        one.kill()
        one.wait()


@pytest.mark.parametrize(
    ("script", "limits", "broken"),
    [
        ("for i in $(seq 40); do sleep 30 & done; wait", LiveLimits(processes=16), "processes"),
        ("x=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 30", LiveLimits(memory_mb=64), "MiB"),
        (f"exec python3 -c '{IN_MEMORY}'", LiveLimits(memory_mb=64), "MiB"),
    ],
    ids=["processes", "memory", "files in memory"],
)
def test_a_command_that_takes_too_much_is_ended_with_all_that_it_started(
    folder: Path, running: list[subprocess.Popen[bytes]], script: str, limits: LiveLimits, broken: str
) -> None:
    with Confinement(LiveConfig(limits=limits), "my.yaml", folder) as confinement:
        process = subprocess.Popen(confinement.command(["bash", "-c", script]), env=confinement.environment())
        running.append(process)
        watched = process_watch().add(process.pid, limits)
        process.wait(20)
        assert broken in watched.broken
        process_watch().remove(watched)


def test_ending_bubblewrap_ends_everything_inside(folder: Path, running: list[subprocess.Popen[bytes]]) -> None:
    with Confinement(LiveConfig(), "my.yaml", folder) as confinement:
        command = confinement.command(["sh", "-c", "sleep 60 & sleep 60"])
        process = subprocess.Popen(command, env=confinement.environment())
        running.append(process)
        until = time.monotonic() + 10
        while len(family := family_of(process.pid)) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        process.wait(10)
        while any(map(runs, family)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(runs, family))


def runs(pid: int) -> bool:
    """Whether a process runs, and does not only wait to be taken note of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
