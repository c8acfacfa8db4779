"""The seam between a browser and the sites it visits: requests, responses, and an internet that answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentworld_gym.engines import Scalar


class ConnectionReset(Exception):
    """The connection broke before an answer came: `net::ERR_CONNECTION_RESET`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a browser.

    >>> Request("GET", "http://shop.example/").form
    ()
    """

    method: str
    """`GET` or `POST`."""
    url: str
    """Absolute, without a fragment."""
    form: tuple[tuple[str, str], ...] = ()
    """The fields of a POST, in order."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    """Those of the host."""


@dataclass(frozen=True, slots=True)
class Response:
    """One answer of a site."""

    status: int
    """200, 302 (with a location), 404, 502, …"""
    body: str = ""
    """HTML, or the text of a static file."""
    location: str | None = None
    """Where to go instead, absolute or relative."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    """To set, for the host; an empty value deletes."""
    refresh: bool = False
    """The page asks to be loaded again after a second; its body says so too, by a meta element."""


class Internet(Protocol):
    """All sites of one session."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that there are."""
        ...

    def fetch(self, request: Request) -> Response | None:
        """Answer a request; None where no site has the host (`net::ERR_NAME_NOT_RESOLVED`).

        Raises:
            ConnectionReset: the connection broke.
        """
        ...

    def state(self) -> Mapping[str, Scalar]:
        """Everything that the sites store, as flat fields such as `shop/orders/12/status`; no cookies."""
        ...

    def fork(self) -> Internet:
        """An exact copy."""
        ...

    def close(self) -> None:
        """Free it; twice is fine."""
        ...
