"""URLs as a browser reads, resolves and writes them."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, unquote, urljoin, urlsplit

MAX_ADDRESS = 2_000
INVALID = "Error: page.goto: Protocol error (Page.navigate): Cannot navigate to invalid URL"
"""The error for a text that is not a URL."""
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|(https?|about|data|blob|javascript|mailto|tel|file):", re.I)
_WEB = re.compile(r"(https?):[/\\]*([^/\\?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.I | re.S)
_CONTROL = "".join(map(chr, range(33)))
_UNSEEN = str.maketrans("", "", "\t\r\n")
_PORT = re.compile(r":(\d*)\Z")
_FORBIDDEN = frozenset("<>^|%:\x7f")
_SAFE = "!$%&'()*+,/:;=?@[]~"


def from_address_bar(text: str) -> str:
    """Return the URL that a person means by the text typed into the address bar; empty if there is none.

    >>> from_address_bar("shop.example/cart"), from_address_bar("http://Shop.example"), from_address_bar("?q=x")
    ('http://shop.example/cart', 'http://shop.example/', '')
    """
    text = "".join(text.split("\n")).strip()[:MAX_ADDRESS]
    return canonical(text if _SCHEME.match(text) else f"http://{text}")


def canonical(url: str) -> str:
    r"""Return a URL with its host in lower case, a path without dot segments, and all special characters escaped.

    A URL with another scheme than http and https stays as it is. An invalid one becomes empty.

    >>> canonical("http://shop.example:80/a/../b\\c?q=it's"), canonical("http://shop.example:x/")
    ('http://shop.example/b/c?q=it%27s', '')
    """
    url = url.strip(_CONTROL).translate(_UNSEEN)
    parts = _WEB.fullmatch(url)
    if parts is None:
        return url
    scheme, place, path = parts[1].lower(), parts[2], parts[3]
    account, at, host = place.rpartition("@")
    port = _PORT.search(host)
    number = port[1] if port else ""
    host = _host(host[: port.start()] if port else host)
    if not host or int(number[:9] or 0) > 65_535:
        return ""
    if number and int(number) != (80 if scheme == "http" else 443):
        host = f"{host}:{int(number)}"
    query = "?" + quote(parts[4][1:], safe=_SAFE).replace("'", "%27") if parts[4] else ""
    fragment = "#" + quote(parts[5][1:], safe=f"{_SAFE}#") if parts[5] else ""
    return f"{scheme}://{account}{at}{host}{quote(_path(path), safe=_SAFE)}{query}{fragment}"


def _host(text: str) -> str:
    """Return a host in lower case; empty if it is not a valid one."""
    if text.startswith("["):
        return text.lower() if text.endswith("]") else ""
    text = unquote(text).lower()
    try:
        text = text if text.isascii() else text.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return "" if _FORBIDDEN & set(text) else text


def _path(text: str) -> str:
    """Return a path without `.` and `..`."""
    *folders, last = text.replace("\\", "/").split("/")[1:] or [""]
    segments: list[str] = []
    for name in folders:
        _walk(segments, name)
    _walk(segments, last)
    if _dots(last):
        segments.append("")
    return "/" + "/".join(segments)


def _walk(segments: list[str], name: str) -> None:
    dots = _dots(name)
    if dots == "..":
        del segments[-1:]
    elif not dots:
        segments.append(name)


def _dots(name: str) -> str:
    name = name.lower().replace("%2e", ".")
    return name if name in (".", "..") else ""


def refusal(url: str) -> str:
    """Return the error with which the browser refuses to open a URL; empty if it opens it.

    >>> refusal("http://shop.example/"), refusal("file:///etc/passwd")
    ('', 'Error: Access to "file:" protocol is blocked. Attempted URL: "file:///etc/passwd"')
    """
    scheme = scheme_of(url)
    if scheme in ("http", "https") or url == "about:blank":
        return ""
    return f'Error: Access to "{scheme[:20]}:" protocol is blocked. Attempted URL: "{url[:200]}"'


def resolved(base: str, reference: str) -> str:
    """Return the URL that a link on a page leads to; empty if it is not valid.

    >>> resolved("http://shop.example/a/b?q=1", "../c#top"), resolved("http://shop.example/a", "?q=2")
    ('http://shop.example/c#top', 'http://shop.example/a?q=2')
    """
    try:
        reference = reference.strip(_CONTROL).translate(_UNSEEN)
        end = min(place for mark in "?#" if (place := (reference + mark).find(mark)) >= 0)
        return canonical(urljoin(base, reference[:end].replace("\\", "/") + reference[end:]))
    except ValueError:
        return ""


def request_url(url: str) -> str:
    """Return the URL that a request asks for: without a fragment, and without an account before the host.

    >>> request_url("http://ann:secret@shop.example/cart#top")
    'http://shop.example/cart'
    """
    url = without_fragment(url)
    scheme, colon, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{colon}{place.rpartition('@')[2]}{slash}{path}"


def without_fragment(url: str) -> str:
    """Return a URL up to its `#`."""
    return url.partition("#")[0]


def host_of(url: str) -> str:
    """Return the host of a URL, with its port where that is not the usual one; empty if it has none."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def scheme_of(url: str) -> str:
    """Return the scheme of a URL in lower case."""
    return url.partition(":")[0].lower()


def encode_form(fields: tuple[tuple[str, str], ...]) -> str:
    """Encode form fields as the query of a URL.

    >>> encode_form((("q", "a b&c"), ("page", "2")))
    'q=a+b%26c&page=2'
    """
    return "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in fields)


def with_query(url: str, query: str) -> str:
    """Return a URL with another query and without a fragment."""
    return f"{without_fragment(url).partition('?')[0]}?{query}"


def _encoded(text: str) -> str:
    return quote_plus(text, safe="*", errors="replace").replace("~", "%7E")
