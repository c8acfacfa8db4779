"""The first process in a bubblewrap sandbox: it lays out files, runs a program under limits, and reports the result.

It reads one JSON object on standard input and writes one to standard output. The program itself runs as a child that
may start no process of its own. This file runs inside sandboxes alone; no host imports it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any

NUMBERS = {"x86_64": (0xC000003E, (56, 57, 58), 435), "aarch64": (0xC00000B7, (220,), 435)}
"""The audit number of each architecture, the system calls that make processes, and `clone3`."""
REFUSED = {
    "x86_64": (
        *(272, 308, 165, 166, 155, 161),  # unshare, setns, mount, umount2, pivot_root, chroot
        *(428, 429, 430, 431, 432, 433, 442),  # the mount calls of the newer kind
        *(29, 30, 31, 67, 64, 65, 66, 220, 68, 69, 70, 71, 240),  # shared memory, semaphores, queues
        *(319, 447, 425, 426, 427, 323),  # files in memory, io_uring, userfaultfd
        *(101, 310, 311, 312, 438, 303, 304),  # other processes, files by their handles
        *(248, 249, 250, 321, 298, 246, 320, 175, 313, 176),  # keys, bpf, perf, kexec, modules
        *(188, 189, 190, 463),  # extended attributes of files
        *(253, 294, 300, 444, 445, 446, 317, 206),  # who looks at a file, rules of landlock and seccomp, aio
        *(278, 103),  # pages lent to a pipe, the messages of the kernel
    ),
    "aarch64": (
        *(97, 268, 40, 39, 41, 51),
        *(428, 429, 430, 431, 432, 433, 442),
        *(194, 195, 196, 197, 190, 191, 192, 193, 186, 187, 188, 189, 180),
        *(279, 447, 425, 426, 427, 282),
        *(117, 270, 271, 272, 438, 264, 265),
        *(217, 218, 219, 280, 241, 104, 294, 105, 273, 106),
        *(5, 6, 7, 463),
        *(26, 262, 444, 445, 446, 277, 0),
        *(75, 116),
    ),
}
"""System calls that no program here needs: namespaces, mounts, memory that no limit counts, other processes."""
SOCKETS = {"x86_64": (41, 53), "aarch64": (198, 199)}
"""The numbers of `socket` and `socketpair`, by architecture."""
FAMILIES = (1, 2, 10)
"""The families of sockets that there are: those of files, and IPv4 and IPv6, which reach this sandbox alone."""
SET_OPTION, CONTROL = {"x86_64": 54, "aarch64": 208}, {"x86_64": 157, "aarch64": 167}
"""The numbers of `setsockopt` and of `prctl`."""
BUFFERS = (7, 8, 32, 33)
"""The options SO_SNDBUF, SO_RCVBUF and those that go beyond the limits of the system."""
SET_FILTER = 22
"""The operation of `prctl` that adds a filter of system calls."""
LOOK = 0.05
ENTRY_BYTES = 8192
"""What a file, folder or link counts besides its content. Linux takes up to 1.7 KiB; more keeps their number small."""
THREAD_BYTES = 262144
"""What a thread counts besides its stack. Linux takes some 28 KiB; more keeps their number small between two looks."""
SIGNALS = 1024
"""How many signals may wait, and how many timers there may be."""
X32 = 0x40000000
CLONE_THREAD = 0x00010000
ADDR_NO_RANDOMIZE = 0x0040000


Line = tuple[int, int, int, int]
"""One instruction of a filter of system calls: code, jump if true, jump if false, operand."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, AGAIN, UNKNOWN, FORBID = 0x7FFF0000, 0x00050000 | 11, 0x00050000 | 38, 0x00050000 | 1
NO_FAMILY, PRETEND = 0x00050000 | 97, 0x00050000
"""What a filter gives: the call is made, fails with EAGAIN, ENOSYS, EPERM or EAFNOSUPPORT, or is said to be made."""


def no_processes() -> None:
    """Forbid this process to start processes (threads are allowed) and to use the system calls in `REFUSED`."""
    libc = ctypes.CDLL(None, use_errno=True)
    program, _kept = filter_program(rules=rules_of_sockets())
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        os._exit(125)


