"""Work in processes whose death costs one piece of it: native code may overflow its stack, abort, or run out of memory.

The processes are copies of one fork server, a fresh interpreter that has loaded what they need and has no threads, so
that another one is there within milliseconds. It starts with the first piece of work, and all end with this process,
however that ends.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from select import POLLHUP, POLLIN, poll
from typing import Any, NamedTuple

from agentworld_gym.base.errors import AgentWorldError

MAX_PROCESSES = 8
"""The largest number of processes at work at once for one function; further work waits."""
MEMORY = 1 << 30
"""The memory in bytes that a piece of work may take."""
STACK = 512 << 20
"""The stack in bytes of the thread that works: what counts its own depth reaches its limit before the end of it."""
START_SECONDS = 60.0
"""How long the fork server may take to start, and to answer."""
_KEPT = 256 << 20
"""The memory in bytes up to which a process is kept for the next piece of work."""
LONGEST_MESSAGE = 256 << 20
"""The most bytes of a piece of work, and of an answer: a process that ran hostile input may promise any number."""
_WATCH_SECONDS = 2.0
_HEADER = 8
_LONGEST_REASON = 2000
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from {} import nurse; nurse({!r}, {})"

Work = Callable[[Any], Any]


class WorkLost(AgentWorldError):
    """The process that did a piece of work died, or did not end it in time."""


class NoAnswer(AgentWorldError):
    """A process wrote what is no answer."""


class _Answer(NamedTuple):
    """What a process wrote."""

    returned: Any
    raised: str
    memory: int


class Disposable:
    """Processes that call one function, which takes and returns plain JSON data.

    Args:
        function: The function, as `module:name`.

    >>> disposable("json:dumps").call([1, 2], seconds=10)
    '[1, 2]'
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._idle: list[_Worker] = []
        self._places = threading.BoundedSemaphore(MAX_PROCESSES)
        self._lock = threading.Lock()
        self._fork_server: _ForkServer | None = None

    def call(self, argument: Any, seconds: float, begins: Callable[[], object] | None = None) -> Any:
        """Return what the function returns.

        Args:
            argument: The argument, as plain JSON data.
            seconds: How long it may take. Waiting for a process, which may have to start, does not count.
            begins: Called when there is a process and the work begins.

        Raises:
            WorkLost: The process died, or was ended because it took too long, or gave what is no answer, or the
                function raised an error.
        """
        data = json.dumps(argument).encode()
        if len(data) > LONGEST_MESSAGE:
            raise WorkLost(f"a piece of work of {len(data)} bytes is too long")
        with self._places:
            worker = self._ready()
            try:
                if begins is not None:
                    begins()
                answer = worker.answer(data, seconds)
            except EOFError as lost:
                raise WorkLost(f"its process {worker.end()}") from lost
            except TimeoutError as late:
                worker.end()
                raise WorkLost("it did not end in time") from late
            except NoAnswer as wrong:
                worker.end()
                raise WorkLost(f"its process gave what is no answer: {wrong}") from wrong
            except BaseException:
                worker.end()
                raise
            if answer.memory > _KEPT:
                worker.end()
            else:
                self._idle.append(worker)
        if answer.raised:
            raise WorkLost(answer.raised)
        return answer.returned

    def close(self) -> None:
        """End all processes that wait for work; the next piece of work starts others."""
        with self._lock:
            self._idle.clear()
            if self._fork_server is not None:
                self._fork_server.close()
                self._fork_server = None

    def _ready(self) -> _Worker:
        with self._lock:
            if self._fork_server is None or not self._fork_server.alive:
                self._idle.clear()
                self._fork_server = _ForkServer(self._function)
            return self._idle.pop() if self._idle else self._fork_server.fork()


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


