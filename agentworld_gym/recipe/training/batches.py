"""Batches of samples, either of like length and padded a little, or with several samples packed into each row."""

from __future__ import annotations

import logging
from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.recipe.data.token_store import TokenStore
from agentworld_gym.recipe.training.flops import attention_pairs

logger = logging.getLogger(__name__)

Packing = Literal["sorted", "packed"]

POOL, BATCHES = 1024, 16
"""The least number of samples, and the least number of batches' worth of samples, that are put together at a time."""

TRIES = 8
"""The number of ways to end a pool that are tried; the one with the fullest last batch is taken."""

MULTIPLE = 8
"""The number whose multiples are the widths of rows, so that few widths occur."""


@dataclass(frozen=True)
class Batch:
    """Some rows of one width, as arrays of the shape (rows, width)."""

    ids: NDArray[np.int64]
    """The tokens."""

    positions: NDArray[np.int64]
    """The positions, which count from 0 and start again where a packed sample begins. Attention that follows them does
    not reach across samples."""

    weights: NDArray[np.float32]
    """The weight of each token as a target: 0 for padding and for the first token of each sample."""

    observed: NDArray[np.bool_]
    """Whether a token is part of an answer."""


class Batches:
    """Endless batches over shuffled samples, each of about `tokens` tokens.

    The order is a function of the seed and of the calls made; `state()` resumes it exactly. All processes draw the same
    batches of `processes * tokens` tokens and take every n-th row of them, so that together they see what one process
    of that many tokens sees. Where the rows cannot be shared equally, some processes get one more, and so may hold up
    to twice `tokens`. A process without a row gets one of padding, of weight 0.

    Samples are put together pool by pool. The samples that would make a small batch at a pool's end wait for the next
    pool, so that every sample comes up once an epoch.

    Args:
        store: The samples.
        seed: The seed of the order.
        tokens: The most tokens of a batch for each process, padding included.
        longest: The length above which samples are left out; it counts as `tokens` where it is more.
        short: The length up to which samples make up the batches asked for with `short=True`.
        packing: The way samples share a batch: `sorted` puts samples of like length together; `packed` first fills rows
            with several whole samples, one after the other, up to the tokens that the longest may have.
        pad: The token that fills rows up.
        rank: The rank of this process.
        processes: The number of processes.

    Raises:
        SpecError: Every sample is longer than `longest`.
    """

    def __init__(
        self,
        store: TokenStore,
        *,
        seed: int,
        tokens: int,
        longest: int,
        short: int,
        packing: Packing = "sorted",
        pad: int,
        rank: int = 0,
        processes: int = 1,
    ) -> None:
        self._store, self._seed, self._tokens, self._pad = store, seed, tokens * processes, pad
        self._longest, self._short, self._packing = min(longest, self._tokens), short, packing
        self._rank, self._processes = rank, processes
        self._lengths = store.lengths
        self._must_fit(self._longest, "longest")
        self._pool_size = max(POOL, int(BATCHES * self._tokens / self._lengths.mean()))
        self._epoch, self._cursor, self._taken, self._pool_short = 0, 0, 0, False
        self._carried: list[int] = []
        self._over: list[int] = []
        self._pool: list[list[list[int]]] = []
        self._cells, self._padded, self._pairs = 0, 0, 0
        self._order = self._shuffled()

    @property
    def padded(self) -> float:
        """The share of padding in all batches that this process was given so far."""
        return self._padded / self._cells if self._cells else 0.0

    @property
    def short(self) -> bool:
        """Whether the last batch was of short samples alone."""
        return self._pool_short

    def next(self, short: bool = False) -> Batch:
        """Return the next batch; a change of `short` takes effect at once.

        Raises:
            SpecError: Only short samples are asked for, and there is none.
        """
        if short and not self._pool_short:
            self._must_fit(min(self._short, self._longest), "short")
        while self._taken >= len(self._pool) or short != self._pool_short:
            if self._pool:
                self._advance()
            self._pool_short = short
            self._fill()
            if not self._pool:
                self._advance()
        self._taken += 1
        return self._batch(self._pool[self._taken - 1][self._rank :: self._processes])

    def state(self) -> dict[str, Any]:
        """Return the position in the samples, as plain data."""
        return {
            "epoch": self._epoch,
            "cursor": self._cursor,
            "taken": self._taken,
            "short": self._pool_short,
            "carried": list(self._carried),
            "cells": self._cells,
            "padded": self._padded,
            "pairs": self._pairs,
            "tokens": self._tokens,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; that is exact if the batches of all processes together are as large as they were then."""
        if (then := state.get("tokens", self._tokens)) != self._tokens:
            logger.warning(
                "batches of all processes hold %d tokens, before it were %d: samples come in another order, and some "
                "of the current epoch may come twice or not at all",
                self._tokens,
                then,
            )
        self._epoch, self._cursor, self._pool_short = state["epoch"], state["cursor"], state["short"]
        self._carried, self._taken = list(state["carried"]), state["taken"]
        self._cells, self._padded, self._pairs = state["cells"], state["padded"], state.get("pairs", 0)
        self._order, self._pool = self._shuffled(), []
        if self._taken:
            taken = self._taken
            self._fill()
            self._taken = taken

    def _must_fit(self, limit: int, name: str) -> None:
        if not (self._lengths <= limit).any():
            least = int(self._lengths.min()) if len(self._store) else None
            raise SpecError(self._store.folder, name, least, f"a sample of at most {limit} tokens")

    def _shuffled(self) -> NDArray[np.int64]:
        return np.random.default_rng((self._seed, self._epoch)).permutation(len(self._store))

    def _advance(self) -> None:
        self._carried, self._cursor = self._over, self._cursor + self._pool_size
        self._pool, self._taken = [], 0
        if self._cursor >= len(self._order):
            self._epoch, self._cursor = self._epoch + 1, 0
            self._order = self._shuffled()

    def _fill(self) -> None:
        """Make the batches of the current pool, in a shuffled order; a batch is a list of rows, and a row a list of
        samples.
        """
        limit = min(self._short, self._longest) if self._pool_short else self._longest
        chosen = [*self._carried, *self._order[self._cursor : self._cursor + self._pool_size].tolist()]
        fit = [index for index in chosen if self._lengths[index] <= limit]
        batches = self._batched(fit, limit)
        kept = len(fit)
        # Some of the newest samples wait for the next pool if the last batch is fuller without them.
        for part in range(1, TRIES) if len(batches) > 1 else ():
            count = len(fit) - part * len(fit) // (TRIES * len(batches))
            other = self._batched(fit[:count], limit)
            if self._fullness(other[-1]) > self._fullness(batches[-1]):
                batches, kept = other, count
        self._over = [*fit[kept:], *(index for index in self._carried if self._lengths[index] > limit)]
        shuffled = np.random.default_rng((self._seed, self._epoch, self._cursor)).permutation(len(batches))
        self._pool, self._taken = [batches[i] for i in shuffled], 0

    def _by_length(self, index: int) -> int:
        return -int(self._lengths[index])

    def _packed(self, chosen: list[int], limit: int) -> list[list[int]]:
        """Fill rows with several samples each, no more tokens than the longest may have: best fit, longest sample
        first.
        """
        rows: list[list[int]] = []
        rooms: list[tuple[int, int]] = []
        for index in chosen:
            length = int(self._lengths[index])
            place = bisect_left(rooms, (length, 0))
            if place < len(rooms):
                room, row = rooms.pop(place)
            else:
                room, row = limit, len(rows)
                rows.append([])
            rows[row].append(index)
            insort(rooms, (room - length, row))
        return rows

    def _batched(self, chosen: list[int], limit: int) -> list[list[list[int]]]:
        """Make batches of rows of like length, longest first; the last one may be small."""
        chosen = sorted(chosen, key=self._by_length)
        rows = [[index] for index in chosen] if self._packing == "sorted" else self._packed(chosen, limit)
        rows.sort(key=self._filled, reverse=True)
        batches: list[list[list[int]]] = []
        start = 0
        while start < len(rows):
            stop = start + self._tokens // self._width(self._filled(rows[start]))
            batches.append(rows[start:stop])
            start = stop
        return batches

    def _fullness(self, rows: list[list[int]]) -> int:
        return len(rows) * self._width(self._filled(rows[0]))

    def _filled(self, row: list[int]) -> int:
        return sum(int(self._lengths[index]) for index in row)

    def _width(self, length: int) -> int:
        return min(-(-length // MULTIPLE) * MULTIPLE, self._tokens)

    def _batch(self, rows: list[list[int]]) -> Batch:
        filled = [self._filled(row) for row in rows]
        width = self._width(max(filled, default=1))
        shape = (max(len(rows), 1), width)
        ids = np.full(shape, self._pad, dtype=np.int64)
        positions = np.broadcast_to(np.arange(width, dtype=np.int64), shape).copy()
        weights = np.zeros(shape, dtype=np.float32)
        observed = np.zeros(shape, dtype=np.bool_)
        for place, row in enumerate(rows):
            at = 0
            for index in row:
                tokens, weight, mask = self._store[index]
                span = slice(at, at + len(tokens))
                ids[place, span], weights[place, span], observed[place, span] = tokens, weight, mask
                positions[place, span] = np.arange(len(tokens))
                at += len(tokens)
            if self._packing == "packed":
                positions[place, at:] = np.arange(width - at)
        self._cells += ids.size
        self._padded += ids.size - sum(filled)
        self._pairs += attention_pairs(int(self._lengths[index]) for row in rows for index in row)
        return Batch(ids, positions, weights, observed)
