"""A director is data: what it may choose, and at what price."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.agents.teams.director import load_director
from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.domain.spec import load_spec

ONE = {"domain": "terminal", "budget": 0.5, "prices": {"slow-service": 0.5, "stale-data": 2.0}}


def written(tmp_path, **changes):
    path = tmp_path / "storm.yaml"
    path.write_text(yaml.safe_dump({**ONE, **changes}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", shipped_names("director"))
def test_a_shipped_director_fits_its_domain(name):
    director = load_director(name)
    spec = load_spec(director.domain)
    assert set(director.options["families"]) <= set(spec.tasks.families)
    for offer in director.offers():
        assert director.cost(director.read(offer, spec)) <= director.budget + 1e-9
    assert "STRENGTH" in director.describe_task(spec, "Do it.")


STRENGTHS = st.dictionaries(st.sampled_from(sorted(ONE["prices"])), st.floats(0, 1), max_size=2)


@given(STRENGTHS)
def test_a_choice_is_taken_where_it_keeps_to_the_budget_and_refused_elsewhere(tmp_path_factory, strengths):
    director = load_director(written(tmp_path_factory.mktemp("director")))
    cost = sum(ONE["prices"][name] * strength for name, strength in strengths.items())
    text, spec = json.dumps(strengths), load_spec("terminal")
    if cost <= 0.5:
        assert director.read(text, spec) == strengths
    elif cost > 0.5001:
        with pytest.raises(UnreadableAction, match=r"the budget is 0\.5"):
            director.read(text, spec)


@pytest.mark.parametrize("text", ["", "stale-data", "[]", '{"fog": 0.1}', '{"stale-data": true}', '{"stale-data": -1}'])
def test_what_is_no_choice_is_a_problem(tmp_path, text):
    with pytest.raises(UnreadableAction):
        load_director(written(tmp_path)).read(text, load_spec("terminal"))


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"budget": 0}, "budget: got 0"),
        ({"prices": {}}, "prices: got {}"),
        ({"prices": {"stale-data": 0}}, "prices: .*above 0"),
        ({"prices": {"stale-date": 1}}, "prices: got 'stale-date', expected one of stale-data"),
        ({"solvers": {"director": -1}}, "solvers: .*names other than director"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_broken_director_names_the_key(tmp_path, changes, said):
    with pytest.raises(SpecError, match=said):
        load_director(written(tmp_path, **changes))


def test_a_director_that_is_not_there_names_those_that_are():
    with pytest.raises(MissingFile, match="one of faulty-shop"):
        load_director("faulty-shops")
