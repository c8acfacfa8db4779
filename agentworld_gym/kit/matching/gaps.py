"""Where a prediction has what it could not know: spans of the truth become gaps between pieces that are fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Protocol

from agentworld_gym.kit.matching.plausibility import plausible, same_lines

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Kind

ANCHOR = 40
"""Characters of a line that stand for the fixed text beside a gap."""


class SpanLike(Protocol):
    """A piece `text[start:end]` of one kind: an engine's span, or a row's."""

    @property
    def start(self) -> int:
        """Where it starts."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...

    @property
    def kind(self) -> Kind:
        """What decides its content."""
        ...


@dataclass(frozen=True, slots=True)
class Gap:
    """A piece of the truth that a prediction may have otherwise."""

    start: int
    end: int
    kind: Kind


def gaps_of(truth: str, spans: Sequence[SpanLike]) -> list[Gap]:
    """The gaps of a text in order; what overlaps an earlier one or lies outside of the text is left out.

    Gaps that touch each other are one, since no text between says where one ends: of their kind, or pre-existing.
    """
    gaps: list[Gap] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        start, end = max(span.start, 0), min(span.end, len(truth))
        if span.kind == "deterministic" or start >= end:
            continue
        if gaps and start < gaps[-1].end:
            continue
        if gaps and start == gaps[-1].end:
            kind: Kind = span.kind if span.kind == gaps[-1].kind else "pre-existing"
            gaps[-1] = Gap(gaps[-1].start, end, kind)
        else:
            gaps.append(Gap(start, end, span.kind))
    return gaps


def fixed_pieces(truth: str, gaps: Sequence[Gap]) -> list[str]:
    """The texts before, between and after the gaps."""
    edges = [0, *(edge for gap in gaps for edge in (gap.start, gap.end)), len(truth)]
    return [truth[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def aligned(predicted: str, truth: str, gaps: Sequence[Gap]) -> list[str] | None:
    """What a prediction has in each gap, if it has all fixed pieces in order around them; else None.

    A gap without a line break stays without one, so that no line can hide in it; others have about as many lines. A gap
    may hold the piece that follows it: each piece is looked for behind as many of its like as the true gap holds, or
    else all of them at their first places.

    >>> aligned("Tue May 5 4s", "Mon May 4 3s", [Gap(0, 9, "metadata"), Gap(10, 12, "metadata")])
    ['Tue May 5', '4s']
    >>> aligned("passed in 9s\\n", "passed in 2s\\n", [Gap(10, 12, "metadata")])
    ['9s']
    """
    if not gaps:
        return [] if predicted == truth else None
    pieces = fixed_pieces(truth, gaps)
    held = [_held(truth, gap, piece) for gap, piece in zip(gaps[:-1], pieces[1:-1], strict=True)]
    for skipped in (held, [0] * len(held)):
        fillings = _split(predicted, pieces, skipped)
        if fillings is not None and all(
            same_lines(given, truth[gap.start : gap.end]) for given, gap in zip(fillings, gaps, strict=True)
        ):
            return fillings
    return None


def _split(predicted: str, pieces: Sequence[str], skipped: Sequence[int]) -> list[str] | None:
    """What stands between the pieces; at each gap so many occurrences of the next piece are skipped, if there are."""
    first, *middle, last = pieces
    end = len(predicted) - len(last)
    if not predicted.startswith(first) or not predicted.endswith(last):
        return None
    place, fillings = len(first), []
    for piece, count in zip(middle, skipped, strict=True):
        places = list(islice(_places(predicted, piece, place), count + 1))
        if not places:
            return None
        found = places[-1] if len(places) > count else places[0]
        fillings.append(predicted[place:found])
        place = found + len(piece)
    return [*fillings, predicted[place:end]] if place <= end else None


def _held(truth: str, gap: Gap, piece: str) -> int:
    """How often the piece behind a gap already begins in it."""
    return sum(1 for _ in takewhile(lambda place: place < gap.end, _places(truth, piece, gap.start)))


def _places(text: str, piece: str, start: int) -> Iterator[int]:
    """Where a piece begins, from some place on."""
    while (start := text.find(piece, start)) >= 0:
        yield start
        start += 1


def beside(predicted: str, truth: str, gaps: Sequence[Gap]) -> list[str | None]:
    """What a prediction has in each gap, looked for by the fixed text of the same line; None where it is not found.

    For predictions that differ elsewhere: the gaps are looked for in order, each behind the one before.

    >>> beside("3 failed in 9s", "2 failed in 2s", [Gap(12, 14, "metadata")])
    ['9s']
    """
    pieces = fixed_pieces(truth, gaps)
    fillings: list[str | None] = []
    place = 0
    for number, gap in enumerate(gaps):
        wanted = truth[gap.start : gap.end]
        line = pieces[number].rpartition("\n")[2]
        start = _behind(predicted, line[-ANCHOR:], place)
        if start < 0:
            start = _behind(predicted, _last_word(line), place)
        end = -1 if start < 0 else _until(predicted, start, pieces[number + 1], "\n" in wanted)
        if end < 0 or not same_lines(predicted[start:end], wanted):
            fillings.append(None)
            continue
        fillings.append(predicted[start:end])
        place = end
    return fillings


def right_gaps(predicted: str, truth: str, gaps: Sequence[Gap]) -> tuple[bool, dict[Kind, bool]]:
    """Whether all fixed text is right, and for each kind of gap whether all of them have plausible content."""
    fillings: Sequence[str | None] | None = aligned(predicted, truth, gaps)
    exact = fillings is not None
    if fillings is None:
        fillings = beside(predicted, truth, gaps)
    kinds: dict[Kind, bool] = {}
    for gap, given in zip(gaps, fillings, strict=True):
        right = given is not None and plausible(gap.kind, given, truth[gap.start : gap.end])
        kinds[gap.kind] = kinds.get(gap.kind, True) and right
    return exact, kinds


def _last_word(line: str) -> str:
    """The last word of a line with the blanks behind it."""
    words = line.rstrip()
    start = max(words.rfind(" "), words.rfind("\t")) + 1
    return line[start:][-ANCHOR:]


def _behind(text: str, anchor: str, place: int) -> int:
    """The place behind the next anchor, -1 if there is none; an empty anchor is found at once."""
    if not anchor:
        return place
    found = text.find(anchor, place)
    return found if found < 0 else found + len(anchor)


def _until(text: str, start: int, piece: str, lines: bool) -> int:
    """Where a gap ends: before the line that follows it, or at the end of its line; -1 if that is nowhere."""
    cut = piece.find("\n", 1 if lines else 0)
    anchor = (piece if cut < 0 else piece[: cut + 1])[:ANCHOR]
    found = text.find(anchor, start) if anchor else -1
    if found < 0 and not anchor.strip("\n"):
        line = text.find("\n", start)
        found = len(text) if lines or line < 0 else line
    return found
