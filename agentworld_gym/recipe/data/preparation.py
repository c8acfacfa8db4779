"""The preparation of samples from recorded rows: pool, filters, prompts, weights, and plain texts in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal, get_args

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.process.parallel import mapped
from agentworld_gym.core.domain.spec import Form, Profile
from agentworld_gym.core.registration import find_domain
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.rows.pools import SessionPool
from agentworld_gym.llm.rows.rerendering import prompts_for
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample, turn_samples
from agentworld_gym.llm.rows.turn_weights import Weighting, classify
from agentworld_gym.recipe.data.filters import Filters, RowFilter, TurnRule
from agentworld_gym.recipe.data.renaming import renamed
from agentworld_gym.recipe.data.text_corpora import Knowledge, knowledge_samples, mixed_with_texts


class Preparation(Strict):
    """How rows become samples."""

    pool: SessionPool | None = SessionPool()
    """The sessions to take; None takes all."""

    filters: Filters = Filters()
    """The rules by which turns and sessions are removed."""

    each: Literal["session", "turn"] = "session"
    """Whether a `session` makes a sample, with a weight for every turn, or a `turn` does, with a weight for its
    completion."""

    profile: Profile | None = None
    """The profile of the prompts that sessions are rendered with; None keeps that of the row."""

    form: Form | None = None
    """How a next state is written in the domains that restate it in every turn; None keeps that of the row."""

    renamed: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The share of the sessions whose names and words are replaced by made-up ones (see
    `agentworld_gym.recipe.data.renaming`)."""

    weighting: Weighting | None = None
    """How much each turn counts; None weighs a session's turns by class, and a turn's completion fully."""

    context_weight: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The weight in the loss of all that is not an assistant message."""

    knowledge: Knowledge = Knowledge()
    """The plain texts in between."""


@dataclass
class PreparationReport:
    """The outcomes of the rows, by domain."""

    sieve: RowFilter
    """The filter, which counts what it removed."""

    read: Counter[str] = field(default_factory=Counter)
    """The number of rows that were read."""

    other_pools: Counter[str] = field(default_factory=Counter)
    """The number of rows that lie in other pools."""

    samples: Counter[str] = field(default_factory=Counter)
    """The number of samples that were made."""

    classes: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of turns that were kept, by class."""

    def summary(self) -> str:
        """Return in words how many sessions were read and kept, and how many sessions, and turns of those that were
        read, were left out for which reason.
        """
        removed, turns = (sum(counts.values(), Counter[str]()) for counts in (self.sieve.rows, self.sieve.turns))
        kept = removed.pop("kept", 0)
        reasons = {"few_turns": f"with fewer than {self.sieve.min_turns} turns"}
        left = [(self.other_pools.total(), "of other pools (preparation.pool)")]
        left += [(count, reasons.get(rule, rule)) for rule, count in removed.most_common()]
        parts = {
            "left out": ", ".join(f"{count} {reason}" for count, reason in left if count),
            "turns left out": ", ".join(f"{turns[rule]} {rule}" for rule in get_args(TurnRule) if turns[rule]),
        }
        counted = f"{self.read.total()} sessions read, {kept} kept"
        return "; ".join([counted, *(f"{part}: {said}" for part, said in parts.items() if said)])


def prepare(
    rows: Iterable[Row], preparation: Preparation, workers: int = 1
) -> tuple[Iterator[Sample], PreparationReport]:
    """Return the samples of rows, made as they are asked for, and the report that grows along.

    Args:
        rows: The rows, which are read once, in order.
        preparation: How they become samples.
        workers: The number of processes that render prompts; the samples and their order do not depend on it.

    >>> samples, account = prepare([], Preparation())
    >>> list(samples), account.read
    ([], Counter())

    Raises:
        SpecError: While iterating, a row's task cannot be generated again although the change form needs it, or a
            corpus cannot be read.
    """
    account = PreparationReport(RowFilter(preparation.filters))
    kept = _select_rows(rows, preparation, account)
    samples: Iterator[Sample] = mapped(partial(_made, preparation), kept, workers)
    if preparation.knowledge.files:
        samples = mixed_with_texts(samples, knowledge_samples(preparation.knowledge), preparation.knowledge.share)
    return _counted(samples, account), account


def _select_rows(rows: Iterable[Row], preparation: Preparation, account: PreparationReport) -> Iterator[Row]:
    for row in rows:
        account.read[row.domain] += 1
        if preparation.pool is not None and not preparation.pool.holds(row):
            account.other_pools[row.domain] += 1
            continue
        kept = account.sieve.filter(row)
        if kept is None:
            continue
        if kept.actions:
            pairs = zip(kept.actions, kept.observations, strict=True)
            account.classes.setdefault(row.domain, Counter()).update(classify(*pair) for pair in pairs)
        yield kept


def _made(preparation: Preparation, rows: Sequence[Row]) -> list[Sample]:
    make = _session if preparation.each == "session" else turn_samples
    how = preparation.weighting, preparation.context_weight
    made = (sample for row in rows for sample in make(row, _prompts_for(row, preparation), *how))
    return [renamed(sample, preparation.renamed) for sample in made]


def _session(row: Row, prompts: Prompts | None, weighting: Weighting | None, context_weight: float) -> list[Sample]:
    return [cpt_sample(row, prompts, weighting, context_weight)]


def _prompts_for(row: Row, preparation: Preparation) -> Prompts | None:
    """Return the prompts to render a session with; None where it keeps its own, or its domain is not of this
    package.
    """
    if find_domain(row.domain) is None:
        return None
    prompts = prompts_for(row, preparation.profile, preparation.form)
    own = row.profile or "full", row.form or "full"
    return None if (prompts.profile, prompts.form) == own else prompts


def _counted(samples: Iterable[Sample], account: PreparationReport) -> Iterator[Sample]:
    for sample in samples:
        account.samples[sample.domain] += 1
        yield sample
