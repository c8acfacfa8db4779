"""What a process that runs foreign code may not do: memory, files, processes, signals, the network."""

from __future__ import annotations

import ctypes
import os
import resource
import signal

from agentworld_gym.engines.swe.python.inside_sandbox.launcher import no_processes

REFUSED: dict[str, tuple[int, ...]] = {
    "x86_64": (
        *(62, 200, 234, 129, 297, 302),  # signals to others, their limits
        *(141, 142, 144, 203, 251, 314),  # priorities and processors
        *(41, 42, 43, 49, 50, 288),  # sockets
    ),
    "aarch64": (
        *(129, 130, 131, 138, 240, 261),
        *(140, 118, 119, 122, 30, 274),
        *(198, 203, 202, 200, 201, 242),
    ),
}
"""System calls that reach another process or the network, by architecture."""

MAX_FILES = 64


def confine(memory: int) -> None:
    """Confine this process for the rest of its life; it is fed by a socket that is open already.

    Args:
        memory: The bytes of memory that it may take beyond those that it has.
    """
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # It ends with its parent.
    close_to_others()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    for name, value in (
        (resource.RLIMIT_AS, held + memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MAX_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))
    no_processes(REFUSED)


def close_to_others() -> None:
    """Forbid other processes of the same user to look at the memory and the files of this one."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def silence() -> None:
    """Let standard input, output and error lead nowhere."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.close(nowhere)
