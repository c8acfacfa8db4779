"""The result of a run of a benchmark."""

from __future__ import annotations

from typing import Any, Literal

from agentworld_gym.documents.strict import Strict
from agentworld_gym.evaluation.results.base import Result
from agentworld_gym.statistics.bootstrap import Share


class Party(Strict):
    """A model that took part: the one that predicted, or the judge.

    `handle` is what the user named it by; `digest` and `parts` are its fingerprint (part → value, and whether it was
    verified or only declared); `sampling` is how it was asked.
    """

    handle: str
    digest: str
    parts: dict[str, dict[str, str | bool]]
    sampling: dict[str, Any]


class Averages(Strict):
    """One mean in two ways: without the rows that failed, and with these as zero.

    Without is None where every row failed. A row fails where the model or the judge gave nothing that can be used.
    `domains` counts those that `excluded` holds: a domain whose rows all failed is in `as_zero` alone.
    """

    excluded: Share | None
    as_zero: Share
    domains: int = 1


class Judged(Strict):
    """The judge's scores, 0 to 100: (raw - 1) / 4 * 100 of the mean over a row's dimensions.

    `micro` is the mean over all rows, `macro` the mean of the domains' means; `dimensions` holds both, and the mean by
    domain, of each dimension over the rows where it was scored. `failures` counts the failed rows by stage and kind
    (`prediction/timeout`, `judge/malformed`).
    """

    micro: Averages
    macro: Averages
    domains: dict[str, Averages]
    dimensions: dict[str, dict[str, Share]]
    failures: dict[str, int]


class Measured(Strict):
    """What the comparison with the truth finds without a judge, 0 to 1.

    `measures` are `valid`, `exact`, `normalised`, `deterministic`, `similarity` and, where screens are due, `tree`
    (see `agentworld_gym.matching.Match`); `kinds` the share of rows that are right where they hold content of a kind.
    """

    measures: dict[str, Averages]
    kinds: dict[str, Averages]


class Matched(Strict):
    """The judge-free track: over all rows (`micro`), as the mean of the domains (`macro`), and by domain."""

    micro: Measured
    macro: Measured
    domains: dict[str, Measured]


class Tokens(Strict):
    """Tokens that one party took, and their price in dollars where prices were given."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    price: float | None = None


class Rows(Strict):
    """What was evaluated: the files, which turns of each row, and how many there were.

    `empty` counts completions without an observation, which stand as "No output"; `cut` those that reached the limit of
    tokens; both were judged like any other. `failures` counts predictions that never came, by kind. `rendered` counts
    recorded rows that were rendered anew in the prompts of a bundled model.
    """

    files: list[str]
    turns: str
    count: int
    domains: dict[str, int]
    digest: str
    rendered: int = 0
    empty: int = 0
    cut: int = 0
    failures: dict[str, int]


class BenchResult(Result):
    """The result of one run, `result.json` in its folder. Without a judge, `judge` and `judged` are None."""

    kind: Literal["bench"] = "bench"
    model: Party
    judge: Party | None
    rows: Rows
    judged: Judged | None
    matched: Matched
    tokens: dict[Literal["model", "judge"], Tokens]
