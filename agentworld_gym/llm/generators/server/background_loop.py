"""An event loop in a daemon thread that all generators of a process share, and the waves of answers it delivers.

The loop has a thread of its own, so that generators work where another loop already runs (Jupyter, an async server).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from agentworld_gym.base.errors import ClosedError
from agentworld_gym.base.process.per_process import PerProcess
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.flow.request_stream import Delivered

T = TypeVar("T")
Answer = Completion | Failure
Deliver = Callable[[int, Answer], None]
Handover = Callable[[Delivered], None]


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


class Wave(Iterator[tuple[int, Answer]]):
    """The answers of one wave, in the order in which they come.

    The work starts at once, not at the first `next`. Closing the wave, dropping it, or an interrupt while waiting for
    an answer cancels the requests that are still open.

    Args:
        loop: The loop that the work runs on.
        size: The number of answers.
        work: The coroutine function, which delivers each index once.
    """

    def __init__(self, loop: BackgroundLoop, size: int, work: Callable[[Deliver], Coroutine[Any, Any, None]]) -> None:
        self._future: Future[None] | None = None  # There is none where the loop is closed already.
        answers: queue.SimpleQueue[list[tuple[int, Answer]] | BaseException] = queue.SimpleQueue()
        mailbox = _Mailbox(loop.loop, answers.put)
        self._answers, self._open = answers, size
        self._at_hand: Iterator[tuple[int, Answer]] = iter(())
        future = self._future = loop.start(work(mailbox.deliver))

        def end(future: Future[None]) -> None:
            mailbox.flush()
            answers.put(_reason(future) or RuntimeError("the wave ended with answers missing"))

        future.add_done_callback(end)

    def __next__(self) -> tuple[int, Answer]:
        if not self._open:
            raise StopIteration
        answer = next(self._at_hand, None)
        while answer is None:
            self._at_hand = iter(self._wait())
            answer = next(self._at_hand, None)
        self._open -= 1
        return answer

    def _wait(self) -> list[tuple[int, Answer]]:
        try:
            answers = self._answers.get()
            if isinstance(answers, BaseException):
                raise answers
        except BaseException:
            self.close()
            raise
        return answers

    def cancel(self) -> None:
        """Cancel the requests that are still open; whoever waits for an answer gets a `ClosedError`."""
        if self._future is not None:
            self._future.cancel()

    def close(self) -> None:
        """Cancel the requests that are still open and end the iteration."""
        self._open = 0
        self.cancel()

    def __del__(self) -> None:
        self.cancel()


class ServerStream:
    """Waves of requests that are sent one after the other; all answers are delivered at one place, as they come.

    Args:
        loop: The loop that the work runs on.
        work: The coroutine function, which takes requests and delivers each index once.
        deliver: The function that takes the answers.
    """

    def __init__(
        self,
        loop: BackgroundLoop,
        work: Callable[[list[ChatRequest], Deliver], Coroutine[Any, Any, None]],
        deliver: Handover,
    ) -> None:
        self._loop, self._work, self._deliver = loop, work, deliver
        self._futures: set[Future[None]] = set()

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        """Send some requests now, each under a number of its own."""
        numbers = [number for number, _ in requests]
        mailbox = _Mailbox(
            self._loop.loop, lambda answers: self._deliver([(numbers[index], answer) for index, answer in answers])
        )
        future = self._loop.start(self._work([request for _, request in requests], mailbox.deliver))
        self._futures.add(future)
        future.add_done_callback(partial(self._end, mailbox))

    def _end(self, mailbox: _Mailbox, future: Future[None]) -> None:
        mailbox.flush()
        self._futures.discard(future)
        if (reason := _reason(future)) is not None:
            self._deliver(reason)

    def work(self) -> None:
        """Do nothing: the loop has a thread of its own."""

    def cancel(self) -> None:
        """Cancel the requests that are open; whoever waits for an answer gets a `ClosedError`."""
        for future in list(self._futures):
            future.cancel()

    def close(self) -> None:
        """Cancel the requests that are open."""
        self.cancel()

    def __del__(self) -> None:
        self.cancel()


class _Mailbox:
    """Hands answers from the loop's thread to the consumer's, all of one turn of the loop together.

    Waking the consumer for every answer would make two threads fight over the interpreter in the middle of a wave.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, put: Callable[[list[tuple[int, Answer]]], None]) -> None:
        self._loop, self._put = loop, put
        self._turn: list[tuple[int, Answer]] = []

    def deliver(self, index: int, answer: Answer) -> None:
        """Keep an answer for the end of this turn of the loop; this is called on the loop."""
        if not self._turn:
            self._loop.call_soon(self.flush)
        self._turn.append((index, answer))

    def flush(self) -> None:
        """Hand over what was kept."""
        turn, self._turn = self._turn, []
        if turn:
            self._put(turn)


def _reason(future: Future[None]) -> BaseException | None:
    """Return why requests that ended have no answer; None where they have one."""
    if future.cancelled():
        return ClosedError("the wave was cancelled: its generator was closed")
    return future.exception()
