"""The interface between a browser and the sites it visits: requests, responses, and an internet that answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentworld_gym.core.engines import Scalar


class ConnectionReset(Exception):
    """The connection broke before an answer came (`net::ERR_CONNECTION_RESET`)."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request of a browser.

    >>> HttpRequest("GET", "http://shop.example/").form
    ()
    """

    method: str
    """`GET` or `POST`."""
    url: str
    """The absolute URL, without a fragment."""
    form: tuple[tuple[str, str], ...] = ()
    """The fields of a POST in their order."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    """The cookies of the host."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """What a page was made from, beside its address and the rows of its site."""

    user: Any = None
    """The key of the account that is signed in."""
    flash: tuple[str, str] | None = None
    """The kind and the text of the message to the visitor."""
    errors: Mapping[str, str] | None = None
    """The errors of a form that is shown again, by field."""
    loading: bool = False
    """Whether the content is still loading."""
    visit: int = 0
    """The number of the request in the session."""


@dataclass(frozen=True, slots=True)
class Response:
    """The answer of a site to one request."""

    status: int
    """The status code: 200, 302 (with a location), 404, 502, …"""
    body: str = ""
    """HTML, or the text of a static file."""
    location: str | None = None
    """The absolute or relative URL of a redirect; None for other answers."""
    cookies: Mapping[str, str] = field(default_factory=dict)
    """The cookies to set for the host; an empty value deletes one."""
    refresh: bool = False
    """Whether the page reloads itself after a second. Its body says so too, with a meta element."""
    source: PageSource | None = None
    """What the page was made from; None for a text of another kind."""


class Internet(Protocol):
    """All sites that one session can reach."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that exist."""
        ...

    def fetch(self, request: HttpRequest) -> Response | None:
        """Answer a request; None where no site has the host (`net::ERR_NAME_NOT_RESOLVED`).

        Raises:
            ConnectionReset: The connection broke.
        """
        ...

    def state(self) -> Mapping[str, Scalar]:
        """Return everything that the sites store as flat fields such as `shop/orders/12/status`, without cookies."""
        ...

    def fork(self) -> Internet:
        """Return an exact copy."""
        ...

    def close(self) -> None:
        """Free all resources. It may be called twice."""
        ...
