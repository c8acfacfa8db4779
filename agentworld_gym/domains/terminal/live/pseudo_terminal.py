"""A shell on a pseudo-terminal: keys go in, what it prints is drawn, and it is known when it waits for more."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import select
import struct
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from agentworld_gym.core.engines import EngineError, SystemLost
from agentworld_gym.domains.terminal.engine.keyboard import characters_of
from agentworld_gym.domains.terminal.engine.screen import COLUMNS, ROWS
from agentworld_gym.domains.terminal.live.screen import LiveScreen
from agentworld_gym.kit.live.box import children_of

_MARK = re.compile(rb"\x1b\]7771;([ABC])\x07")
_PART_OF_MARK = re.compile(rb"\x1b(?:\](?:7(?:7(?:7(?:1(?:;(?:[ABC])?)?)?)?)?)?)?\Z")
"""The marks that the shell prints unseen: A behind its prompt, B behind that of a line that goes on, and C before it
runs what was entered."""

_LOOK = 0.01
_LOOK_LONG = 0.05
"""The seconds between two looks, at first and later."""

_ACCEPT = 2.0
"""How many seconds the shell has to take a line at its prompt."""

_AHEAD = 0.5
"""How many seconds are waited before further keys go to a program that does not read yet."""

_QUIET = 0.05
_QUIET_WHOLE = 0.2
"""How many seconds without output tell that a key at the prompt was shown, and that a program has drawn its screen."""

_CALLS = {"x86_64": (0, (7, 23, 232, 270, 271, 281)), "aarch64": (63, (22, 72, 73))}
"""The numbers of the system calls `read`, and of those that wait for one of several files, by architecture."""

MARKED = r"""
PS1='\u@\h:\w\$ \[\e]7771;A\a\]' PS2='> \[\e]7771;B\a\]' PS0='\e]7771;C\a'
\builtin bind 'set enable-bracketed-paste off'
\builtin bind 'set bell-style none'
"""
"""The lines of a shell's start by which it prints the marks."""


