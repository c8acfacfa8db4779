"""The pieces of a table that nobody could predict: the clock, places of windows, contents that nobody stated or saw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import Span
from agentworld_gym.domains.desktop.engine.state import DesktopState

_ROW = re.compile(
    r"^(?P<role>[a-z-]+)\t(?P<name>[^\t\n]*)\t(?P<text>[^\t\n]*)\t[^\t\n]*\t[^\t\n]*\t(?P<place>\(.*\))$", re.MULTILINE
)
_TITLE = re.compile(r"^(?:frame|dialog)\t\*?([^\t\n]*)", re.MULTILINE)
_CLOCK = re.compile(r"[A-Z][a-z]{2} \d{1,2}  \d{1,2}:\d\d(?: [AP]M)?")
_CONTENTS = frozenset(("text", "paragraph", "link", "image"))
MAX_STATED = 50_000


def in_four_columns(table: str, short: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans of a table of seven columns where AutoGLM-OS shows the same in a table of four.

    A name and a text share a cell there, and a place is that of the centre. What the four columns leave out has no
    span.

    Args:
        table: The table of seven columns.
        short: The same table with four columns, one line a line.
        spans: The spans of the table of seven columns, each of which is a whole cell or the last two.
    """
    found: list[Span] = []
    kinds = {span.start: span for span in spans}
    starts = zip(_line_starts(table), _line_starts(short), strict=True)
    for (start, line), (start_short, line_short) in starts:
        cells, shown = line.split("\t"), line_short.split("\t")
        name = kinds.get(start + len(cells[0]) + 1)
        text = kinds.get(start + len("\t".join(cells[:2])) + 1)
        place = kinds.get(start + len("\t".join(cells[:-2])) + 1)
        cell = start_short + len(shown[0]) + 1
        both = len(shown) > 1 and shown[1] != cells[1] and shown[1].startswith(f"{cells[1]} (")
        parts = [(name, cell, cell + len(cells[1]))] if name and cells[1] and shown[1].startswith(cells[1]) else []
        if text and (both or not parts):
            # A text stands in brackets behind the name, or alone.
            parts.append((text, cell + (len(cells[1]) + 2 if both else 0), cell + len(shown[1]) - both))
        if place:
            parts.append((place, start_short + len("\t".join(shown[:-2])) + 1, start_short + len(line_short)))
        found += [Span(first, last, span.kind) for span, first, last in parts if span and first < last]
    return tuple(found)


def _line_starts(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


class SpanTracker:
    """What the task stated, and what was shown and typed since."""

    def __init__(self, initial_state: DesktopState) -> None:
        self._stated = "\n".join(
            [*initial_state.files, *(file.content for file in initial_state.files.values()), *initial_state.folders]
        )
        self._titles: frozenset[str] = frozenset()
        self._last = ""

    def copy(self) -> SpanTracker:
        """Return an exact copy."""
        twin = object.__new__(SpanTracker)
        twin._stated, twin._titles, twin._last = self._stated, self._titles, self._last
        return twin

    def fields(self) -> dict[str, Any]:
        """Return all that the tracker is, as plain JSON data."""
        return {"stated": self._stated, "titles": sorted(self._titles), "last": self._last}

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> SpanTracker:
        """Return the tracker of these fields, the inverse of `fields`."""
        tracker = object.__new__(cls)
        tracker._stated, tracker._titles, tracker._last = fields["stated"], frozenset(fields["titles"]), fields["last"]
        return tracker

    def see(self, observation: str, source: str) -> None:
        """Note a table that was shown, and the code that came in answer."""
        self._last = observation
        self._titles = self._titles.union(_TITLE.findall(observation))
        if len(self._stated) < MAX_STATED:
            self._stated += "\n" + source[:1_000]

    def spans(self, observation: str) -> tuple[Span, ...]:
        """Return the pieces of a table that are not deterministic."""
        return tuple(self._spans(observation))

    def _spans(self, observation: str) -> Iterator[Span]:
        fresh = False
        for row in _ROW.finditer(observation):
            role, name, text = row["role"], row["name"], row["text"]
            if role == "label" and _CLOCK.fullmatch(name):
                yield Span(*row.span("name"), "metadata")
                yield Span(*row.span("text"), "metadata")
                continue
            if role in ("frame", "dialog"):
                # At the start everything is as the task stated it.
                fresh = bool(self._last) and name.removeprefix("*") not in self._titles
            shown = f"\n{role}\t{name}\t" in self._last
            if name and fresh and not shown and name not in self._stated:
                yield Span(*row.span("name"), "pre-existing")
            if text not in ('""', name) and not shown and (fresh or role in _CONTENTS) and not self._is_known(text):
                yield Span(*row.span("text"), "pre-existing")
            if fresh and not shown:
                yield Span(*row.span("place"), "metadata")

    def _is_known(self, text: str) -> bool:
        """Return whether a text was stated, typed, or shown just before."""
        plain = text[1:-1].replace('""', '"') if text.startswith('"') else text
        return f"\t{text}\t" in self._last or all(line in self._stated for line in plain.split("\\n"))
