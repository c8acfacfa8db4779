"""Several servers of one model as one generator: which of them is asked, and what happens when one is gone."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from agentworld_gym.base.errors import ClosedError, GeneratorError
from agentworld_gym.core.contracts import ChatRequest, Completion, Conversation, Failure, FailureKind, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.flow.request_stream import Deliver, Delivered
from agentworld_gym.core.flow.streams import submit_to
from agentworld_gym.llm.generators.server.generator import ServerGenerator

log = logging.getLogger(__name__)

TRIES = 3
"""The number of replicas that a request is sent to before its failure is that of the request."""

_MOVING = frozenset({FailureKind.CONNECTION, FailureKind.SERVER})


class Router:
    """Decides which replica is asked: the one of the conversation, or else the one with the fewest open requests.

    Among equally busy replicas that with the fewest conversations is taken, and among those one by chance, so that
    several processes do not all begin with the same one. Any thread may call the methods.

    Args:
        count: The number of replicas.
        rest_s: The seconds for which a replica that is at fault is left alone, while there are others.
        clock: The function that tells the time in seconds.
        chance: The source of chance; None takes that of the system, so that no seed of a user's own draws is touched.

    >>> router = Router(2)
    >>> one, other = Conversation(), Conversation()
    >>> first, second = router.take(one), router.take(other)
    >>> router.done(first), router.done(second)
    (None, None)
    >>> {first, second} == {0, 1}, router.take(one) == first
    (True, True)
    """

    def __init__(
        self,
        count: int,
        rest_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
        chance: random.Random | None = None,
    ) -> None:
        self._rest_s, self._clock, self._chance = rest_s, clock, chance or random.SystemRandom()
        self._open, self._rested = [0] * count, [0.0] * count
        self._homes: WeakKeyDictionary[Conversation, int] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def at_home(self, conversation: Conversation | None) -> bool:
        """Return whether a conversation has a replica."""
        return conversation is not None and conversation in self._homes

    def take(self, conversation: Conversation | None, tried: Container[int] = ()) -> int | None:
        """Return the replica for a request, which counts as open there until `done`; None where all were tried."""
        with self._lock:
            now = self._clock()
            left = [place for place in range(len(self._open)) if place not in tried]
            awake = [place for place in left if self._rested[place] <= now] or left
            if not awake:
                return None
            home = None if conversation is None else self._homes.get(conversation)
            if home not in awake:
                settled = Counter(self._homes.values())
                home = min(awake, key=lambda place: (self._open[place], settled[place], self._chance.random()))
                if conversation is not None:
                    self._homes[conversation] = home
            self._open[home] += 1
            return home

    def done(self, place: int) -> None:
        """Count a request as answered."""
        with self._lock:
            self._open[place] -= 1

    def rest(self, places: Iterable[int]) -> None:
        """Leave some replicas alone for a while."""
        with self._lock:
            for place in places:
                self._rested[place] = self._clock() + self._rest_s


class ReplicaGenerator:
    """Servers of one model behind one generator.

    All requests of an episode go to one replica, whose prefix cache then holds its history; a new episode goes to the
    replica with the fewest open requests. Where a replica cannot be reached, or answers with an error that asking again
    may help (the kinds `connection` and `server`), the request and its episode move to another one. A request that
    `TRIES` replicas failed fails, so that one which breaks every server that reads it does not go round all of them.

    A replica that cannot be reached rests for a while. One that answered with an error rests only once another has
    answered the same request: until then the request may be at fault.

    Args:
        replicas: The generators of the servers.
        rest_s: The seconds for which a replica that is at fault is left alone, while there are others.
    """

    supports_schema = True
    deterministic = False

    def __init__(self, replicas: Sequence[ServerGenerator], rest_s: float = 30.0) -> None:
        self.replicas = tuple(replicas)
        self.router = Router(len(replicas), rest_s)
        self.supports_seed = all(replica.supports_seed for replica in replicas)
        self._streams: WeakSet[ReplicaStream] = WeakSet()

    @property
    def calls_tools(self) -> bool:
        """Whether all servers take tools."""
        return all(replica.calls_tools for replica in self.replicas)

    def refuse_tools(self, message: str) -> None:
        """Take no more tools, because a server refuses them."""
        for replica in self.replicas:
            replica.refuse_tools(message)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the servers."""
        return tuple(replica.base_url for replica in self.replicas)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Send all requests now; answers are yielded as they come."""
        return submit_to(self.stream, requests)

    def stream(self, deliver: Deliver) -> ReplicaStream:
        """Open a stream of requests, each of which is sent at once; see `StreamingGenerator`."""
        stream = ReplicaStream(self, deliver)
        self._streams.add(stream)
        return stream

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the parts of the fingerprint, which are those of every replica.

        Raises:
            GeneratorError: No replica can be reached, or two of them serve different models or versions.
        """
        told: list[tuple[ServerGenerator, dict[str, tuple[str, bool]]]] = []
        errors: list[tuple[ServerGenerator, GeneratorError]] = []
        for replica in self.replicas:
            try:
                told.append((replica, replica.describe()))
            except GeneratorError as error:
                errors.append((replica, error))
        if not told:
            raise errors[0][1]
        first, parts = told[0]
        for other, others in told[1:]:
            if others != parts:
                raise GeneratorError(
                    f"the replicas differ: {first.base_url} serves {parts}, and {other.base_url} serves {others}"
                )
        for replica, reason in errors:
            log.warning("going on without a replica: %s", reason)
            replica.choose_model(parts["model"][0])
        return parts

    def sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields of a request that say how to sample."""
        return self.replicas[0].sent(sampling)

    def close(self) -> None:
        """Cancel the open requests and close the connections. A second call does nothing."""
        for stream in list(self._streams):
            stream.close()
        for replica in self.replicas:
            replica.close()


@dataclass(slots=True)
class _Sent:
    """A request that is open."""

    request: ChatRequest
    """The request."""

    tried: list[int] = field(default_factory=list)
    """The replicas that were asked, the last of them now."""

    suspected: list[int] = field(default_factory=list)
    """Those of them that answered with an error."""

    lost: Usage = field(default_factory=Usage)
    """The tokens of the answers so far, none of which could be used."""


class ReplicaStream:
    """Requests that are sent one after the other to the replicas of a generator.

    Args:
        generator: The generator.
        deliver: The function that takes the answers.
    """

    def __init__(self, generator: ReplicaGenerator, deliver: Deliver) -> None:
        self._router, self._replicas, self._deliver = generator.router, generator.replicas, deliver
        self._streams = [replica.stream(self._answered) for replica in generator.replicas]
        self._open: dict[int, _Sent] = {}
        # Answers come on the servers' loop. The stream of a replica may answer in the very thread that sends to it.
        self._lock = threading.RLock()
        self._closed = False

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        """Send some requests now, each under a number of its own.

        Raises:
            ClosedError: The stream or its generator is closed.
        """
        # Whoever has no replica yet chooses last, and so sees how busy the others make them.
        ordered = sorted(requests, key=lambda one: not self._router.at_home(one[1].conversation))
        placed: dict[int, list[tuple[int, ChatRequest]]] = {}
        with self._lock:
            if self._closed:
                raise _closed()
            for number, request in ordered:
                sent = self._open[number] = _Sent(request)
                if (place := self._placed(sent)) is not None:
                    placed.setdefault(place, []).append((number, request))
            for place, some in placed.items():
                self._streams[place].send(some)

    def work(self) -> None:
        """Do nothing: the loop of the servers has a thread of its own."""

    def close(self) -> None:
        """Cancel the requests that are open, those that are about to move too. A second call does nothing."""
        with self._lock:
            self._closed = True
            for number in list(self._open):
                self._over(number)
            for stream in self._streams:
                stream.close()

    def _placed(self, sent: _Sent) -> int | None:
        if len(sent.tried) == TRIES:
            return None
        place = self._router.take(sent.request.conversation, sent.tried)
        if place is not None:
            sent.tried.append(place)
        return place

    def _over(self, number: int) -> _Sent | None:
        """Take out a request that is open, and count it as answered; None where it is open no longer."""
        if (sent := self._open.pop(number, None)) is not None:
            self._router.done(sent.tried[-1])
        return sent

    def _answered(self, answers: Delivered) -> None:
        """Hand on what a replica answered, and send elsewhere what it failed; this is called on the servers' loop."""
        given: Delivered
        if isinstance(answers, BaseException):
            given = answers
        else:
            with self._lock:
                given = _closed() if self._closed else self._settled(answers)
        if given:
            self._deliver(given)

    def _settled(self, answers: Sequence[tuple[int, Completion | Failure]]) -> list[tuple[int, Completion | Failure]]:
        """Return the answers to hand on; the requests of the others are sent to another replica."""
        given: list[tuple[int, Completion | Failure]] = []
        for number, answer in answers:
            if (sent := self._over(number)) is None:
                continue
            if not (isinstance(answer, Failure) and answer.retryable and answer.kind in _MOVING):
                if isinstance(answer, Completion):
                    self._router.rest(sent.suspected)
                    answer = replace(answer, lost=sent.lost + answer.lost)
                else:
                    answer = replace(answer, spent=sent.lost + answer.spent)
                given.append((number, answer))
                continue
            sent.lost += answer.spent
            place = sent.tried[-1]
            if answer.kind is FailureKind.CONNECTION:
                self._router.rest([place])
            else:
                sent.suspected.append(place)
            if (other := self._placed(sent)) is None:
                message = f"{answer.message} ({len(sent.tried)} replicas)"
                given.append((number, replace(answer, message=message, spent=sent.lost)))
                continue
            log.warning("%s: the episode moves to %s", answer.message, self._replicas[other].base_url)
            self._open[number] = sent
            self._streams[other].send([(number, sent.request)])
        return given


def _closed() -> ClosedError:
    return ClosedError("the requests were cancelled: their generator was closed")
