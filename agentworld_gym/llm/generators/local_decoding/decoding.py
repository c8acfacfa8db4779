"""The rows that are being written, and how the next token of a row is chosen, for every decoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators.local_decoding.constraint import MOST, TokenConstraint


@dataclass(slots=True)
class DecodingRow:
    """One request that is being answered."""

    index: int
    """The index of the request in its wave."""

    prompt: list[int]
    """The tokens of the prompt."""

    sampling: Sampling
    """How tokens are chosen."""

    limit: int
    """The number of tokens that may be written."""

    dice: Any
    """The row's own random number generator of torch."""

    written: list[int] = field(default_factory=list)
    """The tokens that were written."""

    logprob: float = 0.0
    """The sum of the log-probabilities of the written tokens."""

    cached: int = 0
    """The number of tokens of the prompt that came from the prefix cache."""

    text: str | None = None
    """The text that was written, if a stop string ended it."""

    constraint: TokenConstraint | None = None
    """What may be written; None where anything may."""

    refused: int = 0
    """At how many tokens the constraint did not permit what would have been written."""

    tries: int = MOST
    """How many other tokens may still be asked about."""

    finish: str = ""
    """Why the row ended: `stop` or `length`; empty while it is being written."""

    def take(self, token: int, tokenizer: Any, ends: frozenset[int]) -> None:
        """Write one more token; afterwards `finish` says whether it was the last."""
        self.written.append(token)
        if token in ends:
            self.finish = "stop"
            return
        for stop in self.sampling.stop:
            # This tail holds the whole stop string: a token has at least one byte in all but odd vocabularies.
            tail = tokenizer.decode(self.written[-2 * len(stop.encode()) - 4 :])
            if stop in tail:
                whole = tokenizer.decode(self.written, skip_special_tokens=True)
                self.text, self.finish = whole.split(stop, 1)[0], "stop"
                return
        if len(self.written) >= self.limit:
            self.finish = "length"


def draw(logits: Any, sampling: Sampling, dice: Any) -> int:
    """Draw a token from logits over the vocabulary, by temperature, top-k, top-p and the row's own dice."""
    import torch

    scores = logits / sampling.temperature
    if 0 < sampling.top_k < scores.shape[-1]:
        scores = scores.masked_fill(scores < scores.topk(sampling.top_k).values[-1], -torch.inf)
    chances = scores.softmax(-1)
    if sampling.top_p is not None and sampling.top_p < 1:
        ordered, order = chances.sort(descending=True)
        ordered[ordered.cumsum(-1) - ordered >= sampling.top_p] = 0
        chances = torch.zeros_like(chances).scatter(0, order, ordered)
    return int(torch.multinomial(chances, 1, generator=dice))


class TokenChooser:
    """Chooses tokens from the logits of one pass: the likeliest one where a row is greedy, and else a drawn one.

    Args:
        logits: The logits, `[positions, vocabulary]`.
        confidence: Whether log-probabilities are computed.

    Raises:
        RuntimeError: A logit is not a number, as with broken weights or a number format that is too small.
    """

    def __init__(self, logits: Any, confidence: bool) -> None:
        self._logits = logits.float()
        if self._logits.isnan().any():
            raise RuntimeError("its logits are not numbers (NaN)")
        self._greedy: list[int] = self._logits.argmax(-1).tolist()
        self._confidence = confidence
        self._chosen: list[tuple[DecodingRow, int, int]] = []

    def choose(self, row: DecodingRow, position: int) -> int:
        """Return the row's next token, chosen from the logits at a position."""
        greedy = row.sampling.temperature <= 0
        token = self._greedy[position] if greedy else draw(self._logits[position], row.sampling, row.dice)
        if row.constraint is not None and not row.constraint.permits(row.written, token):
            token = self._permitted(row, row.constraint, position, token)
        self._chosen.append((row, position, token))
        return token

    def _permitted(self, row: DecodingRow, constraint: TokenConstraint, position: int, first: int) -> int:
        """Return the token instead of one that is not permitted: the first that is, in a draw without replacement.

        Where none is found in the tries that are left, the row goes on without its constraint, and its answer cannot be
        read.
        """
        import torch

        scores = self._logits[position]
        if row.sampling.temperature > 0:
            noise = torch.empty_like(scores).exponential_(generator=row.dice).log()
            scores = scores / row.sampling.temperature - noise
        row.refused += 1
        for token in scores.topk(min(row.tries, len(scores))).indices.tolist():
            if token == first:
                continue
            row.tries -= 1
            if constraint.permits(row.written, token):
                return int(token)
        row.constraint = None
        return first

    def settle(self) -> None:
        """Add the log-probabilities of all chosen tokens to their rows."""
        import torch

        if not self._confidence or not self._chosen:
            return
        rows, positions, tokens = zip(*self._chosen, strict=True)
        logits = self._logits
        at = torch.tensor(positions, device=logits.device)
        chosen = logits[at, torch.tensor(tokens, device=logits.device)]
        for row, value in zip(rows, (chosen - logits.logsumexp(-1)[at]).tolist(), strict=True):
            row.logprob += value
