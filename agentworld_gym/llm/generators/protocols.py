"""What a generator may do besides completing requests."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from agentworld_gym.core.domain.sampling import Sampling


@runtime_checkable
class ConstrainingGenerator(Protocol):
    """A generator that may ask a request at every token what it allows."""

    @property
    def constrains(self) -> bool:
        """Whether it asks."""
        ...


@runtime_checkable
class CallingGenerator(Protocol):
    """A generator that takes the tools of a request, and returns calls apart from the text."""

    @property
    def calls_tools(self) -> bool:
        """Whether it does. A server may refuse tools all the same."""
        ...

    def refuse_tools(self, message: str) -> None:
        """Take no more tools, because the server refuses them, and log that once."""
        ...


@runtime_checkable
class RemoteGenerator(Protocol):
    """A generator over servers, which cannot prove what they serve."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the servers; none where a generator in this process stands behind it."""
        ...


@runtime_checkable
class SelectiveGenerator(Protocol):
    """A generator that sends only a part of a request's sampling, and tells which."""

    def sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields of a request's sampling that are sent, by name."""
        ...
