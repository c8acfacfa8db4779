"""Tells which pieces of an answer nobody could have known: made-up identifiers, and rows that no one has seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentworld_gym.core.engines import Kind, Span

# A text, with or without the colon that makes it a key, or a number.
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"(:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?')
_ERROR = '{"status": "error"'


class ValueProvenance:
    """The values that a session has said and shown so far.

    With `explicit` rows the task states all of them, and nothing is pre-existing.
    """

    def __init__(self, explicit: bool, seen: frozenset[str] = frozenset()) -> None:
        self.explicit = explicit
        self._seen = set(seen)

    def copy(self) -> ValueProvenance:
        """Return a copy for a fork."""
        return ValueProvenance(self.explicit, frozenset(self._seen))

    def plain(self) -> list[str] | None:
        """Return the values as plain data; None where the task states all rows."""
        return None if self.explicit else sorted(self._seen)

    @classmethod
    def of(cls, plain: Sequence[str] | None) -> ValueProvenance:
        """Return what `plain` gave back."""
        return cls(plain is None, frozenset(plain or ()))

    def keep(self, text: str) -> None:
        """Note the values of a text that was said or shown."""
        if not self.explicit:
            self._seen.update(text[start:end] for start, end in _scalars(text))

    def spans(self, text: str, made: Sequence[str]) -> tuple[Span, ...]:
        """Return the pieces of an answer that are not deterministic.

        Args:
            text: the answer.
            made: the identifiers that were made up for it.

        >>> provenance = ValueProvenance(explicit=False)
        >>> provenance.keep('{"id": 7}')
        >>> provenance.spans('{"id": 7, "name": "Ana", "link": "ab12"}', ["ab12"])
        (Span(start=18, end=23, kind='pre-existing'), Span(start=34, end=38, kind='metadata'))
        """
        pieces: list[Span] = []
        for token in dict.fromkeys((*made, *map(str.upper, made))):
            if (start := text.find(token)) >= 0:
                pieces.append(Span(start, start + len(token), "metadata"))
        if not self.explicit and not text.startswith(_ERROR):
            kind: Kind = "pre-existing"
            taken = [(span.start, span.end) for span in pieces]
            for start, end in _scalars(text):
                free = all(end <= other or start >= stop for other, stop in taken)
                if free and text[start:end] not in self._seen:
                    pieces.append(Span(start, end, kind))
        return tuple(sorted(pieces))


def _scalars(text: str) -> Iterator[tuple[int, int]]:
    for match in _SCALAR.finditer(text):
        if match.group(1) is None:
            yield match.span()
