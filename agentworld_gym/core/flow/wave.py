"""The synchronous wave: pieces of work that go on together, one round of questions after the other."""

from __future__ import annotations

from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any, TypeVar

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, Generator
from agentworld_gym.core.flow.pieces import Piece, Scheduler
from agentworld_gym.core.flow.questions import BatchedCall, Request, Work
from agentworld_gym.core.flow.request_stream import Delivered, RequestStream
from agentworld_gym.core.flow.streams import UNANSWERED, stream_of

T = TypeVar("T")

_PORTION = 64
"""Requests that are sent together, while the rest of the round is still being written."""


def in_one_wave(works: Iterable[Work[T]]) -> list[T]:
    """Do some pieces of work as a synchronous wave, and return their results in order.

    The questions of a round are asked together, and the next round begins when all of them are answered. A generator
    with streams gets the first requests of a round while the last ones are still being written. An interrupt before all
    pieces came to `TOGETHER` leaves every session as it was.

    Raises:
        Exception: A piece of work, or who answers its questions, raised it; the other pieces are abandoned.

    >>> def double(number):
    ...     [answer] = yield [quadruple(number / 2)]
    ...     return answer
    >>> def quadruple(number):
    ...     return (yield BatchedCall(lambda numbers: [4 * n for n in numbers], (number,)))
    >>> in_one_wave([double(1), double(2)])
    [2.0, 4.0]
    """
    pieces = [Piece(work) for work in works]
    wave = _Wave(pieces)
    try:
        wave.run()
    except BaseException:
        wave.cancel()
        for piece in pieces:
            piece.close()
        raise
    return [piece.result for piece in pieces]


class _Wave(Scheduler):
    """The pieces of a wave, by what they wait for."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._ready: list[tuple[Piece, Any]] = [(piece, None) for piece in pieces]
        self._held: list[Piece] = []
        self._calls: dict[Any, list[tuple[Piece, BatchedCall]]] = {}
        self._rounds: dict[int, _Round] = {}

    def run(self) -> None:
        """Let all pieces go on to their ends."""
        while self._ready:
            for piece, answer in self._ready:  # It grows on the way: by branches, and by pieces whose branches end.
                self._resume(piece, answer)
            self._ready = []
            if self._calls:
                self._call()
            if self._rounds:
                self._wait()
            if not self._ready:
                self._ready, self._held = [(piece, None) for piece in self._held], []

    def _go(self, piece: Piece, answer: Any) -> None:
        self._ready.append((piece, answer))

    def _hold(self, piece: Piece) -> None:
        self._held.append(piece)

    def _end(self, piece: Piece) -> None:
        """Do nothing: its result is read when all have ended."""

    def _ask(self, piece: Piece, question: Request | BatchedCall) -> None:
        if isinstance(question, BatchedCall):
            self._calls.setdefault(question.function, []).append((piece, question))
        else:
            name = id(question.generator)
            if name not in self._rounds:
                self._rounds[name] = _Round(question.generator)
            self._rounds[name].ask(piece, question)

    def _call(self) -> None:
        """Call each function once, with all questions to it."""
        calls, self._calls = self._calls, {}
        for function, questions in calls.items():
            lists = zip(*[question.arguments for _, question in questions], strict=True)
            answers = function(*map(list, lists))
            self._ready += [(piece, answer) for (piece, _), answer in zip(questions, answers, strict=True)]

    def _wait(self) -> None:
        """Wait for the answers to all requests of this round."""
        for answers in [one.wait() for one in self._rounds.values()]:
            self._ready += answers
        self._rounds = {}

    def cancel(self) -> None:
        """Cancel the requests that are open."""
        for one in self._rounds.values():
            one.cancel()


class _Round:
    """The requests of a round to one generator; of those that have one key only the first is sent.

    Args:
        generator: The generator.
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._delivered: SimpleQueue[Delivered] = SimpleQueue()
        self._stream: RequestStream | None = None
        self._requests: list[ChatRequest] = []
        self._sent = 0
        self._askers: list[tuple[Piece, int]] = []
        self._places: dict[str, int] = {}

    def ask(self, piece: Piece, question: Request) -> None:
        """Ask what a piece asks, with the portion that it fills."""
        new = len(self._requests)
        place = new if question.key is None else self._places.setdefault(question.key, new)
        self._askers.append((piece, place))
        if place == new:
            self._requests.append(question.request)
            if len(self._requests) - self._sent == _PORTION:
                self._send()

    def _send(self) -> None:
        if self._stream is None:
            self._stream = stream_of(self._generator, self._delivered.put)
        self._stream.send(list(enumerate(self._requests[self._sent :], self._sent)))
        self._sent = len(self._requests)

    def wait(self) -> list[tuple[Piece, Completion | Failure]]:
        """Send the rest, wait for all answers, and return who gets which."""
        answers: dict[int, Completion | Failure] = {}
        if self._stream is None:  # So small a round needs no stream of its own.
            answers.update(self._generator.submit(self._requests))
        else:
            if self._sent < len(self._requests):
                self._send()
            while len(answers) < self._sent:
                self._stream.work()
                some = self._delivered.get()
                if isinstance(some, BaseException):
                    raise some
                answers.update(some)
        return [(piece, answers.get(place, UNANSWERED)) for piece, place in self._askers]

    def cancel(self) -> None:
        """Cancel the requests that are open."""
        if self._stream is not None:
            self._stream.close()
