"""Pieces of work under way, each of which goes on as its answers come."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.flow.pieces import Piece, Scheduler
from agentworld_gym.core.flow.questions import BatchedCall, Request, Work
from agentworld_gym.core.flow.request_stream import RequestStream
from agentworld_gym.core.flow.streams import CallStream, Mailbox, stream_of

T = TypeVar("T")


@dataclass(slots=True)
class _Open:
    """A question that is open, and who waits for its answer."""

    key: str | None
    askers: list[Piece]


class Flow(Scheduler, Generic[T]):
    """Pieces of work under way, each of which goes on as its answers come.

    Answers come from other threads or are made while `recv` waits; every piece of work is resumed in the thread that
    calls. An interrupt of `recv` loses nothing: what was under way still is, and the next call waits for it again.

    >>> def double(number):
    ...     answer = yield BatchedCall(lambda numbers: [2 * n for n in numbers], (number,))
    ...     return answer
    >>> flow = Flow()
    >>> flow.send([("a", double(1)), ("b", double(2))])
    >>> flow.recv()
    [('a', 2), ('b', 4)]
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tags: dict[Piece, Any] = {}
        self._open: dict[int, _Open] = {}
        self._keys: dict[str, _Open] = {}
        self._inbox: deque[tuple[Piece, Any]] = deque()
        self._outbox: dict[Any, tuple[Request | BatchedCall, list[tuple[int, Any]]]] = {}
        self._streams: dict[Any, RequestStream | CallStream] = {}
        self._mailbox = Mailbox()
        self._done: list[tuple[Any, T]] = []

    @property
    def under_way(self) -> int:
        """The number of pieces of work that have not been handed out by `recv`."""
        return len(self._tags) + len(self._done)

    def send(self, works: Iterable[tuple[Any, Work[T]]]) -> None:
        """Begin some pieces of work, each under a tag of its own; their first questions are asked at once."""
        for tag, work in works:
            piece = Piece(work)
            self._tags[piece] = tag
            self._go(piece, None)
        self._go_on()

    def recv(self, min_ready: int = 1) -> list[tuple[Any, T]]:
        """Return what has ended, with its tags and in the order of the ends.

        Functions answer before anything is returned, because nobody has to be waited for there.

        Args:
            min_ready: The number of ends to wait for; where fewer are under way, all of them.

        Raises:
            Exception: A piece of work raised it. That piece is over; the others are under way as before.
        """
        self._collect()
        self._go_on()
        self._call()
        while len(self._done) < min_ready and self._tags:
            self._turn()
        done, self._done = self._done, []
        return done

    def recv_of(self, tags: Sequence[Any]) -> list[tuple[Any, T]]:
        """Return what the work under some tags came to, in the order of the tags; what else has ended stays here.

        Args:
            tags: The tags, all of them under way.

        Raises:
            Exception: A piece of work raised it. That piece is over; the others are under way as before.
        """
        self._collect()
        self._go_on()
        wanted = set(tags)
        while not wanted.isdisjoint(self._tags.values()):
            self._turn()
        ended = dict(self._done)
        self._done = [one for one in self._done if one[0] not in wanted]
        return [(tag, ended[tag]) for tag in tags]

    def drop(self, tags: Iterable[Any]) -> None:
        """Abandon the work under some tags; answers that come later are ignored."""
        unwanted = list(tags)
        for piece in [piece for piece, tag in self._tags.items() if tag in unwanted]:
            self._abandon(piece)
        self._done = [(tag, result) for tag, result in self._done if tag not in unwanted]

    def close(self) -> None:
        """Abandon all work, and cancel the requests that are open. A second call does nothing."""
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.close()
        for piece in list(self._tags):
            self._abandon(piece)
        self._done.clear()

    def _turn(self) -> None:
        """Wait until something can go on, and let it."""
        for stream in list(self._streams.values()):
            stream.work()
        self._mailbox.wait()
        self._collect()
        self._go_on()

    def _call(self) -> None:
        """Let functions answer all questions to them, also those that come up on the way."""
        while calls := [one for one in self._streams.values() if isinstance(one, CallStream) and one.waiting]:
            for call in calls:
                call.work()
            self._collect()
            self._go_on()

    def _collect(self) -> None:
        """Give the answers that are there to those who asked."""
        with deferred_interrupt():
            for answers in self._mailbox.emptied():
                if isinstance(answers, BaseException):
                    raise answers
                for number, answer in answers:
                    question = self._open.pop(number, None)
                    if question is None:  # An interrupt made the generator answer twice.
                        continue
                    if question.key is not None:
                        del self._keys[question.key]
                    self._inbox.extend((asker, answer) for asker in question.askers)

    def _go_on(self) -> None:
        """Resume all work that has an answer, and ask what it asks."""
        with deferred_interrupt():
            while self._inbox:
                piece, answer = self._inbox.popleft()
                if piece.over:
                    continue
                try:
                    self._resume(piece, answer)
                except BaseException:
                    self._abandon(piece.root)
                    raise
            outbox, self._outbox = self._outbox, {}
            for name, (asked, questions) in outbox.items():
                self._stream(name, asked).send(questions)

    def _go(self, piece: Piece, answer: Any) -> None:
        self._inbox.append((piece, answer))

    def _hold(self, piece: Piece) -> None:
        self._inbox.appendleft((piece, None))

    def _ask(self, piece: Piece, question: Request | BatchedCall) -> None:
        key = question.key if isinstance(question, Request) else None
        if key is not None and key in self._keys:
            self._keys[key].askers.append(piece)
            return
        number = next(self._numbers)
        one = self._open[number] = _Open(key, [piece])
        if key is not None:
            self._keys[key] = one
        if isinstance(question, BatchedCall):
            self._outbox.setdefault(question.function, (question, []))[1].append((number, question.arguments))
        else:
            self._outbox.setdefault(id(question.generator), (question, []))[1].append((number, question.request))

    def _end(self, piece: Piece) -> None:
        self._done.append((self._tags.pop(piece), piece.result))

    def _abandon(self, piece: Piece) -> None:
        """Close a piece of work and the pieces that it waits for."""
        self._tags.pop(piece, None)
        piece.close()

    def _stream(self, name: Any, asked: Request | BatchedCall) -> RequestStream | CallStream:
        if name not in self._streams:
            self._streams[name] = self._open_stream(asked)
        return self._streams[name]

    def _open_stream(self, asked: Request | BatchedCall) -> RequestStream | CallStream:
        if isinstance(asked, Request):
            return stream_of(asked.generator, self._mailbox.put)
        return CallStream(asked.function, self._mailbox.put)