class PseudoTerminal:
    """The side of a pseudo-terminal on which keys are typed."""

    def __init__(self) -> None:
        self._keys, self.slave = os.openpty()
        fcntl.ioctl(self._keys, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._keys, False)
        self.screen = LiveScreen()
        self.at_prompt = False
        """Whether the shell waits for a line."""
        self.shell = 0
        """The number of the shell's process."""
        self.fresh = False
        """Whether the shell waits for a line of which nothing is typed yet."""
        self._marks = 0
        self._unread = b""
        self._unseen = False
        self._latest = 0.0
        self._open = True

    def started(self, seconds: float, alive: Callable[[], bool]) -> None:
        """Wait for the first prompt of a shell.

        Raises:
            EngineError: There is none in time.
        """
        until = time.monotonic() + seconds
        self.at_prompt = False
        while not self.at_prompt:
            if not self._read(_LOOK_LONG) and not alive():
                raise SystemLost("the shell ended before its first prompt")
            if time.monotonic() > until:
                raise EngineError(f"the shell showed no prompt within {seconds:g} s")
        self.shell = os.tcgetpgrp(self._keys)

    def type(self, keystrokes: str, seconds: float, most: float) -> None:
        """Type keys, and wait until the shell or a program waits for more.

        Args:
            keystrokes: The keys.
            seconds: How long is waited for a program that waits for something else.
            most: How long is waited for one that computes, so that a busy machine shows what an idle one does.
        """
        until = time.monotonic() + seconds
        self._latest = max(time.monotonic() + most, until)
        text = characters_of(keystrokes).replace("\r\n", "\n").replace("\n", "\r").replace("\x1b\t", "\t")
        pieces = [piece for piece in re.split(r"(?<=\r)", text) if piece]
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            entered = piece.endswith("\r") and self.at_prompt
            before = self._marks
            self._write(piece, until)
            if entered:
                self._until(partial(self._marked, before), min(until, time.monotonic() + _ACCEPT))
                if not self.at_prompt:
                    self._wait(until if last else min(until, time.monotonic() + _AHEAD))
            elif last or not self.at_prompt:
                self._wait(until if last else min(until, time.monotonic() + _AHEAD), typed=True)
        if not pieces:
            self._wait(until)

    def press_unseen(self, key: bytes, seconds: float) -> bool:
        """Press a key at the prompt whose effect is not drawn, and return whether the shell printed a mark then."""
        before, self._unseen = self._marks, True
        try:
            os.write(self._keys, key)
            self._until(partial(self._marked, before), time.monotonic() + seconds)
            while self._read(_QUIET):
                pass
        except OSError:
            return False
        finally:
            self._unseen = False
        return self._marks > before

    def _write(self, text: str, until: float) -> None:
        self.fresh = False
        if self.screen.application_keys:
            text = re.sub(r"\x1b\[([ABCDHF])", "\x1bO\\1", text)
        data = text.encode("utf-8", "replace")
        while data and time.monotonic() < until + _ACCEPT:
            try:
                data = data[os.write(self._keys, data[:1024]) :]
            except BlockingIOError:  # A program does not read; it may have to print first.
                self._read(_LOOK)
            except OSError as error:
                raise SystemLost(f"the terminal is gone: {error}") from error

    def _read(self, seconds: float) -> bool:
        """Draw what was printed, and return whether there was anything.

        Of what is printed without end, a part is drawn.
        """
        data = b""
        while len(data) < 1 << 20:
            ready, _, _ = select.select([self._keys], [], [], 0.0 if data else seconds)
            if not ready:
                break
            try:
                part = os.read(self._keys, 1 << 16)
            except (BlockingIOError, OSError):
                break
            if not part:
                break
            data += part
        if not data:
            return False
        data = self._unread + data
        cut = _PART_OF_MARK.search(data)
        data, self._unread = (data[: cut.start()], data[cut.start() :]) if cut else (data, b"")
        for mark in _MARK.finditer(data):
            self._marks += 1
            self.at_prompt, self.fresh = mark[1] != b"C", mark[1] == b"A"
        if not self._unseen:
            self.screen.feed(_MARK.sub(b"", data))
        return True

    def _marked(self, before: int) -> bool:
        return self._marks > before

    def _until(self, holds: Callable[[], bool], until: float) -> None:
        while not holds() and time.monotonic() < until and self.is_there:
            self._read(_LOOK)

    @property
    def is_there(self) -> bool:
        """Whether the shell runs."""
        return os.path.exists(f"/proc/{self.shell}")

    def _wait(self, until: float, typed: bool = False) -> None:
        """Read until the shell is at its prompt, a program waits for keys, or the time is over."""
        quiet, look = time.monotonic(), _LOOK
        while (now := time.monotonic()) < until or (now < self._latest and self._computes()):
            if self._read(min(look, max(until - now, _LOOK))):
                quiet, look = time.monotonic(), _LOOK
                continue
            look = min(2 * look, _LOOK_LONG)
            still = time.monotonic() - quiet
            if self.at_prompt and (not typed or still >= _QUIET):
                return
            if not self.is_there:
                return
            if not self.at_prompt and still >= (_LOOK if not typed else _QUIET) and self._asks(still):
                if not self._read(0.0):  # It may have printed before it asked.
                    return
                quiet, look = time.monotonic(), _LOOK

    def _asks(self, still: float) -> bool:
        """Return whether a program in the foreground waits for keys."""
        numbers = _CALLS.get(platform.machine())
        if numbers is None:
            return False
        reads, waits = numbers
        with suppress(OSError, ValueError, IndexError):
            group = os.tcgetpgrp(self._keys)
            held_back = fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4)
            if any(held_back):  # It has not read all that was typed.
                return False
            raw = not termios.tcgetattr(self._keys)[3] & termios.ICANON
            for pid in self._foreground(group):
                with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
                    words = file.read().split()
                if words[0] == str(reads):
                    held = os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")
                    if held.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
                        return not self.screen.whole or still >= _QUIET_WHOLE
                elif raw and words[0].isdigit() and int(words[0]) in waits and still >= _QUIET_WHOLE:
                    return True
        return False

    def _computes(self) -> bool:
        """Return whether a program in the foreground, or the shell, has something to do."""
        with suppress(OSError):
            for pid in {self.shell, *self._foreground(os.tcgetpgrp(self._keys))}:
                with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[0] in (b"R", b"D"):
                        return True
        return False

    def _foreground(self, group: int) -> list[int]:
        found, waiting = list[int](), [self.shell]
        while waiting and len(found) < 64:
            pid = waiting.pop()
            with suppress(OSError, ValueError):
                if os.getpgid(pid) == group:
                    found.append(pid)
            waiting += children_of(pid)
        return found

    def close(self) -> None:
        """Close both sides; a second call does nothing."""
        if self._open:
            self._open = False
            for number in (self._keys, self.slave):
                with suppress(OSError):
                    os.close(number)
