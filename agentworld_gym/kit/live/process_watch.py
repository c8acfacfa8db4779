"""Ends the processes of live systems that take more memory than they may, or make too many others.

Without cgroups, which need an administrator, the kernel has no such limits for a group of processes, so that one thread
looks at all of them several times a second.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from agentworld_gym.base.process.per_process import PerProcess
from agentworld_gym.kit.live.config import LiveLimits

LOOK = 0.25
"""The seconds between two looks."""

GLANCE = 0.02
"""The seconds between two glances at how many processes the machine has."""

JUMP = 32
"""How many more there may be until the next look is due at once: a fork bomb makes a thousand within one look."""

_PAGE = os.sysconf("SC_PAGESIZE")


@dataclass(eq=False)
class Watched:
    """A process that is watched, with all that it started."""

    pid: int
    """The number of the process."""

    limits: LiveLimits
    """What it may take."""

    broken: str = ""
    """The limit that it broke, in words; it was ended then."""

    most_bytes: int = 0
    """The most memory that it was seen with."""


class ProcessWatch:
    """Watches processes, from a thread that runs while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: set[Watched] = set()
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()

    def add(self, pid: int, limits: LiveLimits) -> Watched:
        """Watch a process and what it starts, until `remove`."""
        watched = Watched(pid, limits)
        with self._lock:
            self._watched.add(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="agentworld-live-watch", daemon=True)
                self._thread.start()
        return watched

    def remove(self, watched: Watched) -> None:
        """Watch a process no longer."""
        with self._lock:
            self._watched.discard(watched)

    def _look(self) -> None:
        while True:
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                watched = list(self._watched)
            children = _children()
            for one in watched:
                self._check(one, children)
            self._rest()

    def _rest(self) -> None:
        """Wait until the next look is due."""
        until, before = time.monotonic() + LOOK, _all_processes()
        while time.monotonic() < until and _all_processes() <= before + JUMP:
            self._wake.wait(GLANCE)

    def _check(self, one: Watched, children: Mapping[int, list[int]]) -> None:
        family = family_of(one.pid, children)
        held = sum(map(resident_bytes, family)) + sum(map(file_bytes, family))
        one.most_bytes = max(one.most_bytes, held)
        if len(family) > one.limits.processes + 2:  # bubblewrap itself is two of them
            one.broken = f"it had {len(family)} processes (limits.processes is {one.limits.processes})"
        elif held > one.limits.memory_mb << 20:
            one.broken = f"it held {held >> 20} MiB (limits.memory_mb is {one.limits.memory_mb})"
        else:
            return
        # What ends all others has to run before they make more; only an administrator can see to that.
        for pid in family[:2]:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, pid, -20)
        end_tree(family)


def end_tree(pids: list[int]) -> None:
    """End some processes at once."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def family_of(pid: int, children: Mapping[int, list[int]] | None = None) -> list[int]:
    """Return a process and all that it started, whose parents still live.

    >>> os.getpid() in family_of(os.getpid())
    True
    """
    children = _children() if children is None else children
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], ())
    return found


def parent_of(pid: int) -> int | None:
    """Return the parent of a process; None where it has ended, or the system has no /proc.

    >>> parent_of(os.getpid()) in (os.getppid(), None)
    True
    """
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return None


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds; 0 where there is none."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def file_bytes(pid: int) -> int:
    """Return what a process holds in files that lie in memory and have no name; nobody sees them but by its files."""
    total = 0
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                path = f"/proc/{pid}/fd/{name}"
                if os.readlink(path).startswith("/memfd:"):
                    total += os.stat(path).st_blocks * 512
    return total


def _all_processes() -> int:
    """Return how many processes and threads the machine has; 0 where it does not tell."""
    with suppress(OSError, ValueError, IndexError), open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[2])
    return 0


def _children() -> dict[int, list[int]]:
    """Return the children of each process; none where the system has no /proc."""
    found: dict[int, list[int]] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                found.setdefault(parent, []).append(int(name))
    return found


process_watch = PerProcess(ProcessWatch)
"""The watch of this process."""
