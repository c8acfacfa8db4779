"""Ctrl-C in places where Python would lose it, and a clean stop of a run by signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Keep a Ctrl-C until the block has ended.

    The libraries that engines are built on call back into Python: the sandbox of the shell for commands and output,
    SQLite for functions and permissions. They take an exception of such a call for a failure or a refusal, so that a
    KeyboardInterrupt that is raised there would be lost.
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


@contextmanager
def remembered_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if Ctrl-C was pressed before, for loops to call.

    Ctrl-C raises KeyboardInterrupt at once as well. But if a finalizer or the callback of a weak reference runs at that
    moment, Python prints the exception and goes on. A loop that calls the function then ends all the same, and so does
    the block.

    Raises:
        KeyboardInterrupt: The block has ended, and an earlier Ctrl-C was lost.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    pressed = False

    def press(number: int, frame: Any) -> None:
        nonlocal pressed
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            pressed = True
            raise

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, press)
    try:
        yield check
        check()
    finally:
        signal.signal(signal.SIGINT, handler)


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
