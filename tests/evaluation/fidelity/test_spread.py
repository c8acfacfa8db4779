"""Fidelity that other processes measure is the same as in one process, whoever of them is lost."""

from __future__ import annotations

import pytest
from crews import Crew

from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.measure import FidelityPlan, measure, record


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("world", ["grounded", "scripted"])
def test_figures_do_not_depend_on_who_measures(world: str, lost: int) -> None:
    options = EnvOptions(spec="terminal", world=world, split="test", levels=[1])
    crew = Crew(hands=2, lost=lost)
    here, _ = measure(options, FidelityPlan(record("terminal", 4, levels=[1]), plans=range(2)))
    rows = record("terminal", 4, levels=[1], elsewhere=crew)
    there, interrupted = measure(options, FidelityPlan(rows, plans=range(2)), elsewhere=crew)
    assert there == here and not interrupted
    assert crew.rounds == [4, 4, 2] and crew.open == 0
