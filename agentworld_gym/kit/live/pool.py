"""Sessions of a live system that start ahead, side by side, in a bounded number, and leave nothing behind."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost

logger = logging.getLogger(__name__)

STARTS = max(4, 2 * (os.cpu_count() or 1))
"""How many sessions start at a time; more would share the same processors."""

TRIES = 2
"""How many times a session is started that ends, or is late, before anything was done in it."""


class Pooled(Protocol):
    """A session as a pool knows it."""

    @property
    def alive(self) -> bool:
        """Whether it can go on."""
        ...

    def reset(self) -> bool:
        """Go back to how it began, and return whether that is certain."""
        ...

    def close(self) -> None:
        """End it."""
        ...


S = TypeVar("S", bound=Pooled)


class LivePool(Generic[S]):
    """Sessions that can be taken. They start side by side, and end in the background.

    Args:
        open_session: The function that starts one.
        most: How many there may be at a time.
        ahead: How many are started ahead.
        seconds: How long is waited for one where there are as many as there may be.
    """

    def __init__(self, open_session: Callable[[], S], most: int, ahead: int, seconds: float) -> None:
        self._open, self._most, self._ahead, self._seconds = open_session, most, min(ahead, most), seconds
        self._changed = threading.Condition()
        self._ready: deque[S] = deque()
        self._all: set[S] = set()
        self._coming = 0
        self._closed = False
        # The threads last as long as the pool: a process that dies with its parent dies with the thread that made it.
        self._workers = ThreadPoolExecutor(STARTS, thread_name_prefix="agentworld-live")
        self._enders = ThreadPoolExecutor(STARTS, thread_name_prefix="agentworld-live-end")

    def take(self) -> S:
        """Return a session, of those that wait or a new one, and let others start ahead.

        Raises:
            EngineError: It cannot be started, or there are too many.
        """
        session = self._taken()
        while session is not None and not session.alive:
            self.drop(session)
            session = self._taken()
        if session is None:
            session = self._started(self._start)
            assert session is not None
        self._start_ahead()
        return session

    def copied(self, copy: Callable[[], S | None]) -> S | None:
        """Return the session that a function makes; None where it makes none.

        Raises:
            EngineError: The function raises it, or there are too many sessions.
        """
        waiting = self._taken(ready=False)
        assert waiting is None
        return self._started(copy)

    def _taken(self, ready: bool = True) -> S | None:
        """Return a session that waits; None where one has to be started, for which there is room then.

        Args:
            ready: Whether one that waits will do. Elsewhere it makes room where there is none.

        Raises:
            EngineError: There are too many.
        """
        until = time.monotonic() + self._seconds
        while True:
            with self._changed:
                if self._closed:
                    raise EngineError("the live world is closed")
                if self._ready and ready:
                    return self._ready.popleft()
                if len(self._all) + self._coming < self._most:
                    self._coming += 1
                    return None
                surplus = self._ready.popleft() if self._ready else None
                if surplus is None and not self._changed.wait(until - time.monotonic()):
                    raise EngineError(f"all {self._most} sessions of the live system are in use; see the key sessions")
            if surplus is not None:  # Its end may take long, and holds nobody up.
                self.drop(surplus)

    def _started(self, start: Callable[[], S | None]) -> S | None:
        """Start a session for which there is room; None where the function starts none.

        Raises:
            EngineError: It cannot be started.
        """
        try:
            session = self._workers.submit(start).result()
        except BaseException:
            with self._changed:
                self._coming -= 1
                self._changed.notify_all()
            raise
        try:
            with self._changed:
                closed = self._closed
                if session is not None and not closed:
                    self._all.add(session)
            if closed and session is not None:
                session.close()
        finally:  # Whoever closes the pool waits for this.
            with self._changed:
                self._coming -= 1
                self._changed.notify_all()
        if closed:
            raise EngineError("the live world is closed")
        return session

    def _start(self) -> S:
        for left in reversed(range(TRIES)):
            try:
                return self._open()
            except (SystemLost, SystemLate):
                if not left or self._closed:
                    raise
        raise AssertionError("unreachable")

    def _start_ahead(self) -> None:
        with self._changed:
            room = self._most - len(self._all) - self._coming
            more = 0 if self._closed else min(self._ahead - len(self._ready) - self._coming, room)
            self._coming += max(0, more)
        for _ in range(more):
            threading.Thread(target=self._one_ahead, name="agentworld-live-ahead", daemon=True).start()

    def _one_ahead(self) -> None:
        with suppress(Exception):  # Whoever takes the next one is told why none can be started.
            session = self._started(self._start)
            assert session is not None
            with self._changed:
                self._ready.append(session)
                self._changed.notify_all()

    def give_back(self, session: S) -> None:
        """Take back a session that nothing was done in."""
        with self._changed:
            if session.alive and not self._closed:
                self._ready.append(session)
                self._changed.notify_all()
                return
        self.drop(session)

    def free(self, session: S) -> None:
        """Take back a session: it goes on where a reset was checked, and ends elsewhere, both in the background."""
        with suppress(RuntimeError):  # The pool is closed, and so is the session.
            self._enders.submit(self._free, session)

    def _free(self, session: S) -> None:
        certain = False
        try:
            certain = not self._closed and session.alive and session.reset()
        except EngineError as error:
            if not self._closed:  # Else it was ended meanwhile.
                logger.warning("A live system could not be reset, so that another one is started: %s", error)
        finally:
            (self.give_back if certain else self.drop)(session)

    def drop(self, session: S) -> None:
        """End a session."""
        try:
            session.close()
        finally:
            with self._changed:
                self._all.discard(session)
                self._changed.notify_all()

    def close(self) -> None:
        """End all sessions, those in use too, and wait for that; a second call does nothing."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            sessions = list(self._all)
            self._ready.clear()
            self._changed.notify_all()
        ending = [self._enders.submit(self.drop, session) for session in sessions]
        for one in ending:
            with suppress(Exception):
                one.result()
        with self._changed:
            self._changed.wait_for(lambda: not self._coming, self._seconds)
        self._workers.shutdown(wait=True)
        self._enders.shutdown(wait=True)
