"""The system calls that commands of a live system may not make, as a filter that bubblewrap gives to the kernel.

Most of what a sandbox has to refuse, its lack of rights refuses already. These calls need none: those for the kernel's
keys, which a process inherits from whoever started it, and for parts of the kernel that programs can do without.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping

ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The number of each architecture, for the kernel's audits."""

FORBIDDEN: Mapping[str, tuple[int, ...]] = {
    "x86_64": (248, 249, 250, 321, 298, 323, 272, 308, 304),
    "aarch64": (217, 218, 219, 280, 241, 282, 97, 268, 265),
}
"""add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd, unshare, setns and open_by_handle_at."""

UNKNOWN = (425, 426, 427)
"""The calls of io_uring, which are answered as if the kernel had none: programs then do without."""

_LOAD, _EQUAL, _AT_LEAST, _GIVE = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _NONE = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
"""The call is made, or fails with EPERM or ENOSYS."""

_X32 = 0x40000000


def filter_of(machine: str | None = None) -> bytes:
    """Return the filter as `bwrap --seccomp` reads it; one that allows all for an architecture that is not known here.

    >>> len(filter_of("x86_64")) % 8, len(filter_of("riscv64"))
    (0, 8)
    """
    machine = platform.machine() if machine is None else machine
    if machine not in ARCHITECTURES:
        return struct.pack("<HBBI", _GIVE, 0, 0, _ALLOW)
    # Calls of another architecture, such as those of 32-bit programs, have other numbers.
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, ARCHITECTURES[machine]), (_GIVE, 0, 0, _NONE), (_LOAD, 0, 0, 0)]
    lines += [(_AT_LEAST, 0, 1, _X32), (_GIVE, 0, 0, _NONE)] if machine == "x86_64" else []
    for numbers, answer in ((FORBIDDEN[machine], _REFUSE), (UNKNOWN, _NONE)):
        for number in numbers:
            lines += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, answer)]
    lines.append((_GIVE, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
