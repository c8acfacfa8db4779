"""Snippets: what a result quotes of its page without giving the answer away."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.index import COMMON, ParsedQuery, words_of

LONGEST = 200
"""The number of characters of the longest quotation of one passage; a snippet has up to two."""

_ENOUGH = 90
_KEPT = 4_096
_BREAK = "..."
_MARKS = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|`+|!?\[([^\]\[]*)\]\([^()\s]*\)")
_TOKEN = re.compile(r"[^\W_]+")
_LIST = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+|^\s*>\s?")
_RULE = re.compile(r"^[\s|:=_*-]*$")
# A full stop ends a sentence, unless a single capital stands before it (M. Cresswell).
_END = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[\"'(\[]?[A-Z0-9])")


def passages(body: str) -> tuple[str, ...]:
    """Return the sentences, items and table rows of a page of markdown, as plain text and without its headings.

    >>> passages("# Light\\n\\n**Tall** tower. See [the map](/m).\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |")
    ('Tall tower.', 'See the map.', '1 | 2')
    """
    texts: list[str] = []
    for block in re.split(r"\n\s*\n", body):
        lines = [line for line in block.split("\n") if line.strip() and not line.startswith("#")]
        text: list[str] = []
        for line in lines:
            if _RULE.match(line):
                if line.count("|") <= 3 and texts and "|" in texts[-1]:
                    texts.pop()  # the head of a table of two columns says nothing
                continue
            alone = "|" in line or _LIST.match(line)
            plain = _MARKS.sub(r"\1", _LIST.sub("", line)).strip().strip("|").strip()
            if alone:
                texts += _sentences(text)
                text = []
                texts.append(" ".join(plain.split()))
            else:
                text.append(plain)
        texts += _sentences(text)
    return tuple(passage for passage in texts if passage)


def _sentences(lines: list[str]) -> list[str]:
    return _END.split(" ".join(" ".join(lines).split())) if lines else []


def wanted_of(query: ParsedQuery) -> frozenset[str]:
    """Return the words that a snippet for a query should show; common words are used only where there are no others."""
    return frozenset(query.words) - COMMON or frozenset(query.words)


@lru_cache(maxsize=_KEPT)
def _places(body: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the passages of a page, each with its words."""
    return tuple((passage, tuple(map(sys.intern, words_of(passage)))) for passage in passages(body))


def snippet(body: str, wanted: frozenset[str], guard: LeakDetector) -> str:
    """Return the passage of a page that has most of the wanted words, or two passages, cut sentences ending in `...`.

    A passage that gives the answer away is skipped. If all do, the first one is cut off before the answer.

    >>> guard = LeakDetector([["Aldermoor"]])
    >>> page = "# Lens\\n\\nThe lens came from Aldermoor. It was brought in crates. It served until 1927."
    >>> snippet(page, wanted_of(ParsedQuery.of("lens crates")), guard)
    'It was brought in crates. It served until 1927.'
    >>> snippet("# Lens\\n\\nThe lens came from Aldermoor.", wanted_of(ParsedQuery.of("lens")), guard)
    'The lens came from ...'
    """
    candidates = _places(body)
    places = tuple(place for place, _ in candidates)
    rated = sorted((-len(wanted.intersection(words)), n) for n, (_, words) in enumerate(candidates))
    for _, first in rated:
        quotation = _clipped(places[first], wanted)
        if guard.leaks(quotation):
            continue
        if len(quotation) < _ENOUGH:
            return _lengthened(quotation, first, places, [n for score, n in rated if score], wanted, guard)
        return quotation
    for place in places:
        if start := guard.cut(place[:LONGEST]).rstrip(" ,;:("):
            return f"{start} {_BREAK}"
    return _BREAK


def _lengthened(
    quotation: str, first: int, places: tuple[str, ...], rated: list[int], wanted: frozenset[str], guard: LeakDetector
) -> str:
    """Extend a short quotation by a second passage: another one with wanted words, or the next one of the page."""
    for second in [*[n for n in rated if n != first][:2], first + 1]:
        if second < len(places):
            place = _clipped(places[second], wanted)
            between = " " if second == first + 1 and "|" not in quotation + place else f" {_BREAK} "
            pair = f"{quotation}{between}{place}" if second > first else f"{place} {_BREAK} {quotation}"
            pair = pair.replace(f"{_BREAK} {_BREAK}", _BREAK)
            if not guard.leaks(pair):
                return pair
    return quotation


def _clipped(place: str, wanted: frozenset[str]) -> str:
    """Cut a passage to the length of a quotation, from a little before the first wanted word."""
    if len(place) <= LONGEST:
        return place
    first = next((match.start() for match in _TOKEN.finditer(place) if wanted.intersection(words_of(match[0]))), 0)
    start = max(0, min(first - LONGEST // 3, len(place) - LONGEST))
    if start:
        start = place.find(" ", start, start + 40) + 1 or start
    end = start + LONGEST
    if end < len(place):
        end = place.rfind(" ", start + 1, end) if " " in place[start + 1 : end] else end
    return (
        (f"{_BREAK} " if start else "") + place[start:end].rstrip(" ,;:") + (f" {_BREAK}" if end < len(place) else "")
    )
