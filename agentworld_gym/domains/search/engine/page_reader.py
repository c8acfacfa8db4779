"""The page reader: it opens an address and returns its page, or the error that a real reader would return."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.core.engines import Controls, Kind
from agentworld_gym.domains.search.engine.pages import Address, WebPage, address_of

LONGEST = 20_000
"""The number of characters of the longest page that is shown."""

LONG_PAGE = 350
"""The number of characters from which on a page may be split into parts."""

SMALLEST_PART = 200
MOST_PARTS = 3

TRUNCATED = "[content truncated]"
TIMED_OUT = "Error: the request timed out after 30 seconds."
_ECHO = 300
_FILES = {
    "pdf": "application/pdf",
    "zip": "application/zip",
    "gz": "application/gzip",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_PAGE_NUMBER = re.compile(r"(?:^|(?<=&))page=(\d{1,3})$")
_RULE = re.compile(r"\|[\s|:-]+\|?")


class OpenedPage(NamedTuple):
    """The text that an opened address shows; `kind` says what decided the text."""

    text: str
    kind: Kind = "deterministic"


class Web(NamedTuple):
    """The web as the reader sees it: pages by address, the hosts that exist, and the text of a page."""

    find: Callable[[Address], WebPage | None]
    has_host: Callable[[str], bool]
    body: Callable[[WebPage], str]
    is_given: Callable[[WebPage], bool]


@dataclass
class Reader:
    """Opens pages for one session."""

    controls: Controls
    """The faults in force."""
    opened: dict[str, bool] = field(default_factory=dict)
    """Whether all of a page was shown, by the address that was opened."""
    tries: dict[str, int] = field(default_factory=dict)
    """The number of failures, by address."""

    def copy(self) -> Reader:
        """Return a reader that has opened the same pages."""
        return replace(self, opened=dict(self.opened), tries=dict(self.tries))

    def open(self, url: str, web: Web) -> OpenedPage:
        """Return the page at an address as markdown, or an error of one line."""
        url_echo, address = _echoed(url), address_of(url)
        page_and_text = address and self._part(address, web)
        if not address or not page_and_text:
            return OpenedPage(self.text(url, web))
        page, text = page_and_text
        key = "".join((address.host, address.path, address.query and f"?{address.query}"))
        if key not in self.opened and (error := self._failure(key, url_echo)):
            self.tries[key] = self.tries.get(key, 0) + 1
            return OpenedPage(error, "metadata")
        expected = self.opened.get(key) is True or web.is_given(page)
        whole = self.opened.get(key, False) or not self.controls.strikes("truncated-output", key, self._cuts(key))
        if not whole:
            self.tries[key] = self._cuts(key) + 1
            text = _broken_off(text, self.controls.draw("truncated-output", key, "where"))
        self.opened[key] = whole
        return OpenedPage(text, "deterministic" if expected else "pre-existing")

    def text(self, url: str, web: Web) -> str:
        """Return what stands at an address where nothing fails: the page, a part of it, or why there is none."""
        address = address_of(url)
        if address is None:
            return f"Error: invalid URL {_echoed(url)}"
        page_and_text = self._part(address, web)
        return _missing(address, web, _echoed(url)) if page_and_text is None else page_and_text[1]

    def _part(self, address: Address, web: Web) -> tuple[WebPage, str] | None:
        """Return the page and the text at an address: the whole page, or the part of it that the address names."""
        page, number = web.find(address), 1
        if page is None and (match := _PAGE_NUMBER.search(address.query)):
            query = address.query[: match.start()].removesuffix("&")
            page, number = web.find(address._replace(query=query)), int(match[1])
            if page is None or not self._is_split(page, web):
                return None
        if page is None:
            return None
        body = web.body(page)
        if not self._is_split(page, web):
            return page, body.strip() if len(body) <= LONGEST else f"{body[:LONGEST]}\n\n{TRUNCATED}"
        parts = parts_of(body)
        if not 1 <= number <= len(parts):
            return None
        return page, _with_next(page.url, parts, number)

    def _is_split(self, page: WebPage, web: Web) -> bool:
        return self.controls.strikes("pagination", page.url) and len(web.body(page)) >= LONG_PAGE

    def _failure(self, key: str, url_echo: str) -> str | None:
        tries = self.tries.get(key, 0)
        if tries == 0 and self.controls.strikes("slow-service", key):
            return TIMED_OUT
        if not self.controls.strikes("intermittent-errors", key, tries):
            return None
        errors = (
            f"Error: HTTP 403 Forbidden for {url_echo}",
            f"Error: HTTP 429 Too Many Requests for {url_echo}",
            TIMED_OUT,
        )
        return errors[int(self.controls.draw("intermittent-errors", key, tries, "which") * len(errors))]

    def _cuts(self, key: str) -> int:
        return self.tries.get(key, 0)


@lru_cache(maxsize=512)
def parts_of(body: str) -> tuple[str, ...]:
    """Split a page into parts: whole paragraphs, and tables between two rows, with the head of the table repeated.

    >>> [len(part) for part in parts_of("# Title\\n\\n" + "\\n\\n".join(["word " * 40] * 5))]
    [208, 199, 199, 199, 199]
    """
    limit = max(SMALLEST_PART, len(body) // MOST_PARTS)
    parts: list[list[str]] = [[]]
    size = 0
    for block in _blocks(body, limit):
        if size and size + len(block) > limit and not parts[-1][-1].startswith("#"):
            parts.append([])
            size = 0
        parts[-1].append(block)
        size += len(block)
    return tuple("\n\n".join(part) for part in parts)


def _blocks(body: str, limit: int) -> list[str]:
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", body.strip()):
        lines = block.split("\n")
        if len(block) <= limit or len(lines) < 4 or not _RULE.fullmatch(lines[1].strip()):
            blocks.append(block.rstrip())
            continue
        rows = max(1, limit // (len(block) // len(lines) + 1) - 2)
        blocks += ["\n".join([*lines[:2], *lines[n : n + rows]]) for n in range(2, len(lines), rows)]
    return blocks


def _with_next(url: str, parts: tuple[str, ...], number: int) -> str:
    text = f"{parts[number - 1]}\n\nPart {number} of {len(parts)}."
    if number == len(parts):
        return text
    return f"{text} Next part: {url}{'&' if '?' in url else '?'}page={number + 1}"


def _broken_off(text: str, chance: float) -> str:
    end = int(len(text) * (0.35 + 0.3 * chance))
    return f"{text[: text.rfind(' ', 0, end) + 1 or end].rstrip()}\n\n{TRUNCATED}"


def _echoed(url: str) -> str:
    return url if len(url) <= _ECHO else url[:_ECHO] + "..."


def _missing(address: Address, web: Web, url_echo: str) -> str:
    if not web.has_host(address.host):
        return f"Error: could not resolve host {address.host[:_ECHO]}"
    ending = address.path.rpartition("/")[2].rpartition(".")[2].lower()
    if ending in _FILES:
        return f"Error: unsupported content type {_FILES[ending]}"
    return f"Error: HTTP 404 Not Found for {url_echo}"
