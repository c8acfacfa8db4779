"""The result of a run of a benchmark."""

from __future__ import annotations

from typing import Any, Literal

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.statistics.bootstrap import Share
from agentworld_gym.evaluation.results.base import EvaluationResult


class Party(Strict):
    """A model that took part: the one that predicted, or the judge."""

    handle: str
    """What the user named the model by."""

    digest: str
    """The digest of its fingerprint."""

    parts: dict[str, dict[str, str | bool]]
    """The parts of its fingerprint: the value of each, and whether it was verified or only declared."""

    sampling: dict[str, Any]
    """How it was asked to sample."""


class Averages(Strict):
    """One mean in two ways: without the rows that failed, and with these as zero.

    A row fails where the model or the judge gave nothing that can be used.
    """

    excluded: Share | None
    """The mean without the rows that failed; None where every row failed."""

    as_zero: Share
    """The mean with the failed rows as zero."""

    domains: int = 1
    """The number of domains in `excluded`; a domain whose rows all failed is in `as_zero` alone."""


class Judged(Strict):
    """The judge's scores, 0 to 100: (raw - 1) / 4 * 100 of the mean over a row's dimensions."""

    micro: Averages
    """The mean over all rows."""

    macro: Averages
    """The mean of the domains' means."""

    domains: dict[str, Averages]
    """The mean of each domain."""

    dimensions: dict[str, dict[str, Share]]
    """The mean of each dimension over the rows where it was scored: over all rows, over the domains' means, and by
    domain."""

    failures: dict[str, int]
    """The number of failed rows by stage and kind, such as `prediction/timeout` or `judge/malformed`."""


class Measured(Strict):
    """What the comparison with the truth finds without a judge, 0 to 1."""

    measures: dict[str, Averages]
    """The means of `valid`, `exact`, `normalised`, `deterministic`, `similarity` and, where screens are due, `tree`
    (see `agentworld_gym.kit.matching.MatchResult`)."""

    kinds: dict[str, Averages]
    """The share of rows that are right where they hold content of a kind."""


class Matched(Strict):
    """The track without a judge."""

    micro: Measured
    """The means over all rows."""

    macro: Measured
    """The means of the domains' means."""

    domains: dict[str, Measured]
    """The means of each domain."""


class PartyTokens(Strict):
    """The tokens that one party took; None where its server does not tell."""

    prompt: int | None = 0
    """The tokens of its prompts."""

    completion: int | None = 0
    """The tokens of its completions."""

    cached: int | None = 0
    """The tokens of its prompts that came from a cache."""

    price: float | None = None
    """The price in dollars, where prices were given and the tokens are known."""

    @property
    def total(self) -> int | None:
        """The tokens of prompts and completions."""
        return None if self.prompt is None or self.completion is None else self.prompt + self.completion


class EvaluatedRows(Strict):
    """The rows that were evaluated."""

    files: list[str]
    """The files that hold the rows."""

    turns: str
    """Which turns of each row were evaluated."""

    count: int
    """The number of rows."""

    domains: dict[str, int]
    """The number of rows by domain."""

    digest: str
    """The digest of the rows."""

    rendered: int = 0
    """The number of recorded rows that were rendered anew in the prompts of a bundled model."""

    empty: int = 0
    """The number of completions without an observation, which stand as "No output" and were judged like any other."""

    cut: int = 0
    """The number of completions that reached the limit of tokens, and were judged like any other."""

    failures: dict[str, int]
    """The number of predictions that never came, by kind."""


class BenchResult(EvaluationResult):
    """The result of one run, `result.json` in its folder. Without a judge, `judge` and `judged` are None."""

    kind: Literal["bench"] = "bench"
    model: Party
    judge: Party | None
    rows: EvaluatedRows
    judged: Judged | None
    matched: Matched
    tokens: dict[Literal["model", "judge"], PartyTokens]
