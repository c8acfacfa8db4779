"""A folder of documents as the pages of a web."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, urljoin

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.domains.search.engine.pages import WebPage

logger = logging.getLogger(__name__)

TEXTS = frozenset({".md", ".markdown", ".txt", ".rst", ".text"})
"""The endings of files that are shown as they are."""

PAGES = frozenset({".html", ".htm", ".xhtml"})
"""The endings of files that are shown as Markdown."""

PDF = ".pdf"

LONGEST = 20 << 20
"""The largest file that is read, in bytes."""

_HEADING = re.compile(r"^#{1,3} +(.+?)\s*#*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^([^\n]{2,200})\n(?:={3,}|-{3,})$", re.MULTILINE)
_DAY = re.compile(r"\A---\n(?:.*\n)*?date: *[\"']?(\d{4}-\d\d-\d\d)")


def pages_in(folder: Path, site: str) -> list[WebPage]:
    """Return the documents below a folder, in the order of their paths; hidden files and links out of it are left out.

    Args:
        folder: The folder.
        site: The host of their addresses.

    Raises:
        MissingFile: There is no such folder.
        SpecError: It holds no document.
    """
    if not folder.is_dir():
        raise MissingFile(folder, "a folder of documents", kind="folder", key="documents")
    root, pages, unread = folder.resolve(), list[WebPage](), 0
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if any(part.startswith(".") for part in place.parts) or not path.is_file():
            continue
        if not path.resolve().is_relative_to(root) or path.stat().st_size > LONGEST:
            continue
        url = f"https://{site}/{quote(os.fsencode(place.as_posix()))}"
        if path.suffix.lower() == PDF and find_spec("pypdf") is None:
            unread += 1
        elif (page := _page(path, url)) is not None:
            pages.append(page)
    if unread:
        logger.warning("%s: %d PDF files are left out: pip install pypdf", folder, unread)
    if not pages:
        raise SpecError(str(folder), "documents", str(folder), "a folder with Markdown, HTML or text")
    return pages


def _page(path: Path, url: str) -> WebPage | None:
    """Return the page of a file; None where it is no document."""
    kind, name = path.suffix.lower(), os.fsencode(path.stem).decode("utf-8", "replace")
    if kind in PAGES:
        title, body = markdown_of(path.read_text(encoding="utf-8", errors="replace"), url)
        return WebPage(url, title or name, None, "document", body)
    if kind == PDF:
        text = _text_of_pdf(path)
        return None if text is None else WebPage(url, name, None, "document", text)
    if kind not in TEXTS:
        return None
    body = path.read_text(encoding="utf-8", errors="replace")
    found, day = _HEADING.search(body) or _UNDERLINED.search(body), _DAY.match(body)
    return WebPage(url, found[1] if found else name, day[1] if day else None, "document", body)


def _text_of_pdf(path: Path) -> str | None:
    from pypdf import PdfReader

    try:
        return "\n\n".join(page.extract_text() for page in PdfReader(path).pages)
    except Exception as error:  # A broken file raises many kinds of errors.
        logger.warning("%s is left out: %s", path, error)
        return None


def markdown_of(html: str, url: str = "") -> tuple[str, str]:
    """Return the title and the text of a page in HTML, as Markdown; what is no content of it is left out.

    Args:
        html: The page.
        url: Its address, from which the addresses of links count.

    >>> markdown_of("<title>A</title><nav>x</nav><h1>A &amp; B</h1><p>One <a href='c.html'>two</a>.</p>", "https://h/d/")
    ('A', '# A & B\\n\\nOne [two](https://h/d/c.html).')
    """
    reader = _PageReader(url)
    reader.feed(html)
    reader.close()
    return " ".join(reader.title.split()), reader.text()


class _PageReader(HTMLParser):
    """Reads a page in HTML."""

    skipped = frozenset({"script", "style", "nav", "head", "template", "noscript", "svg", "footer"})
    roles = frozenset({"banner", "contentinfo", "navigation", "search"})
    blocks = frozenset({"p", "div", "section", "article", "ul", "ol", "dl", "table", "blockquote", "dt", "figure"})
    blocks |= {"main", "header", "aside", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr"}
    lines = frozenset({"br", "tr", "li", "dd"})

    def __init__(self, url: str) -> None:
        super().__init__()
        self.title = ""
        self._url, self._parts = url, list[str]()
        self._within: list[str] = []
        self._in_title = False
        self._pre, self._links = 0, list[str | None]()

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read a section such as `<![foo[ ... ]]>`; one that HTML does not know is a comment, as in browsers."""
        try:
            return super().parse_marked_section(i, report)  # type: ignore[arg-type,unused-ignore]
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "body":  # The end of the head may be left out.
            self._within.clear()
        if tag == "title":
            self._in_title = True
        elif tag in self.skipped or tag in self._within or told.get("role") in self.roles:
            self._within.append(tag)
        elif self._within:
            return
        elif tag in self.blocks:
            self._parts.append("\n\n")
            self._pre += tag == "pre"
            self._parts += ["```\n"] if tag == "pre" else []
            self._parts += [f"{'#' * int(tag[1])} "] if tag[0] == "h" and tag[1:].isdigit() else []
        elif tag in self.lines:
            self._parts.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self._parts.append(" | ")
        elif tag == "a":
            address = told.get("href")
            shown = address if address and not address.startswith(("#", "javascript:")) else None
            self._links.append(self._joined(shown) if shown else None)
            self._parts += ["["] if self._links[-1] else []

    def _joined(self, address: str) -> str | None:
        """Return the whole address of a link; None where it is none."""
        try:
            return urljoin(self._url, address)
        except ValueError:
            return None

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._within:
            while self._within.pop() != tag:
                continue
        elif self._within:
            return
        elif tag in self.blocks:
            if tag == "pre" and self._pre:
                self._pre -= 1
                self._parts.append("\n```")
            self._parts.append("\n\n")
        elif tag == "a" and self._links and (link := self._links.pop()):
            self._parts.append(f"]({link})")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._within and data != "¶":  # The mark of a link to a heading.
            self._parts.append(data if self._pre else re.sub(r"\s+", " ", data))

    def text(self) -> str:
        """Return the text so far, with one empty line between blocks."""
        return "\n\n".join(self._blocks("".join(self._parts)))

    @staticmethod
    def _blocks(text: str) -> Iterator[str]:
        code = False
        for block in re.split(r"\n[ \t]*\n\s*?(?=\S|$)", text):
            stripped = (
                block.rstrip() if code or block.startswith("```") else "\n".join(map(str.strip, block.split("\n")))
            )
            code ^= block.count("```") % 2 == 1
            if stripped.strip() and stripped.strip("#- ").strip():
                yield stripped.strip("\n")
