"""The index of a web: which pages there are, and which of them a query finds.

The BM25 library (bm25s) scores the pages; operators of a query and the order of equal scores are decided here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol

import numpy as np

from agentworld_gym.domains.search.engine.fictional_world import build_world
from agentworld_gym.domains.search.engine.pages import Address, WebPage, address_of

COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by did do does for from had has have how in is it its of on or s that the their "
        "they this to was were what when where which who whom whose why will with",
    )
)
"""Words that say nothing about what is looked for."""

_WORD = re.compile(r"[^\W_]+")
_PIECE = re.compile(r'(-?)"([^"]*)"|(\S+)')
_TITLE_WEIGHT = 3
_LONGEST = 2_000
_MAX_WORDS = 64
_MAX_PHRASES = 8
_KEPT = 96


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query that was parsed into words and operators.

    `words` are searched for. A page must hold all `phrases` and none of `without`, as written. Where there are `sites`,
    the page lies on one of them; it lies on none of `not_sites`.

    >>> query = ParsedQuery.of('"Tornsay Light" maker site:lights.example -forum')
    >>> query.words, query.sites, len(query.phrases), len(query.without)
    (('tornsay', 'light', 'maker'), ('lights.example',), 1, 1)
    """

    words: tuple[str, ...] = ()
    phrases: tuple[re.Pattern[str], ...] = ()
    without: tuple[re.Pattern[str], ...] = ()
    sites: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> ParsedQuery:
        """Parse a query; any text is a query, and only the start of a long one counts."""
        words: list[str] = []
        phrases: list[re.Pattern[str]] = []
        without: list[re.Pattern[str]] = []
        sites: dict[bool, list[str]] = {True: [], False: []}
        for minus, phrase, bare in _PIECE.findall(text[:_LONGEST]):
            excluded = bool(minus) or (len(bare) > 1 and bare.startswith("-"))
            bare = bare.removeprefix("-") if excluded else bare
            if bare.casefold().startswith("site:"):
                site = bare[5:].casefold().removeprefix("https://").removeprefix("http://")
                sites[excluded].append(site.removeprefix("www.").removeprefix("*.").split("/")[0])
                continue
            pattern = exact(phrase or bare) if phrase or excluded else None
            if not excluded:
                words += words_of(phrase or bare)
            if pattern is not None:
                (without if excluded else phrases).append(pattern)
        return cls(
            tuple(dict.fromkeys(words))[:_MAX_WORDS],
            tuple(phrases[:_MAX_PHRASES]),
            tuple(without[:_MAX_PHRASES]),
            tuple(sites[False]),
            tuple(sites[True]),
        )

    def allows(self, page: WebPage) -> bool:
        """Return whether the operators of the query allow a page."""
        if self.sites or self.not_sites:
            address = address_of(page.url)
            host = address.host if address else ""
            if self.sites and not any(_within(host, site) for site in self.sites):
                return False
            if any(_within(host, site) for site in self.not_sites):
                return False
        if not self.phrases and not self.without:
            return True
        text = f"{page.title}\n{page.body}"
        return all(phrase.search(text) for phrase in self.phrases) and not any(
            phrase.search(text) for phrase in self.without
        )

    @property
    def restricted(self) -> bool:
        """Whether the query has operators."""
        return bool(self.phrases or self.without or self.sites or self.not_sites)


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are indexed: without case and accents, and plurals like singulars.

    >>> words_of("The Lenses of Édmund's ferries, 1,200 glass")
    ['the', 'lense', 'of', 'edmund', 's', 'ferry', '1', '200', 'glass']
    """
    return [_folded(word) for word in _WORD.findall(_plain(text))]


class Scores(Protocol):
    """The scores of the BM25 library: how well every page fits some words."""

    def get_scores_from_ids(self, query_tokens_ids: list[int]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return a score for each page, for words given by their numbers."""
        ...


