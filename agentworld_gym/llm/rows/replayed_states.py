"""The structured states behind a recorded session, from the engine that plays its actions again."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls, Restorable
from agentworld_gym.core.engines.catalog import load_engine
from agentworld_gym.core.registration import find_domain
from agentworld_gym.core.screens.sight import SHOW_AGAIN, looks
from agentworld_gym.llm.rows.row import Row


class ShownStates(NamedTuple):
    """What the view reads of the states of a session, as JSON."""

    begun: str
    """The state before the first action."""
    acted: tuple[str, ...]
    """The state after each action."""
    seen: tuple[str, ...]
    """The state in which each turn ends: a look at the screen may have followed on the action."""


def shown_states(row: Row, task: Task, parser: ActionParser) -> ShownStates:
    """Return what the view reads of the states of a session.

    Args:
        row: The session.
        task: The task of the session.
        parser: The parser of its actions. What it cannot read never reached the machine.

    Raises:
        SpecError: The domain has no structured state, or its engine no longer shows what the session has.
    """
    seed = task.seed or 0
    controls = Controls(task.controls, task.control_seed_in(seed))
    with closing(load_engine(row.domain, variant_of(row)).start(task.state, seed, controls, task.hidden)) as machine:
        if not isinstance(machine, Restorable):
            raise SpecError(row.id, "form", "state", "a domain whose engine has a structured state")
        begun, acted, seen = compact(machine.visible_state()), list[str](), list[str]()
        state = begun
        for text, observation in zip(row.actions, row.observations, strict=True):
            action = parser.parse(text, task.tools)
            if action.error is None:
                shown = machine.act(action.parsed)
                state = compact(machine.visible_state())
                acted.append(state)
                if shown != observation and looks(row.domain, SHOW_AGAIN):
                    shown = machine.act(SHOW_AGAIN)  # A look at the screen was folded into the turn.
                    state = compact(machine.visible_state())
                if shown != observation:
                    raise SpecError(row.id, "observations", observation, f"what the engine shows: {shown[:200]!r}")
            else:
                acted.append(state)
            seen.append(state)
        return ShownStates(begun, tuple(acted), tuple(seen))


def variant_of(row: Row) -> str:
    """Return the variant of the engine that played a session; the default one where that is not known."""
    variant = row.provenance.variant
    domain = find_domain(row.domain)
    return variant if domain is not None and variant in domain.variants else ""
