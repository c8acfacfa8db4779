"""Work that processes share, with results in order."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""How many batches a worker has at hand."""


def mapped(function: Callable[[list[T]], list[R]], items: Iterable[T], workers: int, batch: int = 16) -> Iterator[R]:
    """What a function makes of items, in order; items are read as they are needed.

    Args:
        function: of a batch; with several workers it and its results can be pickled.
        items: what it is given.
        workers: processes; 1 stays in this one.
        batch: items a call.

    >>> list(mapped(sorted, [3, 1, 2], 1, batch=2))
    [1, 3, 2]
    """
    return chain.from_iterable(batches(function, items, workers, batch))


def batches(function: Callable[[list[T]], list[R]], items: Iterable[T], workers: int, batch: int) -> Iterator[list[R]]:
    """The same as `mapped`, batch by batch.

    >>> list(batches(sorted, [3, 1, 2], 1, batch=2))
    [[1, 3], [2]]
    """
    rest = iter(items)
    calls = iter(lambda: list(islice(rest, batch)), [])
    if workers <= 1:
        yield from map(function, calls)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker) as pool:
        pending: deque[Future[list[R]]] = deque()
        try:
            for some in calls:
                pending.append(pool.submit(function, some))
                if len(pending) >= AHEAD * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def start_worker() -> None:
    """Ctrl-C is the parent's business, and a parent that was killed takes its workers along."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_die_with, args=(parent.sentinel,), daemon=True).start()


def _die_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)
