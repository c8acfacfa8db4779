"""Pieces of work under way, each of which goes on as its answers come."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.core.flow.questions import TOGETHER, BatchedCall, Request, Work
from agentworld_gym.core.flow.request_stream import RequestStream
from agentworld_gym.core.flow.streams import CallStream, Mailbox, stream_of

T = TypeVar("T")


@dataclass(slots=True)
class _Open:
    """A question that is open, and who waits for its answer."""

    key: str | None
    askers: list[int]


@dataclass(slots=True)
class _Branches:
    """What pieces of work within another one came to."""

    results: list[Any]
    missing: int


class Flow(Generic[T]):
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
        self._works: dict[int, Work[Any]] = {}
        self._tags: dict[int, Any] = {}
        self._branches: dict[int, _Branches] = {}
        self._parents: dict[int, tuple[int, int]] = {}
        self._open: dict[int, _Open] = {}
        self._keys: dict[str, int] = {}
        self._inbox: deque[tuple[int, Any]] = deque()
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
            number = self._begin(work)
            self._tags[number] = tag
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
        for number in [number for number, tag in self._tags.items() if tag in unwanted]:
            self._abandon(number)
        self._done = [(tag, result) for tag, result in self._done if tag not in unwanted]

    def close(self) -> None:
        """Abandon all work, and cancel the requests that are open. A second call does nothing."""
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.close()
        for number in list(self._tags):
            self._abandon(number)
        self._done.clear()

    def _begin(self, work: Work[Any]) -> int:
        number = next(self._numbers)
        self._works[number] = work
        self._inbox.append((number, None))
        return number

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
                self._resume(*self._inbox.popleft())
            outbox, self._outbox = self._outbox, {}
            for name, (asked, questions) in outbox.items():
                self._stream(name, asked).send(questions)

    def _resume(self, number: int, answer: Any) -> None:
        work = self._works.get(number)
        if work is None:
            return
        try:
            asked = work.send(answer)
        except StopIteration as end:
            self._end(number, end.value)
            return
        except BaseException:
            self._abandon(self._root(number))
            raise
        if asked is TOGETHER:
            self._inbox.appendleft((number, None))
        elif isinstance(asked, list):
            self._branches[number] = _Branches([None] * len(asked), len(asked))
            for place, branch in enumerate(asked):
                self._parents[self._begin(branch)] = number, place
            if not asked:
                self._inbox.append((number, []))
        else:
            self._ask(number, asked)

    def _ask(self, number: int, asked: Request | BatchedCall) -> None:
        key = asked.key if isinstance(asked, Request) else None
        if key is not None and key in self._keys:
            self._open[self._keys[key]].askers.append(number)
            return
        if key is not None:
            self._keys[key] = number
        self._open[number] = _Open(key, [number])
        if isinstance(asked, BatchedCall):
            self._outbox.setdefault(asked.function, (asked, []))[1].append((number, asked.arguments))
        else:
            self._outbox.setdefault(id(asked.generator), (asked, []))[1].append((number, asked.request))

    def _end(self, number: int, result: Any) -> None:
        del self._works[number]
        if number in self._tags:
            self._done.append((self._tags.pop(number), result))
            return
        parent, place = self._parents.pop(number)
        branches = self._branches[parent]
        branches.results[place] = result
        branches.missing -= 1
        if not branches.missing:
            del self._branches[parent]
            self._inbox.append((parent, branches.results))

    def _root(self, number: int) -> int:
        while number in self._parents:
            number = self._parents[number][0]
        return number

    def _abandon(self, number: int) -> None:
        """Close a piece of work and the pieces that it waits for."""
        self._tags.pop(number, None)
        self._branches.pop(number, None)
        for branch in [branch for branch, (parent, _) in self._parents.items() if parent == number]:
            del self._parents[branch]
            self._abandon(branch)
        for question in self._open.values():
            if number in question.askers:
                question.askers.remove(number)
        if (work := self._works.pop(number, None)) is not None:
            work.close()

    def _stream(self, name: Any, asked: Request | BatchedCall) -> RequestStream | CallStream:
        if name not in self._streams:
            self._streams[name] = self._open_stream(asked)
        return self._streams[name]

    def _open_stream(self, asked: Request | BatchedCall) -> RequestStream | CallStream:
        if isinstance(asked, Request):
            return stream_of(asked.generator, self._mailbox.put)
        return CallStream(asked.function, self._mailbox.put)
