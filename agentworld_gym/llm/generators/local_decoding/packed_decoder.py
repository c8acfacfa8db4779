"""The decoder in which every row goes at its own pace: prompts are read once, and guesses are checked in one pass."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentworld_gym.llm.generators.local_decoding.decoding import DecodingRow, TokenChooser
from agentworld_gym.llm.generators.local_decoding.drafts import LONGEST, SHORTEST, Drafts, as_text
from agentworld_gym.llm.generators.local_decoding.packed_model import PackedModel
from agentworld_gym.llm.generators.local_decoding.prefixes import PrefixCache

_CHUNK = 256
"""The number of tokens of its prompt that a row reads in one pass at most."""

_BATCH_BYTES, _SPARE_BYTES = 4 << 30, 1 << 30
"""The memory for keys and values of rows that are decoded together, and how much of it is kept between waves."""

_ROOM = 64
_FIRST_DRAFT, _LEAST_DRAFT, _LONGEST_DRAFT = 4, 2, 16


@dataclass(slots=True)
class _Seat:
    """A row in a batch.

    Guesses grow where they come true. Where one is all wrong, the next must rest on more tokens, because any two tokens
    occur somewhere in a long prompt.
    """

    row: DecodingRow
    """The row."""

    text: str
    """The prompt and what was written, one character a token."""

    tokens_read: int
    """The number of tokens whose keys and values the cache holds."""

    draft: int = _FIRST_DRAFT
    """The number of tokens that the next guess has at most."""

    least: int = SHORTEST
    """The number of last tokens that the next guess must rest on."""


class PackedDecoder:
    """Writes rows, each at its own pace; what was read stays in a prefix cache for later requests.

    Args:
        model: The packed model.
        tokenizer: The tokenizer, which is needed for stop strings.
        ends: The tokens that end an answer.
        confidence: Whether log-probabilities are computed.
        lock: The lock that is held during each pass.
        cache_tokens: The number of tokens that the prefix cache holds.
        lookup: Whether to guess ahead by copying.
    """

    def __init__(
        self,
        model: PackedModel,
        tokenizer: Any,
        ends: frozenset[int],
        confidence: bool,
        lock: threading.Lock,
        *,
        cache_tokens: int,
        lookup: bool,
    ) -> None:
        self._model, self._tokenizer, self._ends = model, tokenizer, ends
        self._confidence, self._lock = confidence, lock
        self._prefixes = PrefixCache(cache_tokens)
        self._drafts = Drafts() if lookup else None
        self._spare: Any = None

    @property
    def cached_tokens(self) -> int:
        """The number of tokens that the prefix cache holds at this moment."""
        return self._prefixes.tokens

    def fits(self, rows: int, longest: int) -> bool:
        """Return whether a number of rows of some length in tokens may be decoded together."""
        return rows * (longest + _ROOM) * self._model.token_bytes <= _BATCH_BYTES

    def decode(self, rows: list[DecodingRow]) -> Iterator[DecodingRow]:
        """Write all rows; each is yielded when it ends."""
        import torch

        with self._lock, torch.inference_mode():
            seats, held = self._open(rows)
        while seats:
            # The lock and inference mode end before each yield: the consumer runs its own code there.
            with self._lock, torch.inference_mode():
                held = self._write(seats, held)
                ended = self._leave(seats, held)
            yield from ended
        self._keep(held)

    def _space(self, rows: int, width: int) -> Any:
        """Return a cache of at least some rows and tokens: that of an earlier wave, if it is large enough.

        Memory that is touched for the first time is slow, so that one which can be kept has room for longer histories.
        """
        spare, self._spare = self._spare, None
        if spare is not None and spare.shape[0] >= rows and spare.shape[3] >= width:
            return spare
        wide = width + width // 2
        lasts = rows * wide * self._model.token_bytes <= _SPARE_BYTES
        return self._model.cache(rows, wide if lasts else width + width // 8)

    def _keep(self, held: Any) -> None:
        """Keep a cache for later waves: the largest that may be kept."""
        largest = self._spare is None or self._spare.numel() < held.numel()
        if largest and held.numel() * held.itemsize <= _SPARE_BYTES:
            self._spare = held

    def _open(self, rows: Sequence[DecodingRow]) -> tuple[list[_Seat], Any]:
        """Seat the rows and read their prompts, except for what is in the prefix cache and the last token of each."""
        seats, cached = [], {}
        for row in rows:
            text = as_text(row.prompt)
            pieces = self._prefixes.find(text[:-1])
            row.cached = sum(piece.shape[2] for piece in pieces)
            cached[row.index] = pieces
            seats.append(_Seat(row, text, row.cached))
        held = self._space(len(seats), max(len(seat.text) for seat in seats) + _ROOM)
        for place, seat in enumerate(seats):
            at = 0
            for piece in cached[seat.row.index]:
                held[place, :, :, at : at + piece.shape[2]] = piece
                at += piece.shape[2]
        self._prefill(seats, held)
        return seats, held

    def _prefill(self, seats: Sequence[_Seat], held: Any) -> None:
        affordable = self._model.affordable(held.shape[3])
        while any(seat.tokens_read < len(seat.text) - 1 for seat in seats):
            some, left = [], affordable
            for seat in seats:
                some.append(
                    seat.row.prompt[seat.tokens_read : min(seat.tokens_read + min(left, _CHUNK), len(seat.text) - 1)]
                )
                left -= len(some[-1])
            self._model.read(held[: len(seats)], some, [seat.tokens_read for seat in seats], logits=False)
            for seat, tokens in zip(seats, some, strict=True):
                seat.tokens_read += len(tokens)

    def _write(self, seats: Sequence[_Seat], held: Any) -> Any:
        """Do one pass: each row reads its last token and a guess, and keeps what it would have written itself."""
        guesses = [self._guess(seat) for seat in seats]
        longest = max(map(len, guesses))
        width = max(seat.tokens_read for seat in seats) + longest + 1
        if width > held.shape[3]:
            grown = self._model.cache(len(seats), width + width // 4 + _ROOM)
            grown[:, :, :, : held.shape[3]] = held[: len(seats)]
            self._keep(held)
            held = grown
        tokens = [[ord(seat.text[-1]), *guess] for seat, guess in zip(seats, guesses, strict=True)]
        if self._model.prefers_even:
            tokens = [row + [0] * (longest + 1 - len(row)) for row in tokens]
        logits = self._model.read(held[: len(seats)], tokens, [seat.tokens_read for seat in seats])
        chooser, at = TokenChooser(logits, self._confidence), 0
        for seat, guess, given in zip(seats, guesses, tokens, strict=True):
            kept = 0
            while True:
                token = chooser.choose(seat.row, at + kept)
                seat.row.take(token, self._tokenizer, self._ends)
                seat.text += chr(token)
                if seat.row.finish or kept == len(guess) or guess[kept] != token:
                    break
                kept += 1
            seat.tokens_read += kept + 1
            if guess:
                grown_draft = min(2 * seat.draft, _LONGEST_DRAFT)
                seat.draft = grown_draft if kept == len(guess) else max(_LEAST_DRAFT, kept + 1)
                seat.least = SHORTEST if kept else min(2 * seat.least, LONGEST)
            at += len(given)
        chooser.settle()
        return held

    def _guess(self, seat: _Seat) -> list[int]:
        if self._drafts is None:
            return []
        room = seat.row.limit - len(seat.row.written) - 1
        return self._drafts.guess(seat.text, min(seat.draft, room), seat.least)

    def _leave(self, seats: list[_Seat], held: Any) -> list[DecodingRow]:
        """Take out the rows that ended, and cache what they read; the last row moves into the gap."""
        ended = []
        for place in reversed(range(len(seats))):
            seat = seats[place]
            if not seat.row.finish:
                continue
            self._prefixes.add(seat.text[: seat.tokens_read], partial(_copy, held[place]))
            if self._drafts is not None:
                self._drafts.remember(seat.text[seat.row.cached :])
            mover = seats.pop()
            if place < len(seats):
                seats[place] = mover
                held[place, :, :, : mover.tokens_read] = held[len(seats), :, :, : mover.tokens_read]
            ended.append(seat.row)
        return ended[::-1]


def _copy(held: Any, start: int, stop: int) -> Any:
    return held[:, :, start:stop].clone()
