"""An agent that finishes at once earns nothing, whatever the task is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.options import EnvOptions


def every_task(domain: str) -> Iterator[Task]:
    """One task of each family and level, and those that were written by hand."""
    for family in sorted(families(domain)):
        yield from (generate(domain, family, level, 0) for level in (1, 2, 3))
    yield from load_spec(domain).handwritten_tasks()


@pytest.mark.parametrize("domain", engine_names())
def test_a_bare_finish_pays_nothing(domain: str) -> None:
    """No check holds from the start, not even one that asks whether something was left as it was."""
    runner = EnvOptions(spec=domain, world="grounded:monty" if domain == "swe" else "grounded").runner()
    paid = {}
    for task in every_task(domain):
        ((episode, _, _),) = runner.start([0], {"task": task})
        (step,) = runner.advance([episode], ["finish"])
        assert step.terminated and "failure" not in step.info, (task.id, step.info)
        if step.info["score"] or step.reward != -runner.spec.reward.step_cost:
            paid[task.id] = (step.info["score"], step.reward)
    runner.close()
    assert not paid
