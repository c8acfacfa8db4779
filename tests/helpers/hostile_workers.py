"""Functions for processes apart that answer as one may that was taken over by the line it runs.

What a command or a line names behind `#` is the way in which the process answers.
"""

from __future__ import annotations

import base64
import os
import pickle
import re
import socket
import stat
from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domains.swe.engine import shell as repository
from agentworld_gym.domains.terminal.engine import shell as terminal


class Payload:
    """What makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def payload(path: str) -> str:
    """A pickle that makes a folder where it is unpickled, in base 64."""
    return base64.b64encode(pickle.dumps(Payload(path))).decode()


def _connection() -> socket.socket:
    """The socket on which the answer of this process is waited for."""
    files = [int(name) for name in os.listdir("/proc/self/fd")]
    for file in files:
        try:
            if file > 2 and stat.S_ISSOCK(os.fstat(file).st_mode):
                return socket.socket(fileno=os.dup(file))
        except OSError:
            continue
    raise LookupError("no socket")


def raw(data: bytes, size: int | None = None) -> None:
    """Write bytes as the answer, whose length may be said to be another one."""
    with _connection() as connection:
        connection.sendall((len(data) if size is None else size).to_bytes(8, "big") + data)


RAW: Mapping[str, Callable[[], None]] = {
    "garbage": lambda: raw(b"\x80\x04\x95garbage"),
    "deep": lambda: raw(b"[" * 1_000_000),
    "digits": lambda: raw(b"9" * 1_000_000),
    "a list": lambda: raw(b"[]"),
    "no memory": lambda: raw(b'{"returned": {}}'),
    "nothing returned": lambda: raw(b'{"memory": 5}'),
    "memory in words": lambda: raw(b'{"memory": "much", "returned": {}}'),
    "endless": lambda: raw(b"[", 1 << 60),
    "half": lambda: (raw(b"{", 100), os._exit(0))[0],
}
"""Ways to write what is no answer at all."""


def work(way: str) -> Any:
    """Answer in a way of `RAW`, or return what was asked."""
    if way in RAW:
        RAW[way]()
    return way


def _told(text: str) -> str:
    found = re.search(r"# (.*)", text)
    return found[1] if found else ""


def in_repository(job: Mapping[str, Any]) -> Any:
    """Answer a command of a repository."""
    way = _told(job["given"]["command"])
    if way.startswith("pickle "):
        packed = payload(way.removeprefix("pickle "))
        return {"episode": packed, "outcome": {"command": "", "output": "owned"}}
    work(way)
    return repository.done(job)


def in_terminal(job: Mapping[str, Any]) -> Any:
    """Answer a line of a terminal."""
    way = _told(job["entered"]["script"]) if "entered" in job else ""
    work(way)
    return terminal.done(job)
