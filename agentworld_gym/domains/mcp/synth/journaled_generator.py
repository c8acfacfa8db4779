"""Asks the generator, and writes each answer into the journal before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator
from agentworld_gym.core.flow import stream_of
from agentworld_gym.core.flow.request_stream import Deliver, Delivered, RequestStream
from agentworld_gym.domains.mcp.synth.journal import Journal, JournalEntry, Key

PASSING = (FailureKind.CONNECTION, FailureKind.TIMEOUT, FailureKind.SERVER, FailureKind.REJECTED)
"""Failures of the generator that say nothing of a world: it waits for the next run."""


class JournaledGenerator:
    """A generator whose answers are entries of a journal; only a passing failure is answered as it is.

    An answer is written in the thread in which it comes. A run that is killed while it checks one answer therefore
    loses none of those that came meanwhile.

    Args:
        generator: Who is asked.
        journal: The journal.
    """

    def __init__(self, generator: Generator, journal: Journal) -> None:
        self._generator, self._journal = generator, journal
        self._places: dict[int, tuple[Key, str]] = {}
        self.supports_seed = generator.supports_seed
        self.supports_schema = generator.supports_schema
        self.deterministic = generator.deterministic

    def expect(self, request: ChatRequest, key: Key, prompt: str) -> ChatRequest:
        """Say under which key the answer to a request is written, and return the request.

        Args:
            request: The request, which is sent next.
            key: The key.
            prompt: The digest of the request.
        """
        self._places[id(request)] = key, prompt
        return request

    def stream(self, deliver: Deliver) -> RequestStream:
        """Open a stream of requests whose answers are written before they are delivered."""
        return _Stream(self, self._generator, deliver)

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Any]]:
        """Yield the answers as they come, written."""
        for number, answer in self._generator.submit(requests):
            yield number, self.write_answer(requests[number], answer)

    def write_answer(self, request: ChatRequest, answer: Completion | Failure) -> JournalEntry | Failure:
        """Write an answer, and return its entry."""
        key, prompt = self._places.pop(id(request))
        if isinstance(answer, Completion):
            return self._journal.answered(key, prompt, answer)
        if answer.kind in PASSING or answer.retryable:
            return answer
        return self._journal.answered(key, prompt, Completion(""), f"{answer.kind}: {answer.message}")

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the generator's parts of a fingerprint."""
        return self._generator.describe()

    def close(self) -> None:
        """Do nothing: the generator belongs to somebody else."""


class _Stream:
    """A stream of requests whose answers are written."""

    def __init__(self, journaled: JournaledGenerator, generator: Generator, deliver: Deliver) -> None:
        self._journaled, self._deliver = journaled, deliver
        self._open: dict[int, ChatRequest] = {}
        self._inner = stream_of(generator, self._delivered)

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        self._open.update(requests)
        self._inner.send(requests)

    def work(self) -> None:
        self._inner.work()

    def close(self) -> None:
        self._inner.close()

    def _delivered(self, answers: Delivered) -> None:
        if isinstance(answers, BaseException):
            self._deliver(answers)
            return
        try:
            written = [
                (number, self._journaled.write_answer(self._open.pop(number), answer)) for number, answer in answers
            ]
        except Exception as error:  # Whoever waits for the answers shall learn why none comes.
            self._deliver(error)
            return
        self._deliver(written)
