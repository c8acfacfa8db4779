"""Servers on loopback and the generators that talk to them, which all stop at the end of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol, TypeVar

from agentworld_gym.llm.generators import ServerGenerator


class Server(Protocol):
    @property
    def url(self) -> str: ...

    def stop(self) -> None: ...


H = TypeVar("H")
S = TypeVar("S", bound=Server)


@contextmanager
def servers(kind: Callable[[H], S]) -> Iterator[Callable[[H], S]]:
    """What starts servers of a kind, each of which is given a handler."""
    with ExitStack() as stopped:

        def serve(handler: H) -> S:
            server = kind(handler)
            stopped.callback(server.stop)
            return server

        yield serve


@contextmanager
def connections(**defaults: Any) -> Iterator[Callable[..., ServerGenerator]]:
    """What opens generators for servers, with these options unless a test passes others."""
    with ExitStack() as closed:

        def connect(server: Server, model: str | None = "m", **options: Any) -> ServerGenerator:
            generator = ServerGenerator(server.url, model, **{"backoff_s": 0.01, **defaults, **options})
            closed.callback(generator.close)
            return generator

        yield connect
