"""What a run does when it is told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop` (in the main thread; elsewhere Python allows no handlers).

    >>> import os
    >>> told = []
    >>> with stopped_by_signals(lambda: told.append("stop")):
    ...     os.kill(os.getpid(), signal.SIGTERM)
    >>> told
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
