"""Looks at the screen, which rows leave out: the engine plays a session again and shows where there were any."""

from __future__ import annotations

import json
from contextlib import closing
from functools import lru_cache

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, Machine, Multilingual
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.screens.sight import SHOW_AGAIN
from agentworld_gym.llm.rows.replayed_states import variant_of
from agentworld_gym.llm.rows.row import Row

LOOK = json.dumps(SHOW_AGAIN)
"""A look as an agent writes it."""

Transcript = tuple[str, tuple[str, ...], tuple[str, ...]]
"""The first observation, the actions, and what each of them showed."""


def with_looks(row: Row, task: Task, spec: DomainSpec) -> Transcript | None:
    """Return a session with the looks that its row folded into the turns before; None if the engine departs from it.

    Probes, which the agent did not ask for, are left out.

    A row keeps the screen of a look instead of what the action before it showed. An agent that learned from that would
    expect screens that its world does not show.

    Args:
        row: The session.
        task: The task of the session.
        spec: The domain, in the dialect of the session.
    """
    seed, variant = task.seed or 0, variant_of(row)
    controls = Controls(task.controls, task.control_seed_in(seed))
    actions, observations, parser = list[str](), list[str](), _parser(spec.source)
    with closing(load_engine(row.domain, variant).start(task.state, seed, controls, task.hidden)) as machine:
        first = shown = _shown(machine, spec)
        if first != row.first_observation:
            shown = _look(machine, spec)
            actions.append(LOOK)
            observations.append(shown)
            if shown != row.first_observation:
                return None
        acted = row.turn_idx - row.probes
        for text, seen in zip(row.actions[:acted], row.observations[:acted], strict=True):
            action = parser.parse(text, task.tools, shown=shown)
            if action.error is None:
                machine.act(action.parsed)
                shown = _shown(machine, spec)
            else:
                shown = action.error
            actions.append(text)
            observations.append(shown)
            if shown != seen:
                shown = _look(machine, spec)
                actions.append(LOOK)
                observations.append(shown)
            if shown != seen:
                return None
    return first, tuple(actions), tuple(observations)


def _look(machine: Machine, spec: DomainSpec) -> str:
    machine.act(SHOW_AGAIN)
    return _shown(machine, spec)


def _shown(machine: Machine, spec: DomainSpec) -> str:
    if spec.speaks_first_dialect or not isinstance(machine, Multilingual):
        return machine.observation
    return machine.observation_in(spec.dialect)


@lru_cache(maxsize=16)
def _parser(source: str) -> ActionParser:
    return ActionParser(load_spec(source))
