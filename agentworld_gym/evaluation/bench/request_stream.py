"""Requests in flight: up to a limit for each generator, with the answers of several generators in one queue."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator

T = TypeVar("T")
Answer = Completion | Failure
Answers = SimpleQueue[tuple["BoundedRequestStream[T]", T, Answer] | BaseException]
UNANSWERED = Failure(
    FailureKind.SERVER, "the generator ended its wave without an answer to this request", retryable=True
)


@dataclass(eq=False)
class BoundedRequestStream(Generic[T]):
    """Keeps up to `limit` requests of one generator in flight; requests that are offered beyond that wait."""

    generator: Generator
    """The generator that answers."""

    limit: int
    """The number of requests that may be open."""

    answers: Answers[T]
    """The queue that answers go to with their tickets; an exception of the generator goes there too."""

    overlap: bool = True
    """Whether requests are sent while others are open. A generator that runs in this process answers a wave as one
    batch and wants it whole; without overlap the next wave waits for the end of the last one."""

    open: int = 0
    """The number of requests that are open."""

    _waiting: deque[tuple[T, ChatRequest]] = field(default_factory=deque)

    @property
    def room(self) -> int:
        """The number of further requests that could be in flight at once."""
        return self.limit - self.open - len(self._waiting)

    @property
    def idle(self) -> bool:
        """Whether nothing is open and nothing waits."""
        return not self.open and not self._waiting

    def offer(self, ticket: T, request: ChatRequest) -> None:
        """Add a request; `send` starts it."""
        self._waiting.append((ticket, request))

    def send(self) -> None:
        """Start what waits, as far as there is room, as one wave in a thread of its own."""
        size = min(len(self._waiting), self.limit - self.open)
        if size <= 0 or (self.open and not self.overlap):
            return
        wave = [self._waiting.popleft() for _ in range(size)]
        self.open += size
        threading.Thread(target=self._run, args=(wave,), daemon=True).start()

    def _run(self, wave: list[tuple[T, ChatRequest]]) -> None:
        due = set(range(len(wave)))
        try:
            for place, answer in self.generator.submit([request for _, request in wave]):
                due.discard(place)
                self.answers.put((self, wave[place][0], answer))
            for place in sorted(due):
                self.answers.put((self, wave[place][0], UNANSWERED))
        except BaseException as error:
            self.answers.put(error)


def arrivals(answers: Answers[T]) -> Iterator[tuple[T, Answer]]:
    """Yield the answers that are there, after waiting for the first one.

    Raises:
        BaseException: A generator raised it.
    """
    item = answers.get()
    while True:
        if isinstance(item, BaseException):
            raise item
        stream, ticket, answer = item
        stream.open -= 1
        yield ticket, answer
        try:
            item = answers.get_nowait()
        except Empty:
            return
