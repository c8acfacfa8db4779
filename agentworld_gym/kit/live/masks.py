"""What varies between two equal episodes of a live system: how it is learned, and marked in what is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from agentworld_gym.core.engines import Span

MASK = "\N{HORIZONTAL ELLIPSIS}"
"""What stands for a masked piece where texts are compared."""

CONTEXT = 16
"""How many characters before a piece a learned mask asks for."""

LETTERS = 2
"""How many letters have to stand before a number or a word that is marked."""

_KINDS = (
    ("time", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?"),
    (
        "time",
        r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Z]?[a-z]{0,2} ?\d{1,2}[^\n\"]{0,24}\d\d:\d\d:\d\d(?: ?[A-Z]{2,4})?",
    ),
    ("time", r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?"),
    ("day", r"\d{4}-\d\d-\d\d"),
    ("identifier", r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"),
    ("number", r"-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w)"),
    ("identifier", r"(?:0x)?[0-9a-f]{7,}(?!\w)"),
    ("path", r"/(?:tmp|var/tmp|run)/[\w./-]+"),
    ("word", r"[\w.-]+"),
)
"""The kinds of pieces that vary, the longest forms first."""

_ENDING = re.compile(r"\.[a-zA-Z]{2,}\b")
"""How the name of a file ends."""

_TOKEN = re.compile("|".join(f"({pattern})" for _, pattern in _KINDS) + r"|(\s+)|(.)")


class Varied(NamedTuple):
    """A piece of an answer that two equal episodes show otherwise."""

    kind: str
    """What it is: a `time`, a `day`, an `identifier`, a `path`, a `number`, a `word`, an `order` of lines, or `other`
    text."""

    first: str
    """What the first episode showed."""

    second: str
    """What the second one showed."""

    mask: str | None
    """The pattern that marks it; None where there is none, as where whole lines differ."""


class Masks:
    """The patterns of what varies.

    >>> masks = Masks([r'"pid": (\\d+)'])
    >>> masks.spans('{"pid": 421}')
    (Span(start=8, end=11, kind='metadata'),)
    >>> masks.without('{"pid": 421}')
    '{"pid": …}'
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [re.compile(pattern) for pattern in patterns]

    def also(self, patterns: Iterable[str]) -> Masks:
        """Return these patterns and further ones."""
        return Masks((*(pattern.pattern for pattern in self._patterns), *patterns))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the pieces of a text that vary, in order and without overlap."""
        found = sorted(
            match.span(1 if pattern.groups and match.group(1) is not None else 0)
            for pattern in self._patterns
            for match in pattern.finditer(text)
        )
        spans: list[Span] = []
        for start, end in found:
            if start >= (spans[-1].end if spans else 0) and end > start:
                spans.append(Span(start, end, "metadata"))
        return tuple(spans)

    def without(self, text: str) -> str:
        """Return a text with a mark in place of each piece that varies."""
        parts, at = [], 0
        for start, end, _ in self.spans(text):
            parts += [text[at:start], MASK]
            at = end
        return "".join([*parts, text[at:]])


def varied(first: str, second: str) -> list[Varied]:
    """Tell how two answers differ that should be equal, piece by piece, with a pattern for each.

    A pattern holds what stands before the piece on its line, so that it marks no other piece of that form; or the end
    of a name, such as `.tmp`, that an identifier is a part of.

    >>> [piece] = varied('{"pid": 421, "id": 7}', '{"pid": 9, "id": 7}')
    >>> piece.kind, Masks([piece.mask]).without('{"pid": 5, "id": 7}')
    ('number', '{"pid": …, "id": 7}')
    >>> [piece] = varied("rename a.5c7f00d1.tmp", "rename a.8d0ca4ca.tmp")
    >>> Masks([piece.mask]).without("open notes/b.811bd83c.tmp")
    'open notes/b.….tmp'
    >>> varied("a\\nb", "b\\na")[0].kind
    'order'
    """
    if first == second:
        return []
    if sorted(first.splitlines()) == sorted(second.splitlines()):
        return [Varied("order", first, second, None)]
    a, b = ([match.group() for match in _TOKEN.finditer(text)] for text in (first, second))
    starts = [0]
    for token in a:
        starts.append(starts[-1] + len(token))
    pieces = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for place, (one, other) in enumerate(_pairs(a[i1:i2], b[j1:j2])):
            start = starts[i1 + place] if tag == "replace" and i2 - i1 == j2 - j1 else starts[i1]
            pieces.append(_piece(first[:start], one, other, first[start + len(one) :]))
    return list(dict.fromkeys(pieces))


def _pairs(a: Sequence[str], b: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(a, b, strict=True)) if len(a) == len(b) else [("".join(a), "".join(b))]


def _piece(before: str, one: str, other: str, after: str) -> Varied:
    if not any(re.fullmatch(pattern, one) for _, pattern in _KINDS[:-1]):
        if kept := _shared(one, other):
            return _piece(before + one[:kept], one[kept:], other[kept:], after)
        if kept := _shared(one[::-1], other[::-1]):
            return _piece(before, one[:-kept], other[:-kept], one[-kept:] + after)
    for kind, pattern in _KINDS:
        if re.fullmatch(pattern, one) and re.fullmatch(pattern, other):
            if kind == "identifier" and before.endswith(".") and (ending := _ENDING.match(after)):
                return Varied(kind, one, other, rf"\.({pattern}){re.escape(ending[0])}\b")
            line = before[before.rfind("\n") + 1 :][-CONTEXT:]
            if kind in ("number", "word") and len(re.findall(r"[^\W\d_]", line)) < LETTERS:
                break  # Without words before it, the pattern would mark whatever has that form.
            context = "".join(re.escape(part) if part and not part.isdigit() else r"\d+" for part in _parts(line))
            start = "" if len(line) == CONTEXT else "(?m:^)"
            return Varied(kind, one, other, f"{start}{context}({pattern})")
    return Varied("other", one, other, None)


def _shared(one: str, other: str) -> int:
    """Return how long the beginning of two words is that both share, up to its last sign, as in `wrote.5c7` and
    `wrote.aa0`."""
    count = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return max((at + 1 for at in range(count) if not one[at].isalnum()), default=0)


def _parts(line: str) -> list[str]:
    """Split the text before a piece into numbers, which may vary as well, and the rest."""
    return [part for part in re.split(r"(\d+)", line) if part]
