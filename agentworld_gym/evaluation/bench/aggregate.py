"""Aggregates records into a result: means by domain and over all, without the failed rows and with these as zero."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agentworld_gym.base.fingerprint import installed
from agentworld_gym.base.statistics.bootstrap import Share, mean_interval
from agentworld_gym.core.contracts import Usage
from agentworld_gym.evaluation.bench.records import AnswerRecord, Records
from agentworld_gym.evaluation.results.bench import (
    Averages,
    BenchResult,
    EvaluatedRows,
    Judged,
    Matched,
    Measured,
    Party,
    PartyTokens,
)
from agentworld_gym.kit.matching import MatchResult, match
from agentworld_gym.llm.judging.bench_rows import BenchRow, BenchRows
from agentworld_gym.llm.prompting.parsing import DIMENSIONS, NO_OUTPUT

MICRO, MACRO = "micro", "macro"
SCORED = 100.0
"""The greatest score that is shown."""


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """The prices of tokens in dollars.

    >>> TokenPrices(prompt=0.5, completion=2.0).of(Usage(2_000_000, 500_000))
    2.0
    """

    prompt: float
    """The price of a million tokens of prompts."""

    completion: float
    """The price of a million tokens of completions."""

    def of(self, usage: Usage) -> float:
        """Return the price of some tokens; tokens from a cache count in full."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


@dataclass
class MeasureColumn:
    """The values of one measure in one domain, each with its session."""

    values: list[float | None] = field(default_factory=list)
    """The value of each row; None where the row failed."""

    sessions: list[Hashable] = field(default_factory=list)
    """The session of each row."""

    def add(self, value: float | None, session: Hashable) -> None:
        """Add the value of a row."""
        self.values.append(value)
        self.sessions.append(session)

    def whole(self) -> tuple[list[float], list[Hashable]]:
        """Return values and sessions, with failed rows as zero."""
        return [value or 0.0 for value in self.values], self.sessions

    def successful_values(self) -> tuple[list[float], list[Hashable]]:
        """Return values and sessions of the rows that did not fail."""
        pairs = [(v, s) for v, s in zip(self.values, self.sessions, strict=True) if v is not None]
        return [value for value, _ in pairs], [session for _, session in pairs]


@dataclass
class MeasureTable:
    """The columns of one measure by domain."""

    greatest: float = 1.0
    """The greatest value that the measure can have."""

    columns: dict[str, MeasureColumn] = field(default_factory=lambda: defaultdict(MeasureColumn))
    """The column of each domain."""

    def add(self, row: BenchRow, value: float | None) -> None:
        """Add the value of one row."""
        self.columns[row.domain].add(value, row.session)

    def micro(self) -> Averages:
        """Return the mean over all rows."""
        return averages(list(self.columns.values()), self.greatest, together=True)

    def macro(self) -> Averages:
        """Return the mean of the domains' means."""
        return averages(list(self.columns.values()), self.greatest)

    def domain(self, name: str) -> Averages:
        """Return the mean over the rows of one domain."""
        return averages([self.columns[name]], self.greatest)


def averages(columns: list[MeasureColumn], greatest: float = 1.0, together: bool = False) -> Averages:
    """Return the mean of the columns' means, without failed rows and with these as zero.

    Args:
        columns: The column of each domain.
        greatest: The greatest value that the measure can have.
        together: Whether to take the mean over all rows instead.

    >>> found = averages([MeasureColumn([1.0, None, 0.5], ["a", "a", "b"]), MeasureColumn([None], ["c"])])
    >>> found.excluded.share, found.as_zero.share, found.domains
    (0.75, 0.25, 1)
    """
    whole = [column.whole() for column in columns]
    kept = [pair for column in columns if (pair := column.successful_values())[0]]
    domains = len(kept)
    if together:
        whole, kept = _joined(whole), _joined(kept)
    bounds = (0.0, greatest)
    excluded = mean_interval(kept, bounds=bounds) if kept else None
    if all(value is not None for column in columns for value in column.values):
        assert excluded is not None
        return Averages(excluded=excluded, as_zero=excluded, domains=domains)
    return Averages(excluded=excluded, as_zero=mean_interval(whole, bounds=bounds), domains=domains)


def _joined(pairs: list[tuple[list[float], list[Hashable]]]) -> list[tuple[list[float], list[Hashable]]]:
    """Join the values and sessions of all columns into those of one; without values there is none."""
    values = [value for column, _ in pairs for value in column]
    sessions = [session for _, column in pairs for session in column]
    return [(values, sessions)] if values else []


