"""Addresses of pages in a form that is equal for all ways of writing an address."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LONGEST = 2_000
"""The number of characters of the longest address."""


class Address(NamedTuple):
    """The address of a page, equal for all ways of writing it."""

    host: str
    path: str
    query: str


def address_of(url: str) -> Address | None:
    """Parse an address; the result is `None` if the text is not an address.

    Scheme, case of the host, `www.`, port, fragment and a slash at the end make no difference.

    >>> address_of("HTTP://www.Lake.example:80/a/b/#top") == address_of("https://lake.example/a/b")
    True
    >>> address_of("lake.example") is address_of("ftp://lake.example/") is None
    True
    """
    if len(url) > LONGEST:
        return None
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return Address(host, unquote(parts.path).rstrip("/"), parts.query)
