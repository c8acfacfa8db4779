"""A clean stop of a run by the signals SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT and SIGTERM call a function in the block; outside the main thread Python allows no handlers.

    Args:
        stop: The function.

    >>> import os
    >>> calls = []
    >>> with stopped_by_signals(lambda: calls.append("stop")):
    ...     os.kill(os.getpid(), signal.SIGTERM)
    >>> calls
    ['stop']
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
