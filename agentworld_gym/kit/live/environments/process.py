"""The process of a text environment, and the lines over which its episodes are played."""

from __future__ import annotations

import array
import json
import math
import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.kit.live.config import LiveLimits
from agentworld_gym.kit.live.process_watch import Watched, end_tree, family_of, process_watch

WORKER = Path(__file__).with_name("worker.py")
"""The program that runs in the process."""

LONGEST = 8 << 20
"""The longest answer, in bytes."""

LAST_WORDS = 2000
"""How many bytes of the standard error are kept."""

_CREDENTIALS = struct.Struct("3i")


class EpisodeLine:
    """A line to an episode: requests and answers as JSON, each with a deadline.

    Args:
        link: The socket.
        name: What errors call the other side.
    """

    def __init__(self, link: socket.socket, name: str) -> None:
        self._link, self._name, self._buffer = link, name, bytearray()
        self._pid_file: int | None = None
        self.broken = ""
        """Why the line cannot be used any more."""
        if hasattr(socket, "SO_PASSCRED"):
            # The kernel tells who wrote an answer, by the number that the process has here and not in its sandbox.
            link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._pid = 0

    def ask(self, request: Mapping[str, Any], seconds: float, copy: socket.socket | None = None) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            request: The request.
            seconds: How long the answer may take.
            copy: The other end of the line to a copy, which goes with the request.

        Raises:
            SystemLost: The process ended.
            SystemLate: It did not answer in time.
            EngineError: The environment raised an error, or the answer is none.
        """
        if self.broken:
            raise SystemLost(f"{self._name} is lost: {self.broken}")
        try:
            data = json.dumps(request).encode("utf-8", "replace") + b"\n"
            self._link.settimeout(seconds)
            if copy is None:
                self._link.sendall(data)
            else:
                socket.send_fds(self._link, [data], [copy.fileno()])
            return self.answer(seconds, str(request["do"]))
        except TimeoutError as error:
            self.broken = f"it took longer than {seconds:g} s to {request['do']}"
            raise SystemLate(f"{self._name}: {self.broken}") from error
        except OSError as error:
            self.broken = self.broken or f"the connection broke: {error}"
            raise SystemLost(f"{self._name}: {self.broken}") from error

    def answer(self, seconds: float, what: str) -> dict[str, Any]:
        """Return the next answer.

        Raises:
            SystemLost: The process ended.
            TimeoutError: There was none in time.
            EngineError: The environment raised an error, or the answer is none.
        """
        until = time.monotonic() + seconds
        while True:
            told = self._read(until)
            if "note" in told:
                continue
            if "lost" in told:
                self.broken = str(told["lost"])
                raise SystemLost(f"{self._name} {self.broken}")
            if "error" in told:
                raise EngineError(f"{self._name} failed to {what}: {told['error']}")
            if not isinstance(told.get("ok"), dict):
                self.broken = "it wrote what is no answer"
                raise EngineError(f"{self._name}: {self.broken}")
            return dict(told["ok"])

    def _read(self, until: float) -> dict[str, Any]:
        while (end := self._buffer.find(b"\n")) < 0:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._link.settimeout(left)
            data, ancillary, _, _ = self._link.recvmsg(1 << 16, socket.CMSG_SPACE(_CREDENTIALS.size))
            self._note(ancillary)
            if not data:
                self.broken = self.broken or "it ended"
                raise SystemLost(f"{self._name} ended")
            self._buffer += data
            if len(self._buffer) > LONGEST:
                self.broken = f"it answered with more than {LONGEST >> 20} MiB"
                raise SystemLost(f"{self._name}: {self.broken}")
        line, self._buffer = bytes(self._buffer[:end]), self._buffer[end + 1 :]
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            told = None
        return told if isinstance(told, dict) else {}

    def _note(self, ancillary: Sequence[tuple[int, int, bytes]]) -> None:
        """Remember who wrote."""
        for level, kind, carried in ancillary:
            if level != socket.SOL_SOCKET:
                continue
            if kind == socket.SCM_RIGHTS:  # No answer carries files.
                for number in array.array("i", carried[: len(carried) // 4 * 4]):
                    os.close(number)
            elif len(carried) == _CREDENTIALS.size:
                pid = _CREDENTIALS.unpack(carried)[0]
                if pid and pid != self._pid:
                    self._forget()
                    with suppress(OSError):
                        self._pid, self._pid_file = pid, os.pidfd_open(pid)

    def _forget(self) -> None:
        file, self._pid_file = self._pid_file, None
        if file is not None:
            os.close(file)

    def close(self) -> None:
        """Close the line, and end the process that wrote last; a second call does nothing."""
        self.broken = self.broken or "it is closed"
        if self._pid_file is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pid_file, signal.SIGKILL)
        self._forget()
        self._link.close()


class EnvironmentProcess:
    """A process that holds an environment, and the copies of its episodes.

    Args:
        words: The command, with its sandbox.
        env: The environment of the command.
        cwd: The folder in which it starts.
        limits: What each of its episodes may take.
        name: What errors call it.

    Raises:
        EngineError: It cannot be started.
    """

    def __init__(self, words: Sequence[str], env: Mapping[str, str], cwd: str, limits: LiveLimits, name: str) -> None:
        ours, theirs = socket.socketpair()
        self._limits, self._lock = limits, threading.Lock()
        self._users, self._errors = 1, b""
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [*words],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=dict(env),
                    cwd=cwd,
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            raise EngineError(f"{name} cannot be started: {error}") from error
        self.line = EpisodeLine(ours, name)
        self._watched: Watched | None = process_watch().add(self._process.pid, limits)
        self._reading = threading.Thread(target=self._keep_errors, name="agentworld-live-errors", daemon=True)
        self._reading.start()

    def _keep_errors(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 65536):
                self._errors = (self._errors + data)[-LAST_WORDS:]

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def why(self, error: EngineError) -> EngineError:
        """Return an error of a line with why the process ended, and the last that it wrote to its standard error."""
        if not isinstance(error, SystemLost):
            return error
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        watched = self._watched
        said = self._errors.decode("utf-8", "replace").strip()[-500:]
        how = f"; {watched.broken}" if watched is not None and watched.broken else ""
        return SystemLost(f"{error}{how}" + (f"; it wrote: {said}" if said else ""))

    def join(self) -> None:
        """Count one more episode, whose memory and processes it may have beside those of the others."""
        self._count(1)

    def leave(self) -> None:
        """Count one episode less, and end the process with the last one."""
        if not self._count(-1):
            self.kill()

    def _count(self, more: int) -> int:
        with self._lock:
            self._users += more
            if self._watched is not None and self._users:
                limits = self._limits
                bounds = {"memory_mb": limits.memory_mb * self._users, "processes": limits.processes * self._users}
                self._watched.limits = limits.model_copy(update=bounds)
            return self._users

    def kill(self) -> None:
        """End the process with all that it started; a second call does nothing."""
        self.line.close()
        watched, self._watched = self._watched, None
        if watched is not None:
            process_watch().remove(watched)
        if self._process.poll() is None:
            family = family_of(self._process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            end_tree(family)
            self._process.wait()
        self._reading.join(1.0)
        if self._process.stderr is not None:
            self._process.stderr.close()


def number(told: Mapping[str, Any], key: str) -> float:
    """Return a number of an answer, or 0 where it has none.

    >>> number({"reward": 1}, "reward"), number({}, "reward")
    (1.0, 0.0)

    Raises:
        EngineError: It is no finite number.
    """
    value = told.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise EngineError(f"the environment answers {key}: {value!r}, expected a finite number")
    return float(value)
