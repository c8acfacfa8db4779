"""Values that a process makes once, whichever of its threads asks first; a forked child makes its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A function without arguments that makes its value once in each process.

    `functools.cache` calls a function once for every thread that asks before the first answer is there.

    >>> made = PerProcess(list)
    >>> made() is made()
    True

    Args:
        make: The function that makes the value.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._locks: dict[int, threading.Lock] = {}
        self._values: dict[int, T] = {}

    def __call__(self) -> T:
        """Return the value of this process; threads that ask meanwhile wait for it."""
        pid = os.getpid()
        # A lock of the parent may be held by a thread that the child does not have; `setdefault` is atomic.
        with self._locks.setdefault(pid, threading.Lock()):
            if pid not in self._values:
                self._values[pid] = self._make()
            return self._values[pid]