def rules_of_sockets() -> list[Line]:
    """Return the instructions for a program that has sockets; the number of the call is loaded.

    There are no families but `FAMILIES`, and buffers keep the size that they have.
    """
    one, pair = SOCKETS[platform.machine()]
    lines = [(EQUAL, 1, 0, one), (EQUAL, 0, 3 + len(FAMILIES), pair), (LOAD, 0, 0, 16)]
    lines += [(EQUAL, len(FAMILIES) - place, 0, family) for place, family in enumerate(FAMILIES)]
    lines += [(GIVE, 0, 0, NO_FAMILY), (LOAD, 0, 0, 0)]
    lines += [(EQUAL, 0, 5 + len(BUFFERS), SET_OPTION[platform.machine()]), (LOAD, 0, 0, 24)]
    lines += [(EQUAL, 0, 2 + len(BUFFERS), 1), (LOAD, 0, 0, 32)]  # The options of all sockets are at the level 1.
    lines += [(EQUAL, len(BUFFERS) - 1 - place, 0, option) for place, option in enumerate(BUFFERS[:-1])]
    lines += [(EQUAL, 0, 1, BUFFERS[-1]), (GIVE, 0, 0, PRETEND), (LOAD, 0, 0, 0)]
    return lines


def filter_program(
    further: dict[str, tuple[int, ...]] | None = None, rules: Sequence[Line] = ()
) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char]]:
    """Return the filter of `no_processes` as the kernel reads it, and the memory that it points to.

    Args:
        further: more system calls to refuse, by architecture.
        rules: instructions that stand before the rule on processes; the number of the call is loaded.
    """
    arch, forks, clone3 = NUMBERS[platform.machine()]
    lines = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, arch), (GIVE, 0, 0, AGAIN), (LOAD, 0, 0, 0)]
    lines += [(AT_LEAST, 0, 1, X32), (GIVE, 0, 0, UNKNOWN)]
    for number in (*REFUSED[platform.machine()], *(further or {}).get(platform.machine(), ())):
        lines += [(EQUAL, 0, 1, number), (GIVE, 0, 0, FORBID)]
    lines += [(EQUAL, 0, 1, clone3), (GIVE, 0, 0, UNKNOWN)]
    for number in forks[1:]:
        lines += [(EQUAL, 0, 1, number), (GIVE, 0, 0, AGAIN)]
    lines += rules
    lines += [(EQUAL, 0, 4, CONTROL[platform.machine()]), (LOAD, 0, 0, 16)]
    lines += [(EQUAL, 0, 1, SET_FILTER), (GIVE, 0, 0, FORBID), (LOAD, 0, 0, 0)]
    # The call clone makes threads too, so its flags decide.
    lines += [(EQUAL, 0, 3, forks[0]), (LOAD, 0, 0, 16), (ANY_BIT, 1, 0, CLONE_THREAD), (GIVE, 0, 0, AGAIN)]
    lines += [(GIVE, 0, 0, ALLOW)]
    code = b"".join(struct.pack("<HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("<HxxxxxxQ", len(lines), ctypes.addressof(buffer))
    return ctypes.create_string_buffer(program, len(program)), buffer


def write_files(files: dict[str, str]) -> None:
    """Lay out the files of the repository."""
    for path, text in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)


def child(job: dict[str, Any], ends: list[int]) -> None:
    """Replace this process by the program."""
    os.setsid()
    for number, end in enumerate(ends):
        os.dup2(end, number)
    os.closerange(3, 256)
    os.chdir(job["cwd"])
    limits = (
        (resource.RLIMIT_AS, job["memory"]),
        (resource.RLIMIT_CPU, int(job["timeout"]) + 2),
        (resource.RLIMIT_FSIZE, job["file_bytes"]),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_SIGPENDING, SIGNALS),
        (resource.RLIMIT_MEMLOCK, 0),
    )
    for name, value in limits:
        resource.setrlimit(name, (value, value))
    no_processes()
    # Addresses, and the order of values hashed by them, are the same in every run where the kernel allows it.
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    os.execve(job["python"], [job["python"], *job["argv"]], job["env"])


