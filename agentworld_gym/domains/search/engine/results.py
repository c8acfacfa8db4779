"""The search engine of one task: which results a query gets, and what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from agentworld_gym.base.text.dates import month_first
from agentworld_gym.core.engines import Controls, Span
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.index import PageIndex, ParsedQuery
from agentworld_gym.domains.search.engine.misinformation import Forger, corrected
from agentworld_gym.domains.search.engine.page_reader import Web
from agentworld_gym.domains.search.engine.pages import Address, WebPage, address_of
from agentworld_gym.domains.search.engine.snippets import snippet, wanted_of
from agentworld_gym.domains.search.engine.state import Hidden

PER_QUERY = 10
MAX_QUERIES = 5
"""How many queries of one search are answered."""

NOTHING = "No results found."
BETWEEN = "\n\n"
"""What stands between two results."""


class ResultList(NamedTuple):
    """The results of a search: their text, its pieces that are not deterministic, and the pages listed.

    Where one query has no result, its text is empty.
    """

    text: str
    spans: Sequence[Span]
    urls: frozenset[str]


@dataclass(frozen=True, eq=False)
class SearchEngine:
    """The web as one task sees it: a shared index, what the task hides, and the controls in force."""

    index: PageIndex
    """The index of the web, which other tasks may share."""
    guard: LeakDetector
    """The guard that keeps the answer out of results."""
    controls: Controls
    """The faults in force."""
    given: Set[str]
    """The addresses of the pages in the task's state."""
    forger: Forger
    """The maker of wrong texts."""
    decoys: Mapping[str, WebPage] = field(default_factory=dict)
    """Misleading pages, each by the address of the page from which it is made."""
    behind: Mapping[Address | None, WebPage] = field(default_factory=dict)
    """The same misleading pages by their own addresses."""

    @classmethod
    def of(cls, index: PageIndex, pages: Sequence[WebPage], hidden: Hidden, controls: Controls) -> SearchEngine:
        """Return the search engine of a task; `pages` are those that the task's state gives."""
        guard = LeakDetector(hidden.secrets)
        forger = Forger.of(hidden, pages if controls else (), controls)
        newest = max((page.date for page in pages if page.date), default=None)
        decoys = {
            page.url: decoy
            for page in pages
            if controls.strikes("misleading-snippets", page.url)
            and not guard.leaks((decoy := forger.copy(page, newest)).url)
        }
        behind = {address_of(page.url): page for page in decoys.values()}
        return cls(index, guard, controls, frozenset(page.url for page in pages), forger, decoys, behind)

    @property
    def web(self) -> Web:
        """The web as the page reader sees it."""
        return Web(self._find, self._has_host, self._body, self._is_given)

    def search(self, query: str, listed: Set[str], first: int = 1) -> ResultList:
        """Return the results of a query.

        Args:
            query: The query.
            listed: The addresses that were shown before.
            first: The number of the first result.
        """
        asked = ParsedQuery.of(query)
        hits = self._hits(asked, query)
        wanted = wanted_of(asked)
        text, spans = "", []
        for number, page in enumerate(hits, start=first):
            text += f"{BETWEEN if text else ''}[{number}] "
            start = len(text)
            head = f"{page.url}\nTitle: {page.title}\nSnippet: "
            quoted = snippet(self._quoted(page), wanted, self.guard)
            day = month_first(page.date) if page.date and not self.guard.leaks(page.date) else "N/A"
            text += f"{head}{quoted}\nDate: {day}"
            if not self._is_given(page):
                expected = page.url in listed
                spans.append(
                    Span(start + len(head) if expected else start, start + len(head) + len(quoted), "pre-existing")
                )
                if not expected:
                    spans.append(Span(len(text) - len(day), len(text), "metadata"))
        return ResultList(text, spans, frozenset(page.url for page in hits))

    def answer(
        self, queries: Sequence[str], asked: Set[str] = frozenset(), listed: Set[str] = frozenset()
    ) -> ResultList:
        """Return one list of the results of several queries, whose numbers run on.

        Args:
            queries: The queries, of which the first `MAX_QUERIES` are answered.
            asked: The queries that were answered before, whose results are known.
            listed: The addresses that were shown before.
        """
        text, spans, urls, number = "", [], frozenset[str](), 1
        for query in queries[:MAX_QUERIES]:
            results = self.search(query, listed | urls, first=number)
            text += BETWEEN if text and results.text else ""
            if query not in asked:
                spans += [Span(len(text) + begin, len(text) + end, kind) for begin, end, kind in results.spans]
            asked, urls, number = asked | {query}, urls | results.urls, number + len(results.urls)
            text += results.text
        return ResultList(text or NOTHING, spans, urls)

    def _hits(self, asked: ParsedQuery, query: str) -> list[WebPage]:
        safe = (page for page in self.index.ranked(asked) if not self.guard.leaks(f"{page.title}\n{page.url}"))
        hits = list(islice(safe, PER_QUERY))
        if self.decoys and self.controls:
            pairs = ((self.decoys.get(page.url), page) for page in hits)
            hits = [page for pair in pairs for page in pair if page is not None][:PER_QUERY]
        if hits and self.controls.strikes("incomplete-results", query):
            sources = {page.url for page in hits if self.guard.leaks(page.body)} | {hits[0].url}
            hits = [page for page in hits if page.url not in sources or _names(asked, page)]
            hits = hits[: 3 + int(self.controls.draw("incomplete-results", query, "how many") * 4)]
        return hits

    def _quoted(self, page: WebPage) -> str:
        """Return the text that a snippet quotes: that of the page, or what stood there before it was corrected."""
        return self.forger.forged(page.body, page.url) if self._is_stale(page) else page.body

    def _body(self, page: WebPage) -> str:
        return corrected(page) if self._is_stale(page) else page.body

    def _is_stale(self, page: WebPage) -> bool:
        return self.controls.strikes("stale-data", page.url) and address_of(page.url) not in self.behind

    def _is_given(self, page: WebPage) -> bool:
        return page.url in self.given and not self._is_stale(page)

    def _find(self, address: Address) -> WebPage | None:
        return self.index.find(address) or self.behind.get(address)

    def _has_host(self, host: str) -> bool:
        return host in self.index.hosts or any(address is not None and address.host == host for address in self.behind)


def _host(page: WebPage) -> str:
    address = address_of(page.url)
    return address.host if address else ""


def _names(query: ParsedQuery, page: WebPage) -> bool:
    """Return whether a query names a page closely: words of its title in quotes, or its site."""
    return any(phrase.search(page.title) for phrase in query.phrases) or _host(page) in query.sites
