"""What a seed draws: values of policies, coined names, numbers."""

from __future__ import annotations

import random
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentworld_gym.domains.mcp.synth.grow.growth import PolicyRecipe
from agentworld_gym.domains.mcp.synth.grow.world import drawn_policies, with_policies
from agentworld_gym.kit.tables.varied_words import WordRecipe, coined_names, varied_words
from agentworld_gym.kit.tables.word_lists import common_words

seeds = st.integers(0, 2**31 - 1)


@given(seeds, st.integers(0, 50), st.integers(0, 50), st.integers(1, 9))
def test_a_policy_that_is_added_to_another_one_lies_above_it(seed: int, low: int, span: int, more: int) -> None:
    recipes = {
        "days": PolicyRecipe(integer=(low, low + span)),
        "gold_days": PolicyRecipe(integer=(1, more), plus="days"),
    }
    drawn = drawn_policies(recipes, random.Random(seed))
    assert low <= drawn["days"] <= low + span
    assert 1 <= drawn["gold_days"] - drawn["days"] <= more


@pytest.mark.parametrize("wrong", [{}, {"integer": (1, 2), "choice": (1,)}, {"choice": (1,), "plus": "days"}])
def test_a_policy_has_one_kind(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PolicyRecipe.model_validate(wrong)


@given(seeds)
def test_no_coined_name_is_the_beginning_of_another(seed: int) -> None:
    names = sorted(islice(coined_names(random.Random(seed)), 120))
    assert not [pair for pair in pairwise(names) if pair[1].startswith(pair[0])]


@given(seeds)
def test_prices_vary_by_the_share_that_is_allowed(seed: int) -> None:
    goods = [{"name": "Desk lamp", "price": 40.0}, {"name": "Bench", "price": 100.0}]
    recipe = WordRecipe(text={"name": "{coined} {whole}"}, scale={"price": 0.25})
    rng = random.Random(seed)
    varied = varied_words(goods, recipe, {}, coined_names(rng), rng)
    prices = {entry["name"].split()[-1]: entry["price"] for entry in varied}
    assert 30.0 <= prices["lamp"] <= 50.0
    assert 75.0 <= prices["Bench"] <= 125.0


@given(seeds)
def test_people_are_pairs_of_common_names_and_nobody_comes_twice(seed: int) -> None:
    common, rng = common_words(), random.Random(seed)
    recipe = WordRecipe(pairs=("first_names", "last_names"), count=60)
    people = varied_words((), recipe, common, coined_names(rng), rng)
    assert len(set(people)) == len(people) == 60
    assert all(name.split()[0] in common["first_names"] for name in people)


def test_only_policies_are_written_into_texts() -> None:
    checks = [{"found": "SELECT 1 WHERE :days > {days}", "message": "Order {order_id} is {days} days old"}]
    assert with_policies(checks, {"days": 7}) == [
        {"found": "SELECT 1 WHERE :days > 7", "message": "Order {order_id} is 7 days old"}
    ]
