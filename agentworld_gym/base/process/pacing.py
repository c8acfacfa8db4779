"""The pace at which long work reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 30.0
"""The seconds between two lines in a log."""


def paced(
    seconds: float = SECONDS, at_once: bool = False, clock: Callable[[], float] = time.monotonic
) -> Callable[[], bool]:
    """Return a function that is true at most once in some seconds.

    Args:
        seconds: The seconds between two calls that are true.
        at_once: Whether the first call is true; otherwise the first true one comes `seconds` later.
        clock: The clock, in seconds.

    >>> now = iter([0.0, 10.0, 30.0, 40.0, 61.0])
    >>> due = paced(30, clock=lambda: next(now))
    >>> [due() for _ in range(4)]
    [False, True, False, True]
    """
    last = clock() - (seconds if at_once else 0)

    def due() -> bool:
        nonlocal last
        now = clock()
        if now - last < seconds:
            return False
        last = now
        return True

    return due
