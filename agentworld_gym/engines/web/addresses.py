"""Addresses as a browser understands them."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, urljoin, urlsplit, urlunsplit

MAX_ADDRESS = 2_000
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|(about|data|blob|javascript|mailto|tel|file):", re.I)
_SAFE = "!#$%&'()*+,/:;=?@[]~"


def typed(text: str) -> str:
    """The address that a person means who types a text.

    >>> typed("shop.example/cart"), typed("http://Shop.example")
    ('http://shop.example/cart', 'http://shop.example/')
    """
    text = "".join(text.split("\n")).strip()[:MAX_ADDRESS]
    return canonical(text if _SCHEME.match(text) else f"http://{text}")


def canonical(url: str) -> str:
    """An address with its host in small letters, a path, and nothing in it that has to be escaped."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return url
        host = parts.netloc.lower()
        path = quote(parts.path, safe=_SAFE) or "/"
        port = f":{80 if parts.scheme == 'http' else 443}"
        host = host.removesuffix(port)
        query = quote(parts.query, safe=_SAFE)
        return urlunsplit((parts.scheme, host, path, query, quote(parts.fragment, safe=_SAFE)))
    except ValueError:
        return url


def blocked(url: str) -> str:
    """Why the browser does not open an address; empty if it does.

    >>> blocked("http://shop.example/"), blocked("file:///etc/passwd")
    ('', 'Error: Access to "file:" protocol is blocked. Attempted URL: "file:///etc/passwd"')
    """
    scheme = scheme_of(url)
    if scheme in ("http", "https") or url == "about:blank":
        return ""
    return f'Error: Access to "{scheme[:20]}:" protocol is blocked. Attempted URL: "{url[:200]}"'


def resolved(base: str, reference: str) -> str:
    """Where a link on a page leads.

    >>> resolved("http://shop.example/a/b?q=1", "../c#top"), resolved("http://shop.example/a", "?q=2")
    ('http://shop.example/c#top', 'http://shop.example/a?q=2')
    """
    try:
        return canonical(urljoin(base, reference.strip()))
    except ValueError:
        return reference


def without_fragment(url: str) -> str:
    """An address up to its `#`."""
    return url.partition("#")[0]


def host_of(url: str) -> str:
    """The host of an address; empty if it has none."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def scheme_of(url: str) -> str:
    """The scheme of an address, in small letters."""
    return url.partition(":")[0].lower()


def encoded(fields: tuple[tuple[str, str], ...]) -> str:
    """Form fields as a query.

    >>> encoded((("q", "a b&c"), ("page", "2")))
    'q=a+b%26c&page=2'
    """
    return "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in fields)


def with_query(url: str, query: str) -> str:
    """An address with its query replaced, and without a fragment."""
    return f"{without_fragment(url).partition('?')[0]}?{query}"


def _encoded(text: str) -> str:
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")
