"""Statistics of tokens by domain: how many tokens samples have, and how much of them is learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from agentworld_gym.llm.rows.tokenization import TokenizedSample


@dataclass
class TokenStatistics:
    """The statistics of the samples of one domain."""

    lengths: list[int] = field(default_factory=list)
    """The number of tokens of each sample."""

    turns: int = 0
    """The number of turns."""

    observed: int = 0
    """The number of tokens of answers."""

    weight: float = 0.0
    """The sum of all weights in the loss."""

    observed_weight: float = 0.0
    """The sum of the weights of tokens of answers."""

    def add(self, item: TokenizedSample) -> None:
        """Count a sample."""
        self.lengths.append(len(item.ids))
        self.turns += len(item.turns)
        self.observed += int(item.observed.sum())
        self.weight += float(item.weights.sum())
        self.observed_weight += float(item.weights[item.observed].sum())

    @property
    def tokens(self) -> int:
        """The number of all tokens."""
        return sum(self.lengths)

    @property
    def mean_weight(self) -> float:
        """The mean weight of a token of an answer: the share of answers that counts in the loss."""
        return self.observed_weight / self.observed if self.observed else 0.0

    def percentile(self, percent: float) -> int:
        """Return the length below which that share of the samples lies; 0 without samples."""
        return round(float(np.percentile(self.lengths, percent))) if self.lengths else 0


class TokenTable:
    """Statistics by domain, filled sample by sample; `build_store` takes it as `watch`.

    >>> TokenTable().rows()
    []
    """

    COLUMNS = ("domain", "samples", "turns", "tokens", "median", "95 %", "longest", "answers", "kept")
    """The columns: `answers` is the share of answers in all tokens, `kept` the mean weight of a token of an answer."""

    def __init__(self) -> None:
        self.domains: dict[str, TokenStatistics] = {}

    def __call__(self, item: TokenizedSample) -> None:
        """Count a sample."""
        self.domains.setdefault(item.sample.domain, TokenStatistics()).add(item)

    def rows(self) -> list[Sequence[str]]:
        """Return the cells of a table with `COLUMNS`, one row for each domain, sorted by name."""
        return [
            (
                name,
                f"{len(statistics.lengths):,}",
                f"{statistics.turns:,}",
                thousands(statistics.tokens),
                *(thousands(statistics.percentile(percent)) for percent in (50, 95, 100)),
                f"{statistics.observed / max(statistics.tokens, 1):.1%}",
                f"{statistics.mean_weight:.1%}",
            )
            for name, statistics in sorted(self.domains.items())
        ]


def thousands(count: int) -> str:
    """Return a count in few characters.

    >>> thousands(950), thousands(12_345), thousands(1_234_567)
    ('950', '12.3k', '1.2M')
    """
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 999_950 else f"{count / 1e6:.1f}M"
