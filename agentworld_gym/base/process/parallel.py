"""Work that several processes share, with the results in order."""

from __future__ import annotations

import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process, resource_tracker
from threading import Thread
from typing import Any, TypeVar

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.base.process.interrupts import deferred_interrupt

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""How many batches a worker may be ahead of the one whose turn it is."""

PATIENCE_S = 1.0
"""How long workers may take to end by themselves."""


class WorkerDied(AgentWorldError):
    """A worker process ended by itself in the middle of its work."""

    item: int | None = None
    """The place of the item that ended it, where that is known."""


def mapped(function: Callable[[list[T]], list[R]], items: Iterable[T], workers: int, batch: int = 16) -> Iterator[R]:
    """Yield what a function makes of items, in order; items are read as they are needed.

    Args:
        function: The function, of a batch of items; with several workers it and its results must be picklable.
        items: The items.
        workers: The number of processes; 1 stays in this process.
        batch: The number of items a call.

    >>> list(mapped(sorted, [3, 1, 2], 1, batch=2))
    [1, 3, 2]
    """
    return chain.from_iterable(batches(function, items, workers, batch))


def batches(
    function: Callable[[list[T]], list[R]], items: Iterable[T], workers: int, batch: int
) -> Generator[list[R], None, None]:
    """Yield what a function makes of items, in order and batch by batch.

    Closing the iterator, an error, or Ctrl-C ends the workers within seconds, whatever they do; a further Ctrl-C waits
    for that.

    Args:
        function: The function, of a batch of items; with several workers it and its results must be picklable.
        items: The items.
        workers: The number of processes; 1 stays in this process.
        batch: The number of items a call.

    Raises:
        WorkerDied: A worker ended by itself, such as one that was killed for its memory.

    >>> list(batches(sorted, [3, 1, 2], 1, batch=2))
    [[1, 3], [2]]
    """
    rest = iter(items)
    calls = iter(lambda: list(islice(rest, batch)), [])
    if workers <= 1:
        yield from map(function, calls)
        return
    pool: list[_Worker] = []
    try:
        pool.extend(_Worker(function) for _ in range(workers))
        yield from _in_order(pool, calls)
    finally:
        with deferred_interrupt():
            _end(pool)


def outlived(function: Callable[[list[T]], list[R]], items: Iterable[T]) -> Iterator[list[R] | WorkerDied]:
    """Yield what a function makes of each item in a process that it may end; another one goes on with the next item.

    Args:
        function: The function, of a batch of one item; it and its results must be picklable.
        items: The items.
    """
    pool: list[_Worker] = []
    try:
        for place, item in enumerate(items):
            if not pool:
                pool.append(_Worker(function))
            pool[0].begin(place, [item])
            try:
                yield pool[0].result()
            except WorkerDied as died:
                _end([pool.pop()])
                yield died
    finally:
        with deferred_interrupt():
            _end(pool)


class _Worker:
    """A process that calls one function; `place` is the number of the batch it works on, or None while it waits."""

    def __init__(self, function: Callable[[list[Any]], list[Any]]) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        # A daemon ends with this process, even where Ctrl-C comes between two lines of the clean-up.
        self.process = context.Process(target=_work, args=(other, function), daemon=True)
        self.place: int | None = None
        resource_tracker.ensure_running()  # It would let Ctrl-C through to a process that is started beside it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            other.close()

    def begin(self, place: int, call: list[Any]) -> None:
        """Let the waiting process work on a batch; its pipe is empty."""
        self.place = place
        with suppress(OSError):  # The process has ended, which asking for its result tells.
            self.pipe.send(call)

    def result(self) -> list[Any]:
        """Return the result of the batch, which is there.

        Raises:
            WorkerDied: The process has ended.
        """
        try:
            done, answer = self.pipe.recv()
        except (EOFError, OSError) as lost:
            self.process.join(PATIENCE_S)
            code = self.process.exitcode
            raise WorkerDied(f"a worker process ended with exit code {code} in the middle of its work") from lost
        self.place = None
        if not done:
            error, where = answer
            error.add_note(where)
            raise error
        results: list[Any] = answer
        return results


def _in_order(pool: list[_Worker], calls: Iterator[list[Any]]) -> Iterator[list[Any]]:
    done: dict[int, list[Any]] = {}
    begun = yielded = 0
    more = True
    while more or yielded < begun:
        for worker in pool:
            if worker.place is None and more and begun - yielded < AHEAD * len(pool):
                call = next(calls, None)
                if call is None:
                    more = False
                else:
                    worker.begin(begun, call)
                    begun += 1
        busy = {worker.pipe: worker for worker in pool if worker.place is not None}
        for pipe in connection.wait(list(busy)) if yielded < begun and yielded not in done else ():
            worker = busy[pipe]  # type: ignore[index]
            place = worker.place
            assert place is not None
            done[place] = worker.result()
        if yielded in done:
            yield done.pop(yielded)
            yielded += 1


def _end(pool: list[_Worker]) -> None:
    """Ask all workers to end, and kill those that do not."""
    for worker in pool:
        worker.pipe.close()
    until = time.monotonic() + PATIENCE_S
    for worker in pool:
        worker.process.join(max(0.0, until - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _work(pipe: connection.Connection, function: Callable[[list[Any]], list[Any]]) -> None:
    """Do the work of a worker until its pipe is closed."""
    start_worker()
    with suppress(EOFError, OSError):
        while True:
            call = pipe.recv()
            try:
                answer: tuple[bool, Any] = True, function(call)
            except Exception as error:
                answer = False, _sendable(error)
            pipe.send(answer)


def _sendable(error: Exception) -> tuple[Exception, str]:
    """Return the error in a form that can be sent, and where it was raised."""
    where = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # The methods by which an error is pickled may raise anything.
        return AgentWorldError(f"{type(error).__name__}: {error}"), where
    return error, where


def start_worker() -> None:
    """Leave Ctrl-C to the parent process, and end when the parent ends, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_die_with, args=(parent.sentinel,), daemon=True).start()


def _die_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)


def bindable_cores() -> list[int]:
    """Return the numbers of the cores; there are none where the system, such as macOS, binds no process to a core."""
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:
        return []
