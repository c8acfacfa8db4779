"""The structured states behind a recorded session, from the engine that plays its actions again."""

from __future__ import annotations

from contextlib import closing

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.domain.task import Task
from agentworld_gym.domain.view import compact
from agentworld_gym.engines import Controls, Restorable
from agentworld_gym.engines.catalog import load_engine
from agentworld_gym.errors import SpecError
from agentworld_gym.screens.sight import SHOW_AGAIN, looks
from agentworld_gym.sessions.row import Row


def shown_states(row: Row, task: Task, parser: ActionParser) -> list[str]:
    """Return what the view reads of the state before the first action of a session and after each one, as JSON.

    Args:
        row: The session.
        task: The task of the session.
        parser: The parser of its actions. What it cannot read never reached the machine.

    Raises:
        SpecError: The domain has no structured state, or its engine no longer shows what the session has.
    """
    seed = task.seed or 0
    controls = Controls(task.controls, task.control_seed_in(seed))
    with closing(load_engine(row.domain).start(task.state, seed, controls, task.hidden)) as machine:
        if not isinstance(machine, Restorable):
            raise SpecError(row.id, "form", "state", "a domain whose engine has a structured state")
        states = [compact(machine.shown())]
        for text, observation in zip(row.actions, row.observations, strict=True):
            action = parser.parse(text, task.tools)
            if action.error is None:
                shown = machine.act(action.parsed)
                if shown != observation and looks(row.domain, SHOW_AGAIN):
                    shown = machine.act(SHOW_AGAIN)  # A look at the screen was folded into the turn.
                if shown != observation:
                    raise SpecError(row.id, "observations", observation, f"what the engine shows: {shown[:200]!r}")
            states.append(compact(machine.shown()))
        return states
