"""Recorded sessions as tokens, and batches of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.contracts import Message
from agentworld_gym.errors import SpecError
from agentworld_gym.recipe.rows import Row
from agentworld_gym.recipe.tokenizer import END, PAD

if TYPE_CHECKING:
    from tokenizers import Tokenizer

POOL = 1024
"""Sessions that are sorted by length together, so that a batch pads little."""

MULTIPLE = 32
_ENCODED_AT_ONCE = 512


def render(messages: Sequence[Message]) -> str:
    """The text that the chat template makes of messages.

    >>> render([{"role": "user", "content": "ls"}, {"role": "assistant", "content": "a.txt"}])
    '<|user|>ls<|assistant|>a.txt<|end|>'
    """
    return "".join(
        f"<|{message['role']}|>{message['content']}{END if message['role'] == 'assistant' else ''}"
        for message in messages
    )


@dataclass(frozen=True)
class TokenSet:
    """Sessions one after the other: `ids`, which of them are `observed`, and where each session starts.

    An observation is what follows the token that opens the assistant's role, with the token that ends it.
    """

    ids: NDArray[np.uint16]
    observed: NDArray[np.bool_]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """The tokens of one session, and which of them are observed."""
        span = slice(self.starts[index], self.starts[index + 1])
        return self.ids[span], self.observed[span]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each session has."""
        return np.diff(self.starts)


def encode(rows: Iterable[Row], tokenizer: Tokenizer) -> TokenSet:
    """The tokens of sessions, in order.

    Raises:
        SpecError: the prompts end with a closing request, which a model trained on whole sessions would never see.
    """
    ids: list[NDArray[np.uint16]] = []
    rest = iter(rows)
    while some := list(islice(rest, _ENCODED_AT_ONCE)):
        for row in some:
            if row.closing:
                raise SpecError(row.id, "prompt", row.closing, "no closing request; record with --profile compact")
        texts = [render(row.messages()) for row in some]
        ids += [np.array(item.ids, dtype=np.uint16) for item in tokenizer.encode_batch(texts)]
    flat = np.concatenate(ids) if ids else np.zeros(0, dtype=np.uint16)
    starts = np.concatenate([[0], np.cumsum([len(item) for item in ids])]).astype(np.int64)
    opened = (flat == tokenizer.token_to_id("<|assistant|>")).cumsum()
    ended = (flat == tokenizer.token_to_id(END)).cumsum()
    begins = np.concatenate([[0], opened[:-1]]) if len(flat) else opened
    before = np.concatenate([[0], ended[:-1]]) if len(flat) else ended
    return TokenSet(flat, begins > before, starts)


@dataclass(frozen=True)
class Batch:
    """Some sessions, padded on the right to one length. `weights` are those of the loss on each token."""

    ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    observed: NDArray[np.bool_]


class Batches:
    """Endless batches over shuffled sessions; each batch holds sessions of like length and about `tokens` tokens.

    The order is a function of the seed and of the calls made, and `state()` resumes it exactly.

    Args:
        data: the sessions.
        seed: of the order.
        tokens: how many tokens a batch holds at most, padding included.
        longest: longer sessions are left out.
        short: sessions up to this length make up the batches asked for with `short=True`.
        context_weight: weight of the loss on tokens that are not observed.
        pad: the token that fills rows up.
    """

    def __init__(
        self, data: TokenSet, *, seed: int, tokens: int, longest: int, short: int, context_weight: float, pad: int
    ) -> None:
        self._data, self._seed, self._tokens, self._pad = data, seed, tokens, pad
        self._longest, self._short, self._context_weight = min(longest, tokens), short, context_weight
        self._lengths = data.lengths
        for limit, name in ((self._longest, "longest"), (short, "short")):
            if not (self._lengths <= limit).any():
                raise SpecError(
                    "recorded sessions", name, int(self._lengths.min()), f"a session of at most {limit} tokens"
                )
        self._epoch, self._cursor, self._taken, self._pool_short = 0, 0, 0, False
        self._pool: list[NDArray[np.int64]] = []
        self._order = self._shuffled()

    def next(self, short: bool = False) -> Batch:
        """The next batch; a change of `short` takes effect at once."""
        while self._taken >= len(self._pool) or short != self._pool_short:
            if self._pool:
                self._advance()
            self._pool_short = short
            self._pool, self._taken = self._fill(), 0
            if not self._pool:
                self._advance()
        self._taken += 1
        return self._batch(self._pool[self._taken - 1])

    def state(self) -> dict[str, Any]:
        """Where the batches stand."""
        return {"epoch": self._epoch, "cursor": self._cursor, "taken": self._taken, "short": self._pool_short}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._epoch, self._cursor = state["epoch"], state["cursor"]
        self._taken, self._pool_short = state["taken"], state["short"]
        self._order = self._shuffled()
        self._pool = self._fill() if self._taken else []

    def _shuffled(self) -> NDArray[np.int64]:
        return np.random.default_rng((self._seed, self._epoch)).permutation(len(self._data))

    def _advance(self) -> None:
        self._cursor += POOL
        if self._cursor >= len(self._order):
            self._epoch, self._cursor = self._epoch + 1, 0
            self._order = self._shuffled()

    def _fill(self) -> list[NDArray[np.int64]]:
        """The batches of the current pool, shuffled; a remnant that would make a small batch is left out.

        Longest first, so that the remnant is one of short sessions, of which there are many.
        """
        chosen = self._order[self._cursor : self._cursor + POOL]
        limit = min(self._short, self._longest) if self._pool_short else self._longest
        chosen = chosen[self._lengths[chosen] <= limit]
        chosen = chosen[np.argsort(-self._lengths[chosen], kind="stable")]
        found: list[NDArray[np.int64]] = []
        start = 0
        while start < len(chosen):
            stop = start + max(1, self._tokens // self._width(chosen[start]))
            if stop <= len(chosen) or not found:
                found.append(chosen[start:stop])
            start = stop
        shuffled = np.random.default_rng((self._seed, self._epoch, self._cursor)).permutation(len(found))
        return [found[i] for i in shuffled]

    def _width(self, index: Any) -> int:
        return -(-int(self._lengths[index]) // MULTIPLE) * MULTIPLE

    def _batch(self, chosen: NDArray[np.int64]) -> Batch:
        shape = (len(chosen), max(self._width(index) for index in chosen))
        ids = np.full(shape, self._pad, dtype=np.int64)
        weights = np.zeros(shape, dtype=np.float32)
        observed = np.zeros(shape, dtype=np.bool_)
        for row, index in enumerate(chosen):
            tokens, mask = self._data[int(index)]
            ids[row, : len(tokens)] = tokens
            observed[row, : len(tokens)] = mask
            weights[row, : len(tokens)] = np.where(mask, 1.0, self._context_weight)
        return Batch(ids, weights, observed)


def pad_id(tokenizer: Tokenizer) -> int:
    """The token that fills rows up."""
    found: Any = tokenizer.token_to_id(PAD)
    return int(found)
