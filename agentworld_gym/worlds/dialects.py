"""First observations in other dialects than the one in which tasks state them."""

from __future__ import annotations

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Multilingual
from agentworld_gym.core.engines.catalog import has_engine, load_engine


def in_dialect(spec: DomainSpec, task: Task, seed: int, first: str) -> str:
    """Return the first observation of a task in the dialect in force, as the engine of the domain writes it.

    Args:
        spec: The domain in its dialect.
        task: The task.
        seed: The seed of the episode.
        first: What the task states, in the first dialect. It stays as it is where no engine shows the same.
    """
    if spec.speaks_first_dialect or not first or not has_engine(spec.id):
        return first
    try:
        machine = load_engine(spec.id).start(task.state, seed, hidden=task.hidden)
    except SpecError:
        return first
    try:
        if isinstance(machine, Multilingual) and machine.observation == first.strip():
            return machine.observation_in(spec.dialect)
        return first
    finally:
        machine.close()
