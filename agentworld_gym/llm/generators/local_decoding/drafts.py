"""Guesses of what comes next, copied from what was read and written before.

A world model copies a lot: prompts, names, listings. If the last few tokens occurred before, what followed them then is
a good guess of what follows them here. The model reads the whole guess in one pass and keeps as much of it as it would
have written itself (prompt-lookup decoding). A wrong guess costs time and changes nothing.

Tokens are held as characters of a string, one each, because strings are searched fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SUFFIXES = (8, 4, 3, 2)
LONGEST, SHORTEST = _SUFFIXES[0], _SUFFIXES[-1]
"""The number of last tokens, at most and at least, that must have occurred before for a guess to be made."""

_ELSEWHERE = 3
"""The shortest suffix that is looked for in other rows' texts."""


def as_text(tokens: Iterable[int]) -> str:
    """Return tokens as a string of one character each.

    >>> as_text([72, 105])
    'Hi'
    """
    return "".join(map(chr, tokens))


class Drafts:
    """Makes guesses from a row's own text, or else from what other rows wrote lately.

    >>> drafts = Drafts()
    >>> drafts.guess(as_text([5, 6, 7, 8, 9, 5, 6]), 2)
    [7, 8]
    >>> drafts.remember(as_text([1, 2, 3, 4]))
    >>> drafts.guess(as_text([1, 2, 3]), 2)
    [4]

    Args:
        limit: The number of tokens of other rows that are remembered.
    """

    def __init__(self, limit: int = 16_384) -> None:
        self._limit = limit
        self._seen = ""

    def guess(self, text: str, count: int, least: int = SHORTEST) -> list[int]:
        """Return tokens that may follow a text; there are none if its last tokens never occurred before.

        Args:
            text: The text, one character a token.
            count: The number of tokens to guess at most.
            least: The number of last tokens that must have occurred before at least.
        """
        if count < 1:
            return []
        lengths = [length for length in _SUFFIXES if length >= least]
        for length in lengths:
            if length >= len(text):
                continue
            suffix = text[-length:]
            at = text.rfind(suffix, 0, len(text) - 1)
            if at >= 0:
                return _tokens(text[at + length : at + length + count])
        for length in lengths:
            if length < _ELSEWHERE or length > len(text):
                continue
            at = self._seen.rfind(text[-length:])
            if at >= 0:
                return _tokens(self._seen[at + length : at + length + count])
        return []

    def remember(self, text: str) -> None:
        """Learn from a text that is complete."""
        self._seen = (self._seen + text)[-self._limit :]


def _tokens(text: Sequence[str]) -> list[int]:
    return [ord(character) for character in text]