class _ForkServer:
    """The process of which all others are copies."""

    def __init__(self, function: str) -> None:
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        code = _START.format(__name__, function, theirs.fileno())
        with theirs:
            # A session of its own keeps the terminal's Ctrl-C from it: this process decides what that ends.
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        self._socket = ours
        try:
            _receive(ours, time.monotonic() + START_SECONDS)
        except (OSError, EOFError) as error:
            self.close()
            raise WorkLost(f"no process can be started: {type(error).__name__}") from error

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def fork(self) -> _Worker:
        """Return a new process.

        Raises:
            WorkLost: None can be made.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                pid = self._asked({"do": "fork"}, theirs.fileno())
        except BaseException:
            ours.close()
            raise
        return _Worker(self, int(pid), ours)

    def end(self, pid: int) -> int:
        """End a process, and return how it ended, as `subprocess` tells it."""
        return int(self._asked({"do": "end", "pid": pid}))

    def _asked(self, message: dict[str, Any], file: int | None = None) -> Any:
        data = json.dumps(message).encode()
        with self._lock:
            try:
                header = len(data).to_bytes(_HEADER, "big")
                socket.send_fds(self._socket, [header], [] if file is None else [file])
                self._socket.sendall(data)
                answer = _receive(self._socket, time.monotonic() + START_SECONDS)
            except (OSError, EOFError) as error:
                self.close()
                raise WorkLost(f"the nursery of processes is gone: {type(error).__name__}") from error
        if isinstance(answer, str):
            raise WorkLost(f"no process can be started: {answer}")
        return answer

    def close(self) -> None:
        """End it, and with it all its copies."""
        self._socket.close()  # It ends by itself then, unless it hangs.
        try:
            self._process.wait(_WATCH_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Worker:
    """One process, which reads a piece of work and writes the answer, again and again."""

    def __init__(self, fork_server: _ForkServer, pid: int, connection: socket.socket) -> None:
        self._fork_server = fork_server
        self._pid = pid
        self._socket = connection

    def answer(self, data: bytes, seconds: float) -> _Answer:
        """Return the answer to a piece of work.

        Raises:
            EOFError: The process died.
            TimeoutError: It took too long.
            NoAnswer: It wrote something else.
        """
        until = time.monotonic() + seconds
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(len(data).to_bytes(_HEADER, "big") + data)
        except ConnectionError as lost:
            raise EOFError from lost
        try:
            answer = _receive(self._socket, until)
            memory, raised = int(answer["memory"]), str(answer.get("raised", ""))
            return _Answer(None if raised else answer["returned"], raised[:_LONGEST_REASON], memory)
        except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}"[:_LONGEST_REASON]) from error

    def end(self) -> str:
        """End the process, and return how it ended by itself, if it did."""
        self._socket.close()
        try:
            code = self._fork_server.end(self._pid)
        except WorkLost:
            return "is gone"
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}"


def _receive(connection: socket.socket, until: float | None) -> Any:
    """Return the next message; without a time, wait for it.

    Raises:
        EOFError: There is none, because the other side is gone.
        TimeoutError: There is none by that time of `time.monotonic`.
        RecursionError, ValueError: It is too long, or no JSON data.
    """
    size = int.from_bytes(_take(connection, _HEADER, until), "big")
    if size > LONGEST_MESSAGE:
        raise ValueError(f"a message of {size} bytes")
    return json.loads(_take(connection, size, until))


def _take(connection: socket.socket, count: int, until: float | None) -> bytes:
    waiting = poll()
    waiting.register(connection, POLLIN | POLLHUP)
    parts = []
    while count:
        if not waiting.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000):
            raise TimeoutError
        try:
            part = connection.recv(min(count, 1 << 20))
        except ConnectionError as lost:
            raise EOFError from lost
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _send(connection: socket.socket, message: Any) -> None:
    data = json.dumps(message).encode()
    connection.sendall(len(data).to_bytes(_HEADER, "big") + data)


def nurse(function: str, file: int) -> None:
    """Do the work of the fork server until the process that started it is gone.

    Args:
        function: The function that its copies call, as `module:name`.
        file: The number of the socket to the process that started it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module, _, name = function.partition(":")
    work: Work = getattr(__import__(module, fromlist=[name]), name)
    _limit()
    parent, control = os.getppid(), socket.socket(fileno=file)
    _send(control, "ready")
    waiting = poll()
    waiting.register(control, POLLIN | POLLHUP)
    while os.getppid() == parent:  # A forked copy of the parent holds its end of the socket, which never closes then.
        if not waiting.poll(_WATCH_SECONDS * 1000):
            continue
        header, files, _, _ = socket.recv_fds(control, _HEADER, 1)
        if len(header) < _HEADER:
            break
        message = json.loads(_take(control, int.from_bytes(header, "big"), time.monotonic() + START_SECONDS))
        try:
            if message["do"] == "end":
                os.kill(message["pid"], signal.SIGKILL)
                answer: Any = os.waitstatus_to_exitcode(os.waitpid(message["pid"], 0)[1])
            elif (answer := os.fork()) == 0:
                control.close()
                _serve(socket.socket(fileno=files[0]), work)
        except OSError as error:
            answer = str(error)
        for one in files:
            os.close(one)
        _send(control, answer)
    os._exit(0)


def _limit() -> None:
    """Bound the memory of the copies of this process, and keep them from writing an image of themselves."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + STACK + MEMORY,) * 2)


def _serve(connection: socket.socket, work: Work) -> None:
    """Do the work of one process until nobody asks for more."""
    fork_server = os.getppid()
    threading.stack_size(STACK)
    worker = threading.Thread(target=_answer_all, args=(connection, work), daemon=True)
    worker.start()
    while worker.is_alive() and os.getppid() == fork_server:
        worker.join(_WATCH_SECONDS)
    os._exit(0)


def _answer_all(connection: socket.socket, work: Work) -> None:
    import resource

    with suppress(EOFError, OSError):
        while True:
            argument = _receive(connection, None)
            answer: dict[str, Any]
            try:
                answer = {"returned": work(argument)}
            except MemoryError:
                answer = {"raised": "it ran out of memory"}
            except BaseException as error:
                answer = {"raised": f"{type(error).__name__}: {error}"}
            _send(connection, {**answer, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10})
