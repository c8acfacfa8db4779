"""Ctrl-C where Python would lose it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Keep a Ctrl-C until the block has ended.

    What engines are made of calls back into Python: the sandbox for commands and output, and to look at each command
    when it is made, SQLite for functions and permissions. What such a call raises they take for a failure or a no; a
    KeyboardInterrupt raised there would be lost.
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
    """Give a function that raises the KeyboardInterrupt of an earlier Ctrl-C again.

    It is raised at once, too. But where a finalizer or the callback of a weak reference runs at that moment, Python
    prints what it raises and goes on; a loop that calls the function ends all the same, and so does the block at its
    end.

    Raises:
        KeyboardInterrupt: the block has ended, and an earlier Ctrl-C was lost.
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
