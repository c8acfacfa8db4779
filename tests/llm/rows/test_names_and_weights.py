"""A row is of the domain that it names, and its turns have weights even where no observation was kept apart."""

from __future__ import annotations

import pytest

from agentworld_gym.llm.rows.row import Row, domain_of
from agentworld_gym.llm.rows.samples_from_rows import row_weights
from agentworld_gym.llm.rows.turn_weights import Weighting


@pytest.mark.parametrize(("task", "domain"), [("os", "desktop"), ("agentworld/web", "web"), ("", ""), ("x/", "")])
def test_a_task_names_its_domain(task: str, domain: str) -> None:
    assert domain_of(task) == domain


@pytest.mark.parametrize("domain", ["mcp", "terminal"])
def test_turns_without_kept_observations_have_weights(domain: str) -> None:
    row = Row(
        task=domain,
        id="a",
        system_str="",
        prompt=["one", "two"],
        response=["1", "2"],
        current_prompt="two",
        turn_idx=2,
        total_turns=2,
        actions=["one", "two"],
    )
    assert row_weights(row, Weighting(rule="equal")) == [1.0, 1.0]
