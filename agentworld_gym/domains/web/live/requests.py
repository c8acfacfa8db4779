"""Requests to a site that the agent cannot see: those of resets, of tasks and of checks."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from agentworld_gym.core.engines import SystemLate, SystemLost

LONGEST = 1 << 20
"""How many bytes of an answer are read."""

_LINE = re.compile(r"(?:(GET|POST|PUT|PATCH|DELETE|HEAD)\s+)?(\S+)(?:\s+(.+))?", re.S)


class SiteRequest(NamedTuple):
    """A request."""

    method: str
    """Its method."""

    url: str
    """The whole address."""

    body: str | None
    """What it sends."""


class RequestAnswer(NamedTuple):
    """The answer to a request."""

    status: int
    """Its status."""

    text: str
    """Its body."""

    @property
    def succeeded(self) -> bool:
        """Whether the status tells of a success."""
        return 200 <= self.status < 400


def read_request(line: str, site: str) -> SiteRequest:
    """Read a request line.

    Args:
        line: The method, the address and the body; the first and the last may be missing.
        site: The address from which a path counts.

    Raises:
        ValueError: It is none.

    >>> read_request("/reset", "http://localhost:3000/shop")
    SiteRequest(method='GET', url='http://localhost:3000/reset', body=None)
    >>> read_request('POST /items {"name": "tea"}', "http://localhost:3000/").body
    '{"name": "tea"}'
    """
    match = _LINE.fullmatch(line.strip())
    if match is None or not (match[2].startswith("/") or re.match(r"https?://[^/]", match[2])):
        raise ValueError(f"a request, such as `GET /api/items` or `POST /items {{...}}` (got {line!r})")
    return SiteRequest(match[1] or "GET", urljoin(site, match[2]), match[3])


def ask(
    request: SiteRequest, seconds: float, cookies: str = "", connect: Callable[[], socket.socket] | None = None
) -> RequestAnswer:
    """Send a request, and return its answer.

    Args:
        request: The request.
        seconds: How long it may take.
        cookies: The cookies that it sends.
        connect: The function that connects to the server; None connects to the host of the address.

    Raises:
        SystemLost: The server cannot be reached, or answers by what is no answer.
        SystemLate: It did not answer in time.
    """
    parts = urlsplit(request.url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    until = time.monotonic() + seconds
    name = f"{request.method} {request.url}"
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        link = socket.create_connection((host, port), seconds) if connect is None else connect()
        connection.sock = link
        link.settimeout(seconds)
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(link, server_hostname=host)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Cookie": cookies} if cookies else {}
        body = None if request.body is None else request.body.encode()
        connection.request(request.method, target, body, {**headers, **_type_of(request.body)})
        answer = connection.getresponse()
        parts_of, size = list[bytes](), 0
        while size < LONGEST and (data := answer.read1(1 << 16)):
            parts_of.append(data)
            size += len(data)
            if time.monotonic() > until:
                raise TimeoutError
        return RequestAnswer(answer.status, b"".join(parts_of).decode("utf-8", "replace"))
    except TimeoutError as error:
        raise SystemLate(f"the site took longer than {seconds:g} s to answer {name}") from error
    except (OSError, http.client.HTTPException) as error:
        raise SystemLost(f"the site does not answer {name}: {error}") from error
    finally:
        connection.close()


def _type_of(body: str | None) -> Mapping[str, str]:
    if body is None:
        return {}
    try:
        json.loads(body)
    except ValueError:
        return {"Content-Type": "application/x-www-form-urlencoded"}
    return {"Content-Type": "application/json"}
