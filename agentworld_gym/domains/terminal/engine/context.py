"""The context in which a shell's commands run: the user, the virtual clock, random numbers and files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from random import Random
from time import time
from types import MappingProxyType
from typing import Any

from bashkit import FileSystem

from agentworld_gym.domains.terminal.engine.isolated_shell import checked

SYSTEM_FOLDER = "/usr"
"""A folder of the system, which the sandbox makes together with the others."""

SYSTEM_SECONDS = 1.0
"""How far apart in time the sandbox makes the folders of the system at most."""


class VirtualClock:
    """Virtual time in seconds since the epoch, which only counted work moves.

    The sandbox stamps files with the host's clock. Each time the virtual clock moves, a table notes from which host
    time on the virtual time holds, and `virtual` looks a stamp up in it. Stamps from outside the life of the table were
    set on purpose (`touch -d`) and are returned unchanged. The sandbox makes its system's folders once a process, which
    may be before the table begins: `know_system` says when.
    """

    __slots__ = ("_hosts", "_system", "_virtuals", "now", "start")

    def __init__(self, now: float, start: float | None = None) -> None:
        self.now = now
        self.start = now if start is None else start
        self._hosts = [time() - 1e-5]
        self._virtuals = [self.start]
        self._system = self._hosts[0]

    def advance(self, seconds: float) -> None:
        """Move the clock on; files that are written afterwards carry the later time."""
        self.now = round(self.now + seconds, 6)

    def mark(self) -> None:
        """Note the host's time, so that files written from this moment on carry the present virtual time."""
        if self._virtuals[-1] != self.now:
            self._hosts.append(time())
            self._virtuals.append(self.now)

    def know_system(self, made: float) -> None:
        """Note the host time at which the system's folders were made: they are as old as the machine.

        >>> clock = VirtualClock(1000.0)
        >>> made = time() - 60
        >>> clock.know_system(made)
        >>> clock.virtual(made), clock.virtual(made + 30) == float(int(made + 30))
        (1000.0, True)
        """
        self._system = made

    def virtual(self, stamp: float) -> float:
        """Return the virtual time of a host time stamp, in whole seconds, because the sandbox sets no finer times.

        >>> clock = VirtualClock(1000.0)
        >>> clock.virtual(time()), clock.virtual(5.0)
        (1000.0, 5.0)
        """
        if stamp < self._hosts[0] or stamp > time() + 1.0:
            of_system = abs(stamp - self._system) < SYSTEM_SECONDS and stamp < self._hosts[0]
            return float(int(self.start if of_system else stamp))
        return float(int(self._virtuals[max(bisect_right(self._hosts, stamp) - 1, 0)]))

    def restarted(self) -> VirtualClock:
        """Return a clock at the same virtual time, for a copy whose files are about to be stamped afresh."""
        return VirtualClock(self.now, self.start)


MAX_COMMANDS = 20_000
_PLAIN: Mapping[str, type] = MappingProxyType(
    {"user": str, "host": str, "home": str, "names_host": bool, "names_sleep": bool, "max_commands": int}
)
"""The fields of a context that are plain data."""


