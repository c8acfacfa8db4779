"""An event loop in a daemon thread that all generators of a process share, and the streams of answers that it delivers.

The loop has a thread of its own, so that generators work where another loop already runs (Jupyter, an async server).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from agentworld_gym.base.errors import ClosedError
from agentworld_gym.base.process.per_process import PerProcess
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.flow.request_stream import Deliver

T = TypeVar("T")
Answer = Completion | Failure
Answered = Callable[[int, Answer], None]
"""A function that takes the answer to the request of an index."""


class BackgroundLoop:
    """An event loop that runs in a daemon thread until the process ends.

    >>> async def double(x: int) -> int:
    ...     return 2 * x
    >>> background_loop().run(double(21))
    42
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="agentworld-generators", daemon=True)
        self._closers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._thread.start()
        atexit.register(self._stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine; its future can be waited for or cancelled from any thread."""
        if self.loop.is_closed():
            work.close()
            raise ClosedError("the process is shutting down")
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine and wait for what it returns. An interrupt cancels it."""
        future = self.start(work)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def close_at_exit(self, owner: Any) -> None:
        """Call `owner.aclose()` before the loop ends, if the owner still lives then."""
        self._closers.add(owner)

    def _stop(self) -> None:
        # A forked child inherits this exit handler, but not the thread.
        if os.getpid() != self.pid or self.loop.is_closed():
            return
        with contextlib.suppress(Exception):
            self.run(_close_all([owner.aclose for owner in self._closers]), timeout=5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()


async def _close_all(closers: list[Callable[[], Awaitable[None]]]) -> None:
    current = asyncio.current_task()
    waves = [task for task in asyncio.all_tasks() if task is not current]
    for task in waves:
        task.cancel()
    await asyncio.gather(*waves, return_exceptions=True)
    await asyncio.gather(*(close() for close in closers), return_exceptions=True)


def background_loop() -> BackgroundLoop:
    """Return the loop of this process; a forked child gets another one, because threads do not survive a fork."""
    return _LOOP()


_LOOP = PerProcess(BackgroundLoop)


class ServerStream:
    """Requests that are sent in batches one after the other; all answers are delivered at one place, as they come.

    Closing the stream or dropping it cancels the requests that are open; whoever waits for an answer gets a
    `ClosedError`.

    Args:
        loop: The loop that the work runs on.
        work: The coroutine function, which takes requests and gives the answer to each index once.
        deliver: The function that takes the answers.
    """

    def __init__(
        self,
        loop: BackgroundLoop,
        work: Callable[[list[ChatRequest], Answered], Coroutine[Any, Any, None]],
        deliver: Deliver,
    ) -> None:
        self._loop, self._work, self._deliver = loop, work, deliver
        self._futures: set[Future[None]] = set()

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        """Send some requests now, each under a number of its own."""
        batch = _Batch(self._loop.loop, [number for number, _ in requests], self._deliver)
        future = self._loop.start(self._work([request for _, request in requests], batch.answered))
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        future.add_done_callback(batch.end)

    def work(self) -> None:
        """Do nothing: the loop has a thread of its own."""

    def close(self) -> None:
        """Cancel the requests that are open. A second call does nothing."""
        for future in list(self._futures):
            future.cancel()

    def __del__(self) -> None:
        self.close()


class _Batch:
    """Hands the answers to some requests from the loop's thread to the consumer's, those of one turn of it together.

    Waking the consumer for every answer would make two threads fight over the interpreter in the middle of a wave.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, numbers: Sequence[int], deliver: Deliver) -> None:
        self._loop, self._numbers, self._deliver = loop, numbers, deliver
        self._missing = len(numbers)
        self._turn: list[tuple[int, Answer]] = []

    def answered(self, index: int, answer: Answer) -> None:
        """Keep an answer for the end of this turn of the loop; this is called on the loop."""
        if not self._turn:
            self._loop.call_soon(self._flush)
        self._turn.append((self._numbers[index], answer))

    def _flush(self) -> None:
        turn, self._turn = self._turn, []
        if turn:
            self._missing -= len(turn)
            self._deliver(turn)

    def end(self, future: Future[None]) -> None:
        """Hand over what was kept, and why other answers are missing."""
        self._flush()
        reason = _reason(future)
        if reason is None and self._missing:
            reason = RuntimeError("the requests ended with answers missing")
        if reason is not None:
            self._deliver(reason)


def _reason(future: Future[None]) -> BaseException | None:
    """Return why requests that ended have no answer; None where they have one."""
    if future.cancelled():
        return ClosedError("the requests were cancelled: their generator was closed")
    return future.exception()
