"""Constrained decoding: a request says what its completion may be, and the decoder asks at every token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.core.contracts import PIECE, Allows

MOST = 4096
"""How many tokens are tried in one completion instead of those that are not permitted, at each place the likeliest
first. Then it goes on without its constraint: a model that hardly knows what to write would take minutes."""


class TokenConstraint:
    """Tells which token may follow on what was written.

    Args:
        allows: The function that tells of a text whether a completion may begin with it, or be it.
        tokenizer: The tokenizer.
        ends: The tokens that end a completion.
    """

    def __init__(self, allows: Allows, tokenizer: Any, ends: frozenset[int]) -> None:
        self._allows, self._tokenizer, self._ends = allows, tokenizer, ends
        self._read, self._text, self._last = 0, "", ""

    def permits(self, written: Sequence[int], token: int) -> bool:
        """Whether a token may follow on the written ones, which have only grown since the last call."""
        if len(written) != self._read:
            self._read, self._text = len(written), self._tokenizer.decode(written)
            self._last = self._tokenizer.decode(written[-1:])
        if token in self._ends:
            return self._allows(self._text, True)
        if self._text.endswith(PIECE):
            return self._allows(self._tokenizer.decode([*written, token]), False)
        # Some tokenizers drop the blank before the first token that they decode, so that the last one goes with it.
        return self._allows(self._text + self._tokenizer.decode([*written[-1:], token])[len(self._last) :], False)
