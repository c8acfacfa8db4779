"""The synchronous wave: pieces of work that go on together, one round of questions after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure
from agentworld_gym.core.flow.questions import TOGETHER, BatchedCall, Request, Work
from agentworld_gym.core.flow.streams import UNANSWERED

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece of work, what it came to, and the piece that waits for it."""

    work: Work[Any]
    parent: _Piece | None = None
    result: Any = None
    branches: Sequence[_Piece] = ()
    missing: int = 0

    def close(self) -> None:
        """Close the work and its branches, which does nothing where they have ended."""
        for branch in self.branches:
            branch.close()
        self.work.close()


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
    pieces = [_Piece(work) for work in works]
    wave = _Wave([(piece, None) for piece in pieces])
    try:
        wave.run()
    except BaseException:
        for piece in pieces:
            piece.close()
        raise
    return [piece.result for piece in pieces]


@dataclass(slots=True)
class _Wave:
    """The pieces of a wave, by what they wait for."""

    ready: list[tuple[_Piece, Any]]
    """The pieces that can go on, each with the answer to its question."""

    held: list[_Piece] = field(default_factory=list)
    """The pieces that came to `TOGETHER`."""

    calls: dict[Any, list[tuple[_Piece, BatchedCall]]] = field(default_factory=dict)
    """The questions to functions, by function."""

    requests: dict[int, list[tuple[_Piece, Request]]] = field(default_factory=dict)
    """The questions to generators, by the identity of the generator."""

    def run(self) -> None:
        """Let all pieces go on to their ends."""
        while self.ready:
            for (
                piece,
                answer,
            ) in self.ready:  # The list grows on the way: by branches, and by pieces whose branches end.
                self._resume(piece, answer)
            self.ready = []
            if self.calls:
                self._call()
            if self.requests:
                self._submit()
            if not self.ready:
                self.ready, self.held = [(piece, None) for piece in self.held], []

    def _resume(self, piece: _Piece, answer: Any) -> None:
        """Let a piece go on to its next question, and put it where it waits."""
        try:
            question = piece.work.send(answer)
        except StopIteration as end:
            piece.result = end.value
            if (parent := piece.parent) is not None:
                parent.missing -= 1
                if not parent.missing:
                    self.ready.append((parent, [branch.result for branch in parent.branches]))
            return
        if question is TOGETHER:
            self.held.append(piece)
        elif isinstance(question, BatchedCall):
            self.calls.setdefault(question.function, []).append((piece, question))
        elif isinstance(question, Request):
            self.requests.setdefault(id(question.generator), []).append((piece, question))
        else:
            piece.branches = [_Piece(work, piece) for work in question]
            piece.missing = len(question)
            self.ready.extend([(branch, None) for branch in piece.branches] or [(piece, [])])

    def _call(self) -> None:
        """Call each function once, with all questions to it."""
        calls, self.calls = self.calls, {}
        for function, questions in calls.items():
            lists = zip(*[question.arguments for _, question in questions], strict=True)
            answers = function(*map(list, lists))
            self.ready += [(piece, answer) for (piece, _), answer in zip(questions, answers, strict=True)]

    def _submit(self) -> None:
        """Submit the requests to each generator together; of those that have one key only the first is sent."""
        submitted, self.requests = self.requests, {}
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
            self.ready += [(piece, answers[place]) for (piece, _), place in zip(questions, place_of, strict=True)]
