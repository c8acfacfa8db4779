"""An event loop without files: nothing that a world awaits comes from outside its process.

The loop of asyncio holds a selector and a pair of sockets. Processes that are copies of each other would share them,
and so wake each other.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any


class Waiting:
    """A selector that watches nothing and waits until it is woken, or for some seconds."""

    def __init__(self) -> None:
        self._woken = threading.Event()

    def select(self, timeout: float | None = None) -> list[Any]:
        """Wait, and return no events."""
        if timeout is None or timeout > 0:
            self._woken.wait(timeout)
        self._woken.clear()
        return []

    def wake(self) -> None:
        """End the waiting, from whatever thread."""
        self._woken.set()


class RestrictedLoop(asyncio.BaseEventLoop):
    """Runs coroutines, timers and threads, but no transports.

    Args:
        clock: The clock that timers look at, in seconds.

    >>> from time import monotonic
    >>> loop = RestrictedLoop(monotonic)
    >>> loop.run_until_complete(asyncio.sleep(0, "done"))
    'done'
    >>> loop.close()
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock, self._selector = clock, Waiting()

    def time(self) -> float:
        """Return the time of the clock."""
        return self._clock()

    async def let_others_run(self, turns: int) -> None:
        """Give all other work some turns, as long as any of it can go on by itself."""
        for _ in range(turns):
            await asyncio.tasks.sleep(0)
            if not getattr(self, "_ready"):  # noqa: B009  (the stubs do not know it)
                return

    def _process_events(self, events: list[Any]) -> None:
        """Do nothing: there are none."""

    def _write_to_self(self) -> None:
        self._selector.wake()


def install(clock: Callable[[], float]) -> RestrictedLoop:
    """Return the loop of this process, and let asyncio make such loops only.

    Args:
        clock: The clock that timers look at, in seconds.
    """
    for module in (asyncio, asyncio.events):
        setattr(module, "new_event_loop", partial(RestrictedLoop, clock))  # noqa: B010  (mypy takes no assignment)
    loop = RestrictedLoop(clock)
    asyncio.set_event_loop(loop)
    return loop
