"""Protocols of streams: requests that are sent while others are open, and answers that are delivered as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from agentworld_gym.core.contracts import ChatRequest

Delivered: TypeAlias = "Sequence[tuple[int, Any]] | BaseException"
"""Some answers, each with the number of its question; or the reason why no further answer can come."""

Deliver = Callable[[Delivered], None]


class RequestStream(Protocol):
    """Requests that are sent one after the other, and whose answers are delivered as they come."""

    def send(self, requests: Sequence[tuple[int, ChatRequest]]) -> None:
        """Begin some requests, each under a number of its own."""
        ...

    def work(self) -> None:
        """Do what the generator does in the thread of its caller, until an answer is delivered.

        A generator that works elsewhere has nothing to do here, and neither has one without an open request.
        """
        ...

    def close(self) -> None:
        """Cancel the requests that are open. A second call does nothing."""
        ...


@runtime_checkable
class StreamingGenerator(Protocol):
    """A generator that takes further requests while others are open, so that none waits for the longest answer."""

    def stream(self, deliver: Deliver) -> RequestStream:
        """Open a stream of requests.

        Args:
            deliver: The function that takes the answers, each once and with the number of its request. Any thread may
                call it.
        """
        ...
