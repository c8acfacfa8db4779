"""Sessions of any domain, recorded once, and the machine that plays one of them again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from worlds import quick_variant

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, Machine
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.llm.rows.rerendering import task_of
from agentworld_gym.llm.rows.row import Row

SESSIONS = 5
"""How many sessions of a domain are recorded, about half of them under controls."""


def recorder(domain: str) -> Recorder:
    """A recorder whose sessions are those of `sessions`."""
    policies: Any = {"expert": 0.2, "mixed": 0.4, "explore": 0.4}
    variant = quick_variant(domain)
    engines = {domain: variant} if variant else {}
    config = CollectConfig(policies=policies, controls_share=0.5, probe_share=0.0, max_turns=12, engines=engines)
    return Recorder([load_spec(domain)], config, seed=3)


@cache
def sessions(domain: str) -> tuple[Row, ...]:
    """Some sessions of a domain, by experts, by others who err, and by explorers."""
    recording = recorder(domain)
    return tuple(row for number in range(SESSIONS) if (row := recording.row(number)) is not None)


def session_task(row: Row) -> Task:
    """The task of a session."""
    task = task_of(row)
    assert task is not None
    return task


def started(row: Row) -> Machine:
    """A machine at the start of a session."""
    task = session_task(row)
    controls = Controls(row.controls, row.control_seed or 0)
    return load_engine(row.domain, row.provenance.variant or "").start(
        task.state, task.seed or 0, controls, task.hidden
    )


def parsed_actions(row: Row) -> list[Any]:
    """The actions of a session that can be read, as an engine takes them."""
    parser, tools = ActionParser(load_spec(row.domain)), session_task(row).tools
    return [action.parsed for text in row.actions if (action := parser.parse(text, tools)).error is None]


def drawing(row: Row) -> tuple[Any, int]:
    """A function that draws the actions of a session one after the other, and how many there are."""
    actions = parsed_actions(row)
    left: Iterator[Any] = iter(actions)
    return lambda machine: next(left), len(actions)
