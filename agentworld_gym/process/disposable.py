"""Work in processes whose death costs one piece of it: native code may overflow its stack, abort, or run out of memory.

The processes are fresh interpreters, so that no thread or lock of this one is copied. They are started when they are
first needed, are kept for the next piece of work, and end with this process, however that ends.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from select import POLLHUP, POLLIN, poll
from typing import Any

from agentworld_gym.errors import AgentWorldError

MAX_PROCESSES = 8
"""The largest number of processes for one kind of work; the number of cores, if that is smaller."""
MEMORY = 1 << 30
"""The memory in bytes that a piece of work may take."""
STACK = 512 << 20
"""The stack in bytes of the thread that works: whatever counts its own depth reaches its limit before the end of it."""
START_SECONDS = 60.0
"""How long a process may take to start."""
_KEPT = 256 << 20
"""The memory in bytes up to which a process is kept for the next piece of work."""
_HEADER = 8
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from {} import serve; serve({!r})"


class WorkLost(AgentWorldError):
    """The process that did a piece of work died, or did not end it in time."""


class Disposable:
    """Processes that call one function, which takes and returns plain JSON data.

    Args:
        function: The function, as `module:name`.

    >>> disposable("json:dumps").call([1, 2], seconds=10)
    '[1, 2]'
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._idle: list[_Process] = []
        self._places = threading.BoundedSemaphore(min(MAX_PROCESSES, os.cpu_count() or 1))

    def call(self, argument: Any, seconds: float) -> Any:
        """Return what the function returns.

        Args:
            argument: The argument, as plain JSON data.
            seconds: How long it may take. Waiting for a free process, or for one to start, does not count.

        Raises:
            WorkLost: The process died, or was ended because it took too long.
        """
        data = json.dumps(argument).encode()
        with self._places:
            process = self._ready()
            try:
                answer = process.answer(data, seconds)
            except BaseException:
                process.end()
                raise
            if answer["memory"] > _KEPT:
                process.end()
            else:
                self._idle.append(process)
        if "raised" in answer:
            raise WorkLost(answer["raised"])
        return answer["returned"]

    def close(self) -> None:
        """End the processes that wait for work; the next piece of work starts one."""
        while self._idle:
            self._idle.pop().end()

    def _ready(self) -> _Process:
        while True:
            try:
                process = self._idle.pop()
            except IndexError:
                return _Process(self._function)
            if process.alive:
                return process
            process.end()


def disposable(function: str) -> Disposable:
    """Return the processes that call a function, of which this process has one set.

    Args:
        function: The function, as `module:name`.
    """
    return _of(os.getpid(), function)


@cache
def _of(pid: int, function: str) -> Disposable:
    """Return the set of one process: a forked one cannot share that of its parent."""
    made = Disposable(function)

    def close() -> None:
        if os.getpid() == pid:
            made.close()

    atexit.register(close)
    return made


class _Process:
    """One process, which reads a piece of work and writes the answer, again and again."""

    def __init__(self, function: str) -> None:
        code = _START.format(__name__, function)
        # A session of its own keeps the terminal's Ctrl-C from it: the parent decides what that ends.
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            self._read(START_SECONDS)
        except BaseException:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def answer(self, data: bytes, seconds: float) -> Any:
        """Return the answer to a piece of work.

        Raises:
            WorkLost: The process died, or took too long.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(data).to_bytes(_HEADER, "big") + data)
            self._process.stdin.flush()
        except OSError as lost:
            raise WorkLost(self._death()) from lost
        return self._read(seconds)

    def _read(self, seconds: float) -> Any:
        until = time.monotonic() + seconds
        size = int.from_bytes(self._take(_HEADER, until), "big")
        return json.loads(self._take(size, until))

    def _take(self, count: int, until: float) -> bytes:
        assert self._process.stdout is not None
        file = self._process.stdout.fileno()
        waiting = poll()
        waiting.register(file, POLLIN | POLLHUP)
        parts = []
        while count:
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                raise WorkLost("it did not end in time")
            part = os.read(file, min(count, 1 << 20))
            if not part:
                raise WorkLost(self._death())
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _death(self) -> str:
        try:
            code = self._process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            return "its process hangs"
        name = ""
        with suppress(ValueError):
            name = f" by {signal.Signals(-code).name}" if code < 0 else ""
        return f"its process was ended{name}" if name else f"its process ended with code {code}"

    def end(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def serve(function: str) -> None:
    """Do the work of a process until its standard input ends.

    Args:
        function: The function, as `module:name`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.dup(0), os.dup(1)
    silent = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # What the function prints is no answer.
        os.dup2(silent, standard)
    module, _, name = function.partition(":")
    work = getattr(__import__(module, fromlist=[name]), name)
    _limit()
    threading.stack_size(STACK)
    parent = os.getppid()
    worker = threading.Thread(target=_answer_all, args=(source, sink, work), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(2.0)
        if os.getppid() != parent:  # A forked process holds the other end of the pipe, so that it never closes.
            break
    os._exit(0)


def _limit() -> None:
    """Bound the memory of this process, and keep it from writing an image of itself when it dies."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + STACK + MEMORY,) * 2)


def _answer_all(source: int, sink: int, work: Any) -> None:
    import resource

    _write(sink, {})
    with open(source, "rb") as requests:
        while len(header := requests.read(_HEADER)) == _HEADER:
            argument = json.loads(requests.read(int.from_bytes(header, "big")))
            answer: dict[str, Any]
            try:
                answer = {"returned": work(argument)}
            except MemoryError:
                answer = {"raised": "it ran out of memory"}
            except BaseException as error:
                answer = {"raised": f"{type(error).__name__}: {error}"}
            del argument
            _write(sink, {**answer, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10})


def _write(sink: int, answer: Mapping[str, Any]) -> None:
    data = json.dumps(answer).encode()
    data = len(data).to_bytes(_HEADER, "big") + data
    while data:
        data = data[os.write(sink, data) :]
