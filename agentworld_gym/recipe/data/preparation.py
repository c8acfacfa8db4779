"""From recorded rows to samples: pool, filters, prompts, weights, knowledge; and what became of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from agentworld_gym.documents.strict import Strict
from agentworld_gym.domain.spec import DOMAINS, Form, Profile
from agentworld_gym.process.parallel import mapped
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.recipe.data.filters import Filters, RowFilter
from agentworld_gym.recipe.data.samples_from_rows import cpt_sample, turn_samples
from agentworld_gym.recipe.data.text_corpora import Knowledge, knowledge_samples, mixed_with_texts
from agentworld_gym.recipe.data.turn_weights import Weighting, classify
from agentworld_gym.sessions.pools import Pool
from agentworld_gym.sessions.rerendering import prompts_for
from agentworld_gym.sessions.row import Row
from agentworld_gym.sessions.samples import Sample


class Preparation(Strict):
    """How rows become samples.

    Args:
        pool: which sessions; None takes all.
        filters: what goes.
        each: a sample a `session`, with a weight for every turn, or a sample a `turn`, with one for its completion.
        profile: prompts to render sessions with; None keeps those of the row.
        form: how a next state is written in the domains that restate it in every turn; None keeps that of the row.
        ledger: whether each answer ends with what the action changed in the hidden state
        (`agentworld_gym.prompting.ledger`). weighting: how much each turn counts; None weighs a session's turns by
        class and a turn's completion fully. context_weight: weight of all that is not an assistant message.
        knowledge: plain texts in between.
    """

    pool: Pool | None = Pool()
    filters: Filters = Filters()
    each: Literal["session", "turn"] = "session"
    profile: Profile | None = None
    form: Form | None = None
    ledger: bool = False
    weighting: Weighting | None = None
    context_weight: Annotated[float, Field(ge=0, le=1)] = 0.0
    knowledge: Knowledge = Knowledge()


@dataclass
class PreparationReport:
    """What became of the rows, by domain: how many were `read`, lay in `other_pools`, or fell to a rule (`sieve`).

    `samples` counts what was made, `classes` the turns that were kept by class.
    """

    sieve: RowFilter
    read: Counter[str] = field(default_factory=Counter)
    other_pools: Counter[str] = field(default_factory=Counter)
    samples: Counter[str] = field(default_factory=Counter)
    classes: dict[str, Counter[str]] = field(default_factory=dict)


def prepare(
    rows: Iterable[Row], preparation: Preparation, workers: int = 1
) -> tuple[Iterator[Sample], PreparationReport]:
    """The samples of rows, made as they are asked for, and the account that grows along.

    Args:
        rows: read once, in order.
        preparation: how they become samples.
        workers: processes that render prompts; the samples are the same, in the same order, whatever their number.

    >>> samples, account = prepare([], Preparation())
    >>> list(samples), account.read
    ([], Counter())

    Raises:
        SpecError: while iterating: a row's task cannot be generated again, and the change form needs it; or a corpus
            cannot be read.
    """
    account = PreparationReport(RowFilter(preparation.filters))
    kept = _kept(rows, preparation, account)
    samples: Iterator[Sample] = mapped(partial(_made, preparation), kept, workers)
    if preparation.knowledge.files:
        samples = mixed_with_texts(samples, knowledge_samples(preparation.knowledge), preparation.knowledge.share)
    return _counted(samples, account), account


def _kept(rows: Iterable[Row], preparation: Preparation, account: PreparationReport) -> Iterator[Row]:
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
    return [sample for row in rows for sample in make(row, _prompts_for(row, preparation), *how)]


def _session(row: Row, prompts: Prompts | None, weighting: Weighting | None, context_weight: float) -> list[Sample]:
    return [cpt_sample(row, prompts, weighting, context_weight)]


def _prompts_for(row: Row, preparation: Preparation) -> Prompts | None:
    """What to render a session with; None where it is as it shall be, or is of a domain that this package lacks."""
    if row.domain not in DOMAINS:
        return None
    prompts = prompts_for(row, preparation.profile, preparation.form, ledger=preparation.ledger)
    own = row.profile or "full", row.form or "full", False
    return None if (prompts.profile, prompts.form, preparation.ledger) == own else prompts


def _counted(samples: Iterable[Sample], account: PreparationReport) -> Iterator[Sample]:
    for sample in samples:
        account.samples[sample.domain] += 1
        yield sample