@dataclass(frozen=True, eq=False)
class PageIndex:
    """The pages of one web and the words on them; an index never changes, and all sessions of the web share it."""

    pages: Sequence[WebPage]
    addresses: Mapping[Address, int] = field(repr=False)
    hosts: frozenset[str] = field(repr=False)
    _vocabulary: Mapping[str, int] = field(repr=False)
    _scores: Scores | None = field(repr=False)

    @classmethod
    def of(cls, pages: Sequence[WebPage]) -> PageIndex:
        """Index some pages; those that a query finds equally good keep the order of their addresses."""
        pages = sorted(pages, key=lambda page: page.url)
        addresses = {address: n for n, page in enumerate(pages) if (address := address_of(page.url)) is not None}
        raw: dict[str, int] = {}  # a word as written -> its number; words that fold to the same word share it
        vocabulary: dict[str, int] = {}
        documents: list[list[int]] = []
        for page in pages:
            document = []
            for word in _WORD.findall(_plain(f"{f'{page.title} ' * _TITLE_WEIGHT} {page.url} {page.body}")):
                number = raw.get(word)
                if number is None:
                    number = raw[word] = vocabulary.setdefault(_folded(word), len(vocabulary))
                document.append(number)
            documents.append(document)
        return cls(
            tuple(pages), addresses, frozenset(address.host for address in addresses), vocabulary, _bm25(documents)
        )

    def find(self, address: Address) -> WebPage | None:
        """Return the page at an address, if there is one."""
        number = self.addresses.get(address)
        return None if number is None else self.pages[number]

    def ranked(self, query: ParsedQuery) -> Iterator[WebPage]:
        """Return the pages that a query finds, the best first.

        Pages that share a word with the query come first. Unless the query has operators, pages that are like the best
        one follow, and then all others. A query without a word that the web knows finds nothing.
        """
        numbers = self._order(query.words)
        first = next(numbers, None)
        if first is None:
            if not query.words and query.sites:
                yield from filter(query.allows, self.pages)
            return
        order = chain((first,), numbers)
        if query.restricted:
            yield from filter(query.allows, (self.pages[number] for number in order))
            return
        listed = set()
        others = self._order(words_of(self.pages[first].title))
        for number in chain(order, others, range(len(self.pages))):
            if number not in listed:
                listed.add(number)
                yield self.pages[number]

    def _order(self, words: Sequence[str]) -> Iterator[int]:
        """Return the numbers of the pages that have one of the words, the best first."""
        numbers = [self._vocabulary[word] for word in words if word in self._vocabulary]
        if not numbers or self._scores is None:
            return
        scores = self._scores.get_scores_from_ids(numbers)
        for number in (-scores).argsort(kind="stable"):
            if scores[number] <= 0:
                return
            yield int(number)


def _bm25(documents: Sequence[list[int]]) -> Scores | None:
    if not documents:
        return None
    from bm25s import BM25  # type: ignore[import-untyped]  # here, because it takes half a second

    scores = BM25(k1=1.2, b=0.75, method="lucene")
    unique: set[int] = set().union(*documents)
    # The vocabulary is left out, because the library would keep a copy of it.
    scores.scores = scores.build_index_from_ids(sorted(unique), documents, show_progress=False)
    ready: Scores = scores
    return ready


def index_of(theme: str | None, seed: int, stated: tuple[WebPage, ...] = ()) -> PageIndex:
    """Return the index of a theme's world, with the pages of the state, which replace those of the same address.

    Raises:
        SpecError: there is no such theme, or it is wrong.
    """
    if theme is None:
        return _own_index(stated)
    base = _world_index(theme, seed)
    differ = tuple(page for page in stated if not _same(base, page))
    return _changed_index(theme, seed, differ) if differ else base


@lru_cache(maxsize=_KEPT)
def _world_index(theme: str, seed: int) -> PageIndex:
    return PageIndex.of(build_world(theme, seed).pages)


@lru_cache(maxsize=_KEPT)
def _changed_index(theme: str, seed: int, pages: tuple[WebPage, ...]) -> PageIndex:
    replaced = {address_of(page.url) for page in pages}
    theme_pages = _world_index(theme, seed).pages
    return PageIndex.of([*(page for page in theme_pages if address_of(page.url) not in replaced), *pages])


@lru_cache(maxsize=_KEPT)
def _own_index(pages: tuple[WebPage, ...]) -> PageIndex:
    return PageIndex.of(pages)


def _same(index: PageIndex, page: WebPage) -> bool:
    address = address_of(page.url)
    original = index.find(address) if address else None
    return original is not None and (original.title, original.date, original.body) == (page.title, page.date, page.body)


def _plain(text: str) -> str:
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return text.casefold()


def _folded(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def exact(text: str) -> re.Pattern[str] | None:
    """Return the words of a text as written, without the marks between them, or `None` for a text without words."""
    words = _WORD.findall(text)[:_MAX_WORDS]
    if not words:
        return None
    between = r"[\W_]+"
    return re.compile(rf"(?<!\w){between.join(map(re.escape, words))}(?!\w)", re.IGNORECASE)


def _within(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")
