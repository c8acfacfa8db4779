"""Seal a process: from a moment on the kernel kills it at the first system call that would touch the host.

Used by `host_safety.py` as the proof that an engine opens no file and makes no process and no socket, whatever it is
given. It works on Linux, on x86-64 and 64-bit ARM, without rights of any kind.
"""

from __future__ import annotations

import ctypes
import faulthandler
import platform
import signal
import struct
import sys

PR_SET_NO_NEW_PRIVS, SET_FILTER, ALL_THREADS = 38, 1, 1
SECCOMP = {"x86_64": 317, "aarch64": 277}
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x00030000, 0x00050000
ENOSYS = 38
LOAD, JUMP_IF_EQUAL, JUMP_IF_SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
THREAD = 0x00010000
"""The flag of `clone` that makes a thread of this process instead of another one."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FORBIDDEN = {
    "x86_64": {
        "open": 2, "openat": 257, "openat2": 437, "creat": 85, "unlink": 87, "unlinkat": 263, "rename": 82,
        "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258, "rmdir": 84, "link": 86, "linkat": 265,
        "symlink": 88, "symlinkat": 266, "chmod": 90, "fchmodat": 268, "chown": 92, "truncate": 76, "mknod": 133,
        "socket": 41, "socketpair": 53, "connect": 42, "bind": 49, "fork": 57, "vfork": 58, "execve": 59,
        "execveat": 322, "kill": 62, "tkill": 200, "ptrace": 101, "mount": 165, "chdir": 80, "chroot": 161,
    },
    "aarch64": {
        "openat": 56, "openat2": 437, "unlinkat": 35, "renameat": 38, "renameat2": 276, "mkdirat": 34, "linkat": 37,
        "symlinkat": 36, "fchmodat": 53, "truncate": 45, "mknodat": 33, "socket": 198, "socketpair": 199,
        "connect": 203, "bind": 200, "execve": 221, "execveat": 281, "kill": 129, "tkill": 130, "ptrace": 117,
        "mount": 40, "chdir": 49, "chroot": 51,
    },
}  # fmt: skip
CLONE = {"x86_64": (56, 435), "aarch64": (220, 435)}
"""`clone`, and `clone3`, whose flags a filter cannot see: it is answered as unknown, and callers take `clone`."""


def possible() -> bool:
    """Whether this machine can seal a process."""
    return sys.platform == "linux" and platform.machine() in ARCHITECTURES


def seal(except_for: frozenset[str] = frozenset()) -> None:
    """From here on any system call that touches files, processes or sockets kills this process; it cannot be undone.

    The process dies of SIGSYS, and Python's stack is on its standard error.

    Raises:
        OSError: the kernel refuses.
    """
    faulthandler.register(signal.SIGSYS, chain=True)
    machine = platform.machine()
    forbidden = [number for name, number in FORBIDDEN[machine].items() if name not in except_for]
    clone, clone3 = CLONE[machine]
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    for number in forbidden:
        program += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, KILL)]
    program += [(JUMP_IF_EQUAL, 0, 1, clone3), (RETURN, 0, 0, ERRNO | ENOSYS)]
    if "clone" not in except_for:
        program += [
            (JUMP_IF_EQUAL, 0, 3, clone),
            (LOAD, 0, 0, FIRST_ARGUMENT),
            (JUMP_IF_SET, 1, 0, THREAD),
            (RETURN, 0, 0, KILL),
        ]
    program.append((RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    head = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(code)))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or library.syscall(
        SECCOMP[machine], SET_FILTER, ALL_THREADS, head
    ):
        raise OSError(ctypes.get_errno(), "the kernel refuses to seal the process")