def held(pid: int, job: dict[str, Any]) -> int:
    """Return the bytes that the program holds in memory: its own, its threads', its files' and its connections'."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        total = int(file.read().split()[1]) * resource.getpagesize()
    total += os.stat(f"/proc/{pid}/task").st_nlink * THREAD_BYTES
    for folder in job["folders"]:
        told = os.statvfs(folder)
        total += (told.f_blocks - told.f_bfree) * told.f_frsize + (told.f_files - told.f_ffree) * ENTRY_BYTES
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with open(f"/proc/self/net/{name}", encoding="ascii") as file:
            # The fifth column is what waits to be sent and to be read, without what the kernel writes around it.
            queues = [line.split()[4].split(":") for line in list(file)[1:]]
        total += 5 * sum(int(bytes, 16) for queue in queues for bytes in queue) // 4
    return total


def ended(pid: int) -> bool:
    """Return whether the program has ended; it can still be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def watch(pid: int, pipes: dict[int, str], feed: int, text: bytes, job: dict[str, Any]) -> tuple[dict[str, bytes], str]:
    """Feed the program and collect what it prints, until it ends, holds or prints too much, or runs too long.

    Returns:
        What it printed, by the names of `pipes`, and the limit that it broke: `size`, `time` or none.
    """
    kept = {name: b"" for name in pipes.values()}
    end = time.monotonic() + job["timeout"]
    writing = [feed] if text else []
    if not text:
        os.close(feed)
    while pipes or not ended(pid):
        left = end - time.monotonic()
        if left <= 0:
            os.kill(pid, signal.SIGKILL)
            return kept, "time"
        # A program that closed its standard streams is usually about to end.
        readable, writable, _ = select.select(list(pipes), writing, [], min(left, LOOK if pipes else LOOK / 20))
        if held(pid, job) > job["memory"]:
            os.kill(pid, signal.SIGKILL)
            return kept, "size"
        for pipe in writable:
            try:
                text = text[os.write(pipe, text[:4096]) :]
            except BrokenPipeError:
                text = b""
            if not text:
                os.close(pipe)
                writing = []
        for pipe in readable:
            data = os.read(pipe, 65536)
            if data:
                kept[pipes[pipe]] += data
            else:
                os.close(pipe)
                pipes.pop(pipe)
        if sum(map(len, kept.values())) > job["output"]:
            os.kill(pid, signal.SIGKILL)
            return kept, "size"
    return kept, ""


def changes(job: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Return the text files that changed, and the paths of those that were removed."""
    before, size = job["files"], 0
    found: dict[str, str] = {}
    for top in job["tops"]:
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > job["file_bytes"]:
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                size += len(data) + len(path)
                if size > 4 * job["file_bytes"]:
                    return found, []
                try:
                    text = data.decode()
                except UnicodeDecodeError:
                    continue
                if before.get(path) != text:
                    found[path] = text
    return found, [path for path in before if not os.path.exists(path)]


def main() -> None:
    """Run the job of standard input."""
    job = json.load(sys.stdin)
    # A child of the same user must not be able to read this process.
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    write_files({**job["files"], **job["extra"]})
    os.makedirs(job["cwd"], exist_ok=True)
    reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
    pid = os.fork()
    if pid == 0:
        try:
            child(job, [reads[0], writes[1], writes[2]])
        finally:
            os._exit(125)
    for end in (reads[0], writes[1], writes[2]):
        os.close(end)
    pipes = {reads[1]: "stdout", reads[2]: "stderr"}
    kept, broken = watch(pid, pipes, writes[0], job["stdin"].encode("utf-8", "surrogatepass"), job)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if broken == "size":
        # A program that was about to end when it was killed may have a status of its own.
        code = -signal.SIGKILL
    files, removed = changes(job)
    fetched = ""
    if job["fetch"] and os.path.isfile(job["fetch"]):
        with open(job["fetch"], encoding="utf-8", errors="replace") as file:
            fetched = file.read(4 * job["output"])
    told = {name: data[: job["output"]].decode("utf-8", "replace") for name, data in kept.items()}
    # The program's standard output may hold anything; this process's own holds the answer alone.
    answer = {
        **told,
        "code": code,
        "files": files,
        "removed": removed,
        "timed_out": broken == "time",
        "fetched": fetched,
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