@dataclass(slots=True)
class ShellContext:
    """The identity, clock, random numbers, history and files of one shell."""

    user: str
    """The name of the user."""
    host: str
    """The name of the machine."""
    home: str
    """The user's home folder."""
    clock: VirtualClock
    """The virtual clock."""
    random: Random
    """The source of random numbers."""
    history: list[str] = field(default_factory=list)
    """The command lines of the session."""
    modes: dict[str, int] = field(default_factory=dict)
    """The permissions of files that differ from the usual 644, because the sandbox forgets them when a file is
    written."""
    times: dict[str, float] = field(default_factory=dict)
    """The times that a command gave to files, until they are set in the sandbox."""
    files: FileSystem | None = None
    """The files of the interpreter, while it runs."""
    names_host: bool = False
    """Whether something in the shell may lead to a file that the sandbox fills from its host."""
    names_sleep: bool = False
    """Whether something in the shell may sleep."""
    until: float = inf
    """The virtual time at which a script that sleeps beyond it is left."""
    shells: list[Callable[[], None]] = field(default_factory=list)
    """What ends the interpreters that run, each at its next command: that of the script first, then those of the
    programs within it that have a limit of their own."""
    chunks: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    """What a program with a limit of its own printed on both streams, in order, by the whole of each."""
    unshown: list[tuple[str, str]] = field(default_factory=list)
    """What such a program has printed when the script was left in it."""
    kept: int = 0
    """How many of them go on when the present one is left at `until`."""
    interpreter: Callable[..., Any] | None = None
    """What makes a further interpreter with the same commands, while a script runs."""
    wakes: float | None = None
    """The virtual time at which the sleep ends in which a script was left; none where it was not left."""
    failure: str = ""
    """Why a command could not go on, such as a lack of memory; empty while none failed."""
    max_commands: int = MAX_COMMANDS
    """The number of commands after which a script counts as one that never ends."""

    @property
    def uid(self) -> int:
        """The number of the user: 0 for root, 1000 for anybody else."""
        return 0 if self.user == "root" else 1000

    def take_files(self, files: FileSystem) -> None:
        """Take the files of an interpreter that was just made."""
        self.files = files
        self.clock.know_system(float(files.stat(SYSTEM_FOLDER)["modified"]))

    def sleep(self, seconds: float) -> None:
        """Let time pass; where that is more than the script has, the script is left in the middle of it."""
        wakes = round(self.clock.now + seconds, 6)
        if self.wakes is not None:
            return
        if wakes <= round(self.until, 6) or not self.shells:
            self.clock.advance(seconds)
            self.clock.mark()
        else:
            self.wakes = wakes
            self.clock.advance(max(self.until - self.clock.now, 0.0))
            for leave in reversed(self.shells[self.kept :]):
                leave()

    def environment(self) -> dict[str, str]:
        """Return the variables that a login shell exports."""
        return {
            "HOME": self.home,
            "LOGNAME": self.user,
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SHELL": "/bin/bash",
            "SHLVL": "1",
            "TERM": "screen",
            "USER": self.user,
        }

    def fields(self) -> dict[str, Any]:
        """Return all that the context is while no script runs, as plain JSON data."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "clock": [self.clock.now, self.clock.start],
            "random": self.random.getstate(),
            "history": self.history.copy(),
            "modes": self.modes.copy(),
        }

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> ShellContext:
        """Return the context of these fields, the inverse of `fields`.

        Raises:
            AttributeError, LookupError, OverflowError, TypeError, ValueError: They are none.
        """
        random = Random(0)
        version, numbers, gauss = fields["random"]
        random.setstate((version, tuple(numbers), gauss))
        now, start = (checked(moment, int, float) for moment in fields["clock"])
        return cls(
            clock=VirtualClock(now, start),
            random=random,
            history=[checked(line, str) for line in fields["history"]],
            modes={path: checked(mode, int) for path, mode in fields["modes"].items()},
            **{name: checked(fields[name], kind) for name, kind in _PLAIN.items()},
        )

    def become(self, other: ShellContext) -> None:
        """Take over all that a script can change of a context, while none runs."""
        for name in ("names_host", "names_sleep", "clock", "random"):
            setattr(self, name, getattr(other, name))
        self.history, self.modes = other.history, other.modes

    def fail(self, why: str) -> None:
        """End the script at its next command, because one could not go on."""
        self.failure = self.failure or why
        self.stop()

    def stop(self) -> None:
        """End the script at its next command."""
        for leave in reversed(self.shells):
            leave()

    def copy(self) -> ShellContext:
        """Return an independent copy with equal contents and without files."""
        random = Random(0)
        random.setstate(self.random.getstate())
        return replace(
            self,
            clock=copy(self.clock),
            random=random,
            history=self.history.copy(),
            modes=self.modes.copy(),
            files=None,
            shells=[],
            chunks={},
            unshown=[],
            interpreter=None,
        )
