"""Ctrl-C while the sandbox runs a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Keep a Ctrl-C until the block has ended.

    The sandbox calls back into Python for commands and output, and takes whatever such a call raises for that command's
    failure; a KeyboardInterrupt raised there would be lost.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])
