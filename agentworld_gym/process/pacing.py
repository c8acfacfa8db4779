"""How often long work says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 30.0
"""Between two lines in a log."""


def paced(
    seconds: float = SECONDS, at_once: bool = False, clock: Callable[[], float] = time.monotonic
) -> Callable[[], bool]:
    """A function that is true at most once in so many seconds.

    Args:
        seconds: between two times that it is true.
        at_once: whether it is true when it is called first; else `seconds` after this call.
        clock: tells the seconds.

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
