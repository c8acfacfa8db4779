"""Where questions go, and how their answers come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, TypeAlias

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator
from agentworld_gym.core.flow.request_stream import Deliver, Delivered, RequestStream, StreamingGenerator

Answers: TypeAlias = Iterator[tuple[int, Completion | Failure]]

UNANSWERED = Failure(FailureKind.MALFORMED, "the generator gave no answer for this request", retryable=True)


def stream_of(generator: Generator, deliver: Deliver) -> RequestStream:
    """Return a stream of requests to any generator.

    One that has no streams of its own is asked in waves: all requests that wait are submitted together, while the flow
    waits for an answer.

    Args:
        generator: The generator.
        deliver: The function that takes answers, each with the number of its request; any thread may call it.
    """
    return generator.stream(deliver) if isinstance(generator, StreamingGenerator) else _Submissions(generator, deliver)


def submit_to(open_stream: Callable[[Deliver], RequestStream], requests: Sequence[ChatRequest]) -> Answers:
    """Send requests through a stream of their own, and return an iterator of the answers as they come.

    The work starts at once, not at the first `next`. Closing the iterator, dropping it, or an interrupt while it waits
    for an answer cancels the requests that are still open.

    Args:
        open_stream: The function that opens the stream.
        requests: The requests; each answer comes with the index of its own.
    """
    delivered: SimpleQueue[Delivered] = SimpleQueue()
    stream = open_stream(delivered.put)
    stream.send(list(enumerate(requests)))
    return _as_they_come(stream, delivered, len(requests))


def _as_they_come(stream: RequestStream, delivered: SimpleQueue[Delivered], count: int) -> Answers:
    try:
        while count:
            some = delivered.get()
            if isinstance(some, BaseException):
                raise some
            count -= len(some)
            yield from some
    finally:
        if count:
            stream.close()


class _Submissions:
    """Requests to a generator that answers waves."""

    def __init__(self, generator: Generator, deliver: Deliver) -> None:
        self._generator, self._deliver = generator, deliver
        self._waiting: dict[int, ChatRequest] = {}

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        self._waiting.update(requests)

    def work(self) -> None:
        if not self._waiting:
            return
        numbers = list(self._waiting)
        for place, answer in self._generator.submit(list(self._waiting.values())):
            self._deliver([(numbers[place], answer)])
            del self._waiting[numbers[place]]
        unanswered, self._waiting = self._waiting, {}
        if unanswered:
            self._deliver([(number, UNANSWERED) for number in unanswered])

    def close(self) -> None:
        self._waiting = {}


class CallStream:
    """Questions to a function that answers many at once."""

    def __init__(self, function: Callable[..., Sequence[Any]], deliver: Deliver) -> None:
        self._function, self._deliver = function, deliver
        self._waiting: list[tuple[int, tuple[Any, ...]]] = []

    @property
    def waiting(self) -> bool:
        """Whether there are questions that wait."""
        return bool(self._waiting)

    def send(self, calls: Sequence[tuple[int, tuple[Any, ...]]]) -> None:
        """Keep some questions, each under a number of its own."""
        self._waiting += calls

    def work(self) -> None:
        """Call the function with the questions that wait, if there are any."""
        if not self._waiting:
            return
        # A function may change its sessions one after the other; to cut it short would lose the answers of some.
        with deferred_interrupt():
            lists = zip(*(arguments for _, arguments in self._waiting), strict=True)
            answers = self._function(*map(list, lists))
            waiting, self._waiting = self._waiting, []
            self._deliver([(number, answer) for (number, _), answer in zip(waiting, answers, strict=True)])

    def close(self) -> None:
        """Forget the questions that wait."""
        self._waiting = []


class Mailbox:
    """Answers from any thread, of which an interrupt loses none."""

    def __init__(self) -> None:
        self._answers: deque[Delivered] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()

    def put(self, answers: Delivered) -> None:
        """Put some answers in."""
        self._answers.append(answers)
        self._bell.put(None)

    def wait(self) -> None:
        """Wait until there are answers."""
        while not self._answers:
            self._bell.get()

    def emptied(self) -> Iterator[Delivered]:
        """Yield and take out the answers that are there."""
        while not self._bell.empty():
            self._bell.get()
        while self._answers:
            yield self._answers.popleft()
