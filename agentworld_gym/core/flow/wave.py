"""The synchronous wave: pieces of work that go on together, one round of questions after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.flow.pieces import Piece, Scheduler
from agentworld_gym.core.flow.questions import BatchedCall, Request, Work
from agentworld_gym.core.flow.streams import UNANSWERED

T = TypeVar("T")


def in_one_wave(works: Iterable[Work[T]]) -> list[T]:
    """Do some pieces of work as a synchronous wave, and return their results in order.

    The questions of a round are asked together, and the next round begins when all of them are answered. An interrupt
    before all pieces came to `TOGETHER` leaves every session as it was.

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
    try:
        _Wave(pieces).run()
    except BaseException:
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
        self._requests: dict[int, list[tuple[Piece, Request]]] = {}

    def run(self) -> None:
        """Let all pieces go on to their ends."""
        while self._ready:
            for piece, answer in self._ready:  # It grows on the way: by branches, and by pieces whose branches end.
                self._resume(piece, answer)
            self._ready = []
            if self._calls:
                self._call()
            if self._requests:
                self._submit()
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
            self._requests.setdefault(id(question.generator), []).append((piece, question))

    def _call(self) -> None:
        """Call each function once, with all questions to it."""
        calls, self._calls = self._calls, {}
        for function, questions in calls.items():
            lists = zip(*[question.arguments for _, question in questions], strict=True)
            answers = function(*map(list, lists))
            self._ready += [(piece, answer) for (piece, _), answer in zip(questions, answers, strict=True)]

    def _submit(self) -> None:
        """Submit the requests to each generator together; of those that have one key only the first is sent."""
        submitted, self._requests = self._requests, {}
        for questions in submitted.values():
            places: dict[Any, int] = {}
            sent: list[ChatRequest] = []
            place_of: list[int] = []
            for _, question in questions:
                key = len(sent) if question.key is None else question.key
                if key not in places:
                    places[key] = len(sent)
                    sent.append(question.request)
                place_of.append(places[key])
            answers: list[Completion | Failure] = [UNANSWERED] * len(sent)
            for place, answer in questions[0][1].generator.submit(sent):
                answers[place] = answer
            self._ready += [(piece, answers[place]) for (piece, _), place in zip(questions, place_of, strict=True)]
