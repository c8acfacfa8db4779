"""How a process that runs foreign code is copied: it asks, and the first process of the sandbox lets the kernel do it.

The filter of system calls hands two calls to the first process, which holds its listener. By the one, a process is
copied; the copy is a child of the first process. By the other, a copy asks for its socket. What is asked at another
time waits or is refused, so that foreign code starts no process, whatever it does here.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import struct
import time
from collections.abc import Collection
from typing import NamedTuple

from agentworld_gym.kit.sandbox.launcher import EQUAL, GIVE, LOAD, NUMBERS, Line

COPY, ASK = 0x8000 | 17, 0x8000
"""The flags of `clone` of the two calls: a child of one's own parent, which ends with SIGCHLD, and one without."""

MAX_FILES = 64
"""How many files a process may have open."""

NOTIFY = 0x7FC00000
RECEIVE, ANSWER, ADD_FILE = 0xC0502100, 0xC0182101, 0x40182103
"""The requests to a listener: `SECCOMP_IOCTL_NOTIF_RECV`, `..._SEND` and `..._ADDFD`."""

ADD_AND_ANSWER, CONTINUE = 2, 1
NOTICE, REPLY, FILE = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI"), struct.Struct("<QIIII")
PATIENCE = 10.0
"""The seconds that a process has to ask for its copy, and that copy for its socket."""


def end_with_parent() -> None:
    """Let this process end when its parent does."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def rules_of_copies() -> list[Line]:
    """Return the instructions of a filter that hand both calls to the listener; the number of the call is loaded."""
    _, (clone, *_), _ = NUMBERS[platform.machine()]
    rules = [(EQUAL, 0, 5, clone), (LOAD, 0, 0, 16), (EQUAL, 1, 0, COPY), (EQUAL, 0, 1, ASK), (GIVE, 0, 0, NOTIFY)]
    return [*rules, (LOAD, 0, 0, 0)]


class Copier:
    """Copies this process, when the first process of the sandbox lets it."""

    def __init__(self) -> None:
        # Functions that hold the interpreter's lock, as the copy has no other thread to take it from.
        self._syscall = ctypes.PyDLL(None).syscall
        self._clone = NUMBERS[platform.machine()][1][0]
        api = ctypes.pythonapi
        self._before, self._here, self._there = api.PyOS_BeforeFork, api.PyOS_AfterFork_Parent, api.PyOS_AfterFork_Child
        for function in (self._before, self._here, self._there):
            function.argtypes, function.restype = [], None

    def copy(self) -> int | None:
        """Wait to be copied. Return None here, and in the copy the number of its socket, its only open file.

        Raises:
            OSError: It may not be copied.
        """
        self._before()
        pid = self._called(COPY)
        if pid != 0:
            self._here()
            if pid < 0:
                raise OSError(errno.EPERM, "this process may not be copied")
            return None
        self._there()
        number = self._called(ASK)
        if number < 0:
            os._exit(1)
        end_with_parent()
        os.closerange(3, number)
        os.closerange(number + 1, MAX_FILES)
        return number

    def _called(self, flags: int) -> int:
        nothing = ctypes.c_long(0)
        return int(self._syscall(ctypes.c_long(self._clone), ctypes.c_long(flags), *(nothing,) * 4))


class CopyRequest(NamedTuple):
    """A copy that waits for its socket."""

    pid: int
    """Its number."""

    notice: int
    """The number of its call."""


class Listener:
    """Lets the processes of one world be copied, in the first process of the sandbox.

    Args:
        number: The number of the listener of their filter.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._asking: dict[int, int] = {}

    @property
    def usable(self) -> bool:
        """Whether the kernel hands a copy its socket, as Linux does since 5.14; an older one does not know the flag."""
        try:
            fcntl.ioctl(self._number, ADD_FILE, FILE.pack(0, ADD_AND_ANSWER, 0, 0, 0))  # No call has the number 0.
        except OSError as error:
            return error.errno == errno.ENOENT
        return False

    def close(self) -> None:
        """Let nothing be copied from here on."""
        os.close(self._number)

    def let(self, pid: int, file: int, known: Collection[int]) -> int:
        """Let a process be copied and give its copy a file. Return the number of the copy.

        Args:
            pid: The number of the process, which asks for it or is about to.
            file: The number of the file.
            known: The numbers of all processes, so that none of them is taken for the copy.

        Raises:
            OSError: The process, or its copy, did not ask in time.
        """
        until = time.monotonic() + PATIENCE
        while pid not in self._asking:
            self._refuse(self._heard(until))
        self._answer(self._asking.pop(pid), flags=CONTINUE)
        while (asked := self._heard(until)) is None or asked.pid in known or not _is_process(asked.pid):
            self._refuse(asked)
        try:
            fcntl.ioctl(self._number, ADD_FILE, FILE.pack(asked.notice, ADD_AND_ANSWER, file, 0, 0))
        except OSError:
            self._refuse(asked)
            raise
        return asked.pid

    def _heard(self, until: float) -> CopyRequest | None:
        """Return the next call for a socket; None after a call to be copied, which is kept until that is wanted."""
        poll = select.poll()
        poll.register(self._number, select.POLLIN)
        left = until - time.monotonic()  # Somebody may ask without end.
        if left <= 0 or not any(event & select.POLLIN for _, event in poll.poll(left * 1e3)):
            raise TimeoutError("the process does not ask for its copy")
        buffer = bytearray(NOTICE.size)
        try:
            fcntl.ioctl(self._number, RECEIVE, buffer)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # Who asked is gone.
                return None
            raise
        notice, pid, _, _, _, _, flags, *_ = NOTICE.unpack(buffer)
        if flags == COPY:
            self._asking[pid] = notice
            return None
        return CopyRequest(pid, notice)

    def _refuse(self, asked: CopyRequest | None) -> None:
        if asked is not None:
            self._answer(asked.notice, -errno.EPERM)

    def _answer(self, notice: int, error: int = 0, flags: int = 0) -> None:
        try:
            fcntl.ioctl(self._number, ANSWER, REPLY.pack(notice, 0, error, flags))
        except OSError as raised:
            if raised.errno != errno.ENOENT:
                raise


def _is_process(number: int) -> bool:
    """Return whether a number is that of a process, and not of one of its threads."""
    with open(f"/proc/{number}/status", encoding="ascii", errors="replace") as file:
        return any(line.split() == ["Tgid:", str(number)] for line in file)
