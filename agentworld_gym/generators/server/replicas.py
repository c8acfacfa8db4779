"""Several servers of one model as one generator: which of them is asked, and what happens when one is gone."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary

from agentworld_gym.contracts import ChatRequest, Completion, Conversation, Failure, FailureKind
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.errors import GeneratorError
from agentworld_gym.flow.request_stream import Deliver, Delivered, RequestStream
from agentworld_gym.generators.server.generator import ServerGenerator

log = logging.getLogger(__name__)

_MOVING = frozenset({FailureKind.CONNECTION, FailureKind.SERVER})


class Router:
    """Decides which replica is asked: the one of the conversation, or else the one with the fewest open requests.

    Among equally busy replicas that with the fewest conversations is taken, and among those one by chance, so that
    several processes do not all begin with the same one. Any thread may call the methods.

    Args:
        count: The number of replicas.
        rest_s: The seconds for which a replica that failed is left alone, while there are others.
        clock: The function that tells the time in seconds.

    >>> router = Router(2)
    >>> one, other = Conversation(), Conversation()
    >>> first, second = router.take(one), router.take(other)
    >>> router.done(first), router.done(second)
    (None, None)
    >>> {first, second} == {0, 1}, router.take(one) == first
    (True, True)
    """

    def __init__(self, count: int, rest_s: float = 30.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest_s, self._clock = rest_s, clock
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
                home = min(awake, key=lambda place: (self._open[place], settled[place], random.random()))
                if conversation is not None:
                    self._homes[conversation] = home
            self._open[home] += 1
            return home

    def done(self, place: int, failed: bool = False) -> None:
        """Count a request as answered; a replica that failed rests."""
        with self._lock:
            self._open[place] -= 1
            if failed:
                self._rested[place] = self._clock() + self._rest_s


class ReplicaGenerator:
    """Servers of one model behind one generator.

    All requests of an episode go to one replica, whose prefix cache then holds its history; a new episode goes to the
    replica with the fewest open requests. Where a replica cannot be reached, or answers with an error that asking again
    may help (the kinds `connection` and `server`), the request and its episode move to another one, and the replica
    rests for a while. A request fails only once every replica has failed it.

    Args:
        replicas: The generators of the servers.
        rest_s: The seconds for which a replica that failed is left alone, while there are others.
    """

    supports_schema = True
    deterministic = False

    def __init__(self, replicas: Sequence[ServerGenerator], rest_s: float = 30.0) -> None:
        self.replicas = tuple(replicas)
        self.router = Router(len(replicas), rest_s)
        self.supports_seed = all(replica.supports_seed for replica in replicas)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Send all requests now; answers are yielded as they come."""
        answers: SimpleQueue[Delivered] = SimpleQueue()
        stream = self.stream(answers.put)
        stream.send(list(enumerate(requests)))
        return _as_they_come(stream, answers, len(requests))

    def stream(self, deliver: Deliver) -> ReplicaStream:
        """Open a stream of requests, each of which is sent at once; see `StreamingGenerator`."""
        return ReplicaStream(self, deliver)

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
        for replica in self.replicas:
            replica.close()


@dataclass(slots=True)
class _Sent:
    """A request that is open, and the replicas that were asked, the last of them now."""

    request: ChatRequest
    tried: list[int] = field(default_factory=list)


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

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        """Send some requests now, each under a number of its own."""
        # Whoever has no replica yet chooses last, and so sees how busy the others make them.
        ordered = sorted(requests, key=lambda one: not self._router.at_home(one[1].conversation))
        placed: dict[int, list[tuple[int, ChatRequest]]] = {}
        for number, request in ordered:
            sent = self._open[number] = _Sent(request)
            if (place := self._placed(sent)) is not None:
                placed.setdefault(place, []).append((number, request))
        for place, some in placed.items():
            self._streams[place].send(some)

    def work(self) -> None:
        """Do nothing: the loop of the servers has a thread of its own."""

    def close(self) -> None:
        """Cancel the requests that are open. A second call does nothing."""
        for number in list(self._open):
            self._over(number)
        for stream in self._streams:
            stream.close()

    def _placed(self, sent: _Sent) -> int | None:
        place = self._router.take(sent.request.conversation, sent.tried)
        if place is not None:
            sent.tried.append(place)
        return place

    def _over(self, number: int, failed: bool = False) -> _Sent | None:
        """Take out a request that is open, and count it as answered; None where it is open no longer."""
        if (sent := self._open.pop(number, None)) is not None:
            self._router.done(sent.tried[-1], failed)
        return sent

    def _answered(self, answers: Delivered) -> None:
        """Hand on what a replica answered, and send elsewhere what it failed; this is called on the servers' loop."""
        if isinstance(answers, BaseException):
            self._deliver(answers)
            return
        given = []
        for number, answer in answers:
            failed = isinstance(answer, Failure) and answer.retryable and answer.kind in _MOVING
            if (sent := self._over(number, failed)) is None:
                continue
            if not failed or (place := self._placed(sent)) is None:
                given.append((number, answer))
                continue
            log.warning("%s: the episode moves to %s", answer.message, self._replicas[place].base_url)
            self._open[number] = sent
            self._streams[place].send([(number, sent.request)])
        if given:
            self._deliver(given)


def _as_they_come(
    stream: RequestStream, answers: SimpleQueue[Delivered], count: int
) -> Iterator[tuple[int, Completion | Failure]]:
    try:
        while count:
            some = answers.get()
            if isinstance(some, BaseException):
                raise some
            count -= len(some)
            yield from some
    finally:
        stream.close()
