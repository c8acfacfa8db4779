"""A SearXNG server as the search engine, and the pages of the web that it finds."""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.text.dates import month_first
from agentworld_gym.core.engines import EngineError, SystemLate, SystemLost
from agentworld_gym.domains.search.engine.results import NOTHING, PER_QUERY
from agentworld_gym.domains.search.live.config import DocumentConfig
from agentworld_gym.domains.search.live.documents import markdown_of
from agentworld_gym.kit.live.hosts import is_public

LONGEST = 4 << 20
"""The most of an answer that is read, in bytes."""

REDIRECTS = 5
"""How many redirects are followed to a page."""


@dataclass(frozen=True)
class Searxng:
    """A client of a SearXNG server.

    Args:
        config: The configuration, which names the server and the hosts that may be reached.
        file: Where it stands, for errors.

    Raises:
        SpecError: The host of the server is not allowed.
    """

    config: DocumentConfig
    file: str

    def __post_init__(self) -> None:
        host = urlsplit(self.config.searxng or "").hostname or ""
        if not self.config.allows(host):
            raise SpecError(
                self.file, "network", self.config.network, f"true, or [{host}], where {self.config.searxng} lies"
            )

    def search(self, query: str, first: int) -> list[str]:
        """Return the results of a query, as they are shown.

        Args:
            query: The query.
            first: The number of the first result.

        Raises:
            EngineError: The server cannot be reached, or answers what is no list of results.
        """
        root = (self.config.searxng or "").rstrip("/")
        told = self._get(f"{root}/search?{urlencode({'q': query, 'format': 'json'})}")
        try:
            results = json.loads(told)["results"]
            shown = [_shown(result, first + number) for number, result in enumerate(results[:PER_QUERY])]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            expected = "expected JSON with `results`; allow it by `search.formats: [html, json]` in its settings"
            raise EngineError(f"{root} answers {told[:200]!r}, {expected}") from error
        return shown

    def _get(self, url: str) -> str:
        try:
            with urllib.request.urlopen(url, timeout=self.config.limits.step_seconds) as answer:
                return str(answer.read(LONGEST).decode("utf-8", "replace"))
        except TimeoutError as error:
            raise SystemLate(f"{self.config.searxng} took longer than {self.config.limits.step_seconds:g} s") from error
        except urllib.error.HTTPError as error:
            raise EngineError(f"{self.config.searxng} answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise SystemLost(f"{self.config.searxng} cannot be reached: {error}") from error

    def open(self, url: str) -> str:
        """Return the page at an address as Markdown, or the error that a reader would return."""
        for _ in range(REDIRECTS):
            try:
                parts = urlsplit(url)
            except ValueError:
                return f"Error: invalid URL {url[:300]}"
            host = parts.hostname or ""
            if parts.scheme not in ("http", "https") or not host:
                return f"Error: invalid URL {url[:300]}"
            if not self.config.reaches(host):
                return f"Error: the host {host[:300]} is not allowed here"
            try:
                status, headers, data = self._fetched(url)
            except TimeoutError:
                return f"Error: the request timed out after {self.config.limits.step_seconds:g} seconds."
            except _Refused:
                return f"Error: the host {host[:300]} is not allowed here"
            except socket.gaierror:
                return f"Error: could not resolve host {host[:300]}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                return f"Error: the page cannot be read: {str(error)[:300]}"
            if status in (301, 302, 303, 307, 308) and "location" in headers:
                try:
                    url = urljoin(url, headers["location"])
                except ValueError:
                    return f"Error: invalid URL {headers['location'][:300]}"
                continue
            if status != 200:
                return f"Error: HTTP {status} {http.client.responses.get(status, '')} for {url[:300]}".strip()
            return _page(headers, data, url)
        return f"Error: too many redirects at {url[:300]}"

    def _fetched(self, url: str) -> tuple[int, Mapping[str, str], bytes]:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.config.limits.step_seconds)
        try:
            connection.connect()
            # Where all hosts are allowed, no name may lead an agent into a private network.
            if self.config.network is True and not is_public(connection.sock.getpeername()[0]):
                raise _Refused
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", target, headers={"User-Agent": "Mozilla/5.0", "Accept": "text/html,text/*"})
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, self._body(answer)
        finally:
            connection.close()

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        """Return the start of a body; one that comes in drops is late as a whole.

        Raises:
            TimeoutError: It took too long.
        """
        until, parts, size = time.monotonic() + self.config.limits.step_seconds, list[bytes](), 0
        while size < LONGEST and (data := answer.read1(min(1 << 16, LONGEST - size))):
            parts.append(data)
            size += len(data)
            if time.monotonic() > until:
                raise TimeoutError
        return b"".join(parts)


class _Refused(Exception):
    """A host lies in a private network."""


def _shown(result: Mapping[str, Any], number: int) -> str:
    date = result.get("publishedDate")
    try:
        day = month_first(str(date)[:10]) if date else "N/A"
    except ValueError:
        day = "N/A"
    title, quoted = (" ".join(str(result.get(key) or "").split()) for key in ("title", "content"))
    return f"[{number}] {result['url']}\nTitle: {title}\nSnippet: {quoted}\nDate: {day}"


def _page(headers: Mapping[str, str], data: bytes, url: str) -> str:
    kind, _, rest = headers.get("content-type", "text/html").partition(";")
    charset = rest.partition("charset=")[2].strip(' "') or "utf-8"
    if not kind.strip().startswith("text/") and kind.strip() != "application/xhtml+xml":
        return f"Error: unsupported content type {kind.strip()[:100]}"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    if "html" not in kind:
        return text
    title, body = markdown_of(text, url)
    return body if not title or body.startswith("#") else f"# {title}\n\n{body}"


def results_of(server: Searxng, queries: list[str]) -> str:
    """Return one list of the results of several queries, whose numbers run on."""
    shown: list[str] = []
    for query in queries:
        shown += server.search(query, len(shown) + 1)
    return "\n\n".join(shown) or NOTHING