def aggregate(
    rows: BenchRows,
    records: Records,
    model: Party,
    judge: Party | None,
    prices: Mapping[Literal["model", "judge"], TokenPrices] | None = None,
) -> BenchResult:
    """Compute the result of what was recorded.

    Args:
        rows: All rows of the run.
        records: The records, with the verdicts of this judge.
        model: The model that predicted.
        judge: The judge; None leaves `judged` out.
        prices: The prices of tokens by party, where they are known.
    """
    prices = prices or {}
    score, dimensions = MeasureTable(SCORED), {name: MeasureTable(SCORED) for name in DIMENSIONS}
    measures: dict[str, MeasureTable] = defaultdict(MeasureTable)
    kinds: dict[str, MeasureTable] = defaultdict(MeasureTable)
    failures: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    empty = cut = 0
    for row in rows:
        prediction = records.get(row.key, "prediction")
        text = None if prediction is None or prediction.failure is not None else prediction.text
        if text is None:
            lost[_kind(prediction)] += 1
        elif prediction is not None:
            empty += text == NO_OUTPUT
            cut += prediction.finish == "length"
        _measure(row, text, measures, kinds)
        if judge is None:
            continue
        verdict = records.get(row.key, "verdict")
        if text is None or verdict is None or verdict.failure is not None:
            failures[f"prediction/{_kind(prediction)}" if text is None else f"judge/{_kind(verdict)}"] += 1
            score.add(row, None)
            continue
        score.add(row, scaled_score(sum(verdict.scores.values()) / len(verdict.scores)))
        for name, value in verdict.scores.items():
            dimensions[name].add(row, scaled_score(value))
    return BenchResult(
        package=installed("agentworld-gym"),
        model=model,
        judge=judge,
        rows=EvaluatedRows(
            files=[str(file) for file in rows.files],
            turns=rows.turns,
            count=sum(rows.counts.values()),
            domains=rows.counts,
            digest=rows.digest,
            rendered=rows.rendered,
            empty=empty,
            cut=cut,
            failures=dict(sorted(lost.items())),
        ),
        judged=None if judge is None else _judged(score, dimensions, failures),
        matched=_matched(rows, measures, kinds),
        tokens={
            "model": priced_tokens(records.spent("prediction"), prices.get("model")),
            **({"judge": priced_tokens(records.spent("verdict"), prices.get("judge"))} if judge else {}),
        },
    )


def scaled_score(raw: float) -> float:
    """Scale a raw score of 1 to 5 to 0 to 100.

    >>> scaled_score(1), scaled_score(3), scaled_score(5)
    (0.0, 50.0, 100.0)
    """
    return (raw - 1) / 4 * SCORED


def priced_tokens(usage: Usage, prices: TokenPrices | None) -> PartyTokens:
    """Return the numbers of tokens and what they cost; the cost is None where no prices are known."""
    if not usage.known:
        return PartyTokens(prompt=None, completion=None, cached=None)
    return PartyTokens(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        cached=usage.cached_tokens,
        price=None if prices is None else prices.of(usage),
    )


def _measure(
    row: BenchRow, text: str | None, measures: dict[str, MeasureTable], kinds: dict[str, MeasureTable]
) -> None:
    """Add one row's measures; those of a failed row are None, in the columns that it would have stood in."""
    comparison = match(row.domain, text or "", row.truth, row.spans, row.before)
    for name, value in _values(comparison).items():
        measures[name].add(row, None if text is None else value)
    for kind, right in comparison.kinds.items():
        kinds[kind].add(row, None if text is None else float(right))


def _values(comparison: MatchResult) -> dict[str, float]:
    values = {
        "valid": float(comparison.valid),
        "exact": float(comparison.exact),
        "normalised": float(comparison.normalised),
        "deterministic": float(comparison.deterministic),
        "similarity": comparison.similarity,
    }
    return values if comparison.tree is None else {**values, "tree": comparison.tree}


def _kind(record: AnswerRecord | None) -> str:
    return str(record.failure["kind"]) if record is not None and record.failure is not None else "missing"


def _judged(score: MeasureTable, dimensions: Mapping[str, MeasureTable], failures: Counter[str]) -> Judged:
    by_domain: dict[str, dict[str, Share]] = defaultdict(dict)
    for name, table in dimensions.items():
        if table.columns:
            by_domain[MICRO][name], by_domain[MACRO][name] = table.micro().as_zero, table.macro().as_zero
        for domain in table.columns:
            by_domain[domain][name] = table.domain(domain).as_zero
    return Judged(
        micro=score.micro(),
        macro=score.macro(),
        domains={domain: score.domain(domain) for domain in sorted(score.columns)},
        dimensions={
            domain: by_domain[domain] for domain in (MICRO, MACRO, *sorted(score.columns)) if domain in by_domain
        },
        failures=dict(sorted(failures.items())),
    )


def _matched(rows: BenchRows, measures: Mapping[str, MeasureTable], kinds: Mapping[str, MeasureTable]) -> Matched:
    def domain_of(tables: Mapping[str, MeasureTable], domain: str) -> dict[str, Averages]:
        return {name: table.domain(domain) for name, table in tables.items() if domain in table.columns}

    return Matched(
        micro=Measured(
            measures={name: table.micro() for name, table in measures.items()},
            kinds={name: table.micro() for name, table in sorted(kinds.items())},
        ),
        macro=Measured(
            measures={name: table.macro() for name, table in measures.items()},
            kinds={name: table.macro() for name, table in sorted(kinds.items())},
        ),
        domains={
            domain: Measured(measures=domain_of(measures, domain), kinds=domain_of(kinds, domain))
            for domain in rows.counts
        },
    )
