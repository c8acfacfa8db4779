"""What a process that runs foreign code may not do: memory, files, processes, signals, the network, notes to others."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal

from agentworld_gym.domains.mcp.awm.engine.inside.process_copies import MAX_FILES, end_with_parent, rules_of_copies
from agentworld_gym.kit.sandbox.launcher import (
    ANY_BIT,
    EQUAL,
    FORBID,
    GIVE,
    LOAD,
    Line,
    filter_program,
)

REFUSED: dict[str, tuple[int, ...]] = {
    "x86_64": (
        *(62, 200, 234, 129, 297, 302, 424, 434, 440, 448),  # signals to others, their limits and memory
        *(141, 142, 144, 203, 251, 314),  # priorities and processors
        *(41, 42, 43, 49, 50, 288, 53),  # sockets
        *(22, 293, 284, 290, 213, 291, 283, 282, 289),  # pipes, and files that are events, timers or signals
        *(253, 294, 300, 73),  # who looks at a file, and locks
        *(188, 189, 190, 463),  # attributes of files, among them lists of who may write them
    ),
    "aarch64": (
        *(129, 130, 131, 138, 240, 261, 424, 434, 440, 448),
        *(140, 118, 119, 122, 30, 274),
        *(198, 203, 202, 200, 201, 242, 199),
        *(59, 19, 20, 85, 74),
        *(26, 262, 32),
        *(5, 6, 7, 463),
    ),
}
"""System calls that reach another process or the network, that could carry a note to one, or that change who may write
a file, by architecture. Those of `MODES`, which plain code makes when it copies a file, are pretended instead."""

MAPS, CONTROLS = {"x86_64": 9, "aarch64": 222}, {"x86_64": 72, "aarch64": 25}
"""The numbers of `mmap` and of `fcntl`."""

MAP_SHARED = 1
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""The commands of `fcntl` about locks, leases and who looks at a folder. SQLite locks the files of verifiers."""

MODES = {"x86_64": (90, 91, 268, 452), "aarch64": (52, 53, 452)}
"""The system calls that change the mode of a file, by architecture; they do nothing."""

PRETEND = 0x00050000
"""What a filter gives so that a system call does nothing and tells of no error: an error (ERRNO) whose number is 0."""

NEW_LISTENER = 8
SECCOMP = {"x86_64": 317, "aarch64": 277}


def confine(memory: int, copyable: bool = False, writes: int = 0) -> int | None:
    """Confine this process for the rest of its life; it is fed by a socket that is open already.

    Args:
        memory: The bytes of memory that it may take beyond those that it has.
        copyable: Whether another process may let this one be copied; otherwise it may lock files.
        writes: The bytes that it may write into a file, where the sandbox has a folder for it. To change who may write
            what is there already does nothing.

    Returns:
        The file by which the other process does so; None where the kernel knows no such thing. It must be closed here.
    """
    end_with_parent()
    close_to_others()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    for name, value in (
        (resource.RLIMIT_AS, held + memory),
        (resource.RLIMIT_FSIZE, writes),
        (resource.RLIMIT_NOFILE, MAX_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))
    machine = platform.machine()
    rules: list[Line] = [(EQUAL, 0, 4, MAPS[machine]), (LOAD, 0, 0, 40), (ANY_BIT, 0, 1, MAP_SHARED)]
    rules += [(GIVE, 0, 0, FORBID), (LOAD, 0, 0, 0)]
    for call in MODES[machine]:
        rules += [(EQUAL, 0, 1, call), (GIVE, 0, 0, PRETEND)]
    if copyable:
        rules += [(EQUAL, 0, 2 + 2 * len(LOCKS), CONTROLS[machine]), (LOAD, 0, 0, 24)]
        for command in LOCKS:
            rules += [(EQUAL, 0, 1, command), (GIVE, 0, 0, FORBID)]
        rules += [(LOAD, 0, 0, 0), *rules_of_copies()]
    libc = ctypes.CDLL(None, use_errno=True)
    program, _kept = filter_program(REFUSED, rules)
    if libc.prctl(38, 1, 0, 0, 0):
        os._exit(125)
    listener: int = libc.syscall(SECCOMP[machine], 1, NEW_LISTENER, program) if copyable else -1
    if listener < 0 and libc.syscall(SECCOMP[machine], 1, 0, program):
        os._exit(125)
    return None if listener < 0 else listener


def close_to_others() -> None:
    """Forbid other processes of the same user to look at the memory and the files of this one."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def silence() -> None:
    """Let standard input, output and error lead nowhere."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.close(nowhere)
