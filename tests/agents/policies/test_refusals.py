"""The policy `refusals`: what cannot be done, or changes nothing, between the steps of tasks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import quick_variant

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.policies.exploring.base import Explorer
from agentworld_gym.agents.policies.exploring.refusals import Attempt, Phrasing, Refusals, StrangeNames, refused_beside
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Split, Task, split_seed
from agentworld_gym.core.registration import all_domains
from agentworld_gym.core.tasks import generate
from agentworld_gym.llm.rows.row import Row

DOMAINS = sorted(name for name, domain in all_domains().items() if domain.refusals is not None)

every_domain = pytest.mark.parametrize("domain", DOMAINS)


@cache
def sessions(domain: str, split: Split = "train", count: int = 4) -> tuple[Row, ...]:
    config = CollectConfig(policies={"refusals": 1.0}, probe_share=0.0, engines=engines(domain))
    recorder = Recorder([load_spec(domain)], config, seed=3, split=split)
    try:
        return tuple(row for number in range(count) if (row := recorder.row(number)) is not None)
    finally:
        recorder.close()


def engines(domain: str) -> dict[str, str]:
    return {domain: quick_variant(domain)} if quick_variant(domain) else {}


def names(split: Split) -> set[str]:
    drawn = set()
    for number in range(40):
        task = generate("terminal", "archive", 1, split_seed(split, number))
        source = StrangeNames(task, random.Random(number))
        drawn |= {source.word for _ in range(20)}
    return drawn


def test_every_domain_that_ships_has_attempts() -> None:
    recorded = {name for name, domain in all_domains().items() if domain.explorer or "explore" in domain.policies}
    assert set(DOMAINS) == recorded


@every_domain
def test_attempts_stand_between_the_steps_of_tasks_and_change_next_to_nothing(domain: str) -> None:
    rows = sessions(domain)
    kinds = Counter(chain.from_iterable(row.attempts for row in rows))
    steps = kinds.pop("", 0)
    assert set(kinds) <= set(all_domains()[domain].part("refusals")(task_of(rows[0]), random.Random(0)).kinds)
    assert 0.15 < sum(kinds.values()) / (steps + sum(kinds.values())) < 0.6
    assert sum(bool(row.success) for row in rows) >= len(rows) / 2  # the expert goes on after them
    tried = [
        changed
        for row in rows
        for kind, changed in zip(row.attempts, row.fields_changed, strict=False)
        if kind and not kind.endswith(("page that is not there", "site that is not there"))  # which are left again
    ]
    assert sum(map(bool, tried)) <= 0.2 * len(tried)


def task_of(row: Row) -> Task:
    assert row.seed is not None and row.level is not None
    return generate(row.domain, row.family, row.level, row.seed)


@every_domain
def test_sessions_are_the_same_when_they_are_played_again(domain: str) -> None:
    config = CollectConfig(policies={"refusals": 1.0}, probe_share=0.0, engines=engines(domain))
    recorder = Recorder([load_spec(domain)], config, seed=3)
    last = sessions(domain)[-1]
    assert recorder.row(last.number or 0) == last
    recorder.close()


def test_tasks_of_each_split_have_names_of_their_own() -> None:
    train, validation, test = names("train"), names("validation"), names("test")
    assert len(train) > 200
    assert not train & validation and not train & test and not validation & test


class Knocking(Refusals, Explorer):
    """Knocks at doors in two ways."""

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "door": (lambda t: f"knock {t.names.word}", lambda t: f"ring {t.names.word}")
    }

    def see(self, action: str, observation: str) -> None:
        """Take in nothing."""


def test_the_last_phrasing_of_a_kind_is_kept_out_of_training() -> None:
    def verbs(split: Split) -> set[str]:
        task = generate("terminal", "archive", 1, split_seed(split, 1))
        return {Knocking(task, random.Random(seed)).draft().split()[0] for seed in range(40)}

    assert verbs("train") == {"knock"}
    assert verbs("validation") == verbs("test") == {"knock", "ring"}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_another_agent_is_followed_to_its_end_and_finishes_after_all_attempts(number: int, seed: int) -> None:
    task = generate("terminal", "archive", 1, number)
    rng = random.Random(seed)
    actions = list(refused_beside(iter_stream("one", "two", "finish: 3"), Knocking(task, rng), rng))
    assert [action for action in actions if not isinstance(action, Attempt)] == ["one", "two", "finish: 3"]
    assert actions[-1] == "finish: 3"
    assert all(action.kind == "door" for action in actions if isinstance(action, Attempt))


def iter_stream(*actions: str):  # type: ignore[no-untyped-def]
    for action in actions:  # noqa: UP028 - `yield from` would send to the tuple
        yield action


def test_a_row_of_an_earlier_turn_has_the_attempts_until_then() -> None:
    row = sessions("terminal")[0]
    assert row.turn_idx > 1
    assert row.at(1).attempts == row.attempts[:1]
    assert Row.model_validate_json(row.model_dump_json()) == row
