"""Recorded steps: the words by which they are found, and the origins by which they are excluded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import FREE_PLAY, Task
from agentworld_gym.core.screens import is_graphical, observations_of
from agentworld_gym.core.screens.history import ScreenHistory
from agentworld_gym.core.screens.pointing import pointed_lines
from agentworld_gym.llm.rows.pools import group_of
from agentworld_gym.llm.rows.row import Row

STATE_CHARS = 400
"""How many characters of what was shown before a step count: at the end of a text, at the beginning of a screen."""

DISTURBED = "disturbed"
"""The origin of all sessions with controls in force; it is excluded where an episode has none."""

_WORD = re.compile(r"\w+|[|<>*]+")


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One turn of a recorded session."""

    domain: str
    """The id of the domain."""

    row: str
    """The id of the session."""

    turn: int
    """The number of the turn, counted from 1."""

    action: str
    """The action as the agent wrote it."""

    before: str
    """What was on the screen before the action."""

    observation: str
    """What the action showed."""

    target: str = ""
    """The line of the screen that the action points at; empty where there is none."""


class Features:
    """The words by which the steps of one domain are found: those of the action, and those of the state.

    An action on a screen is about what it points at, so that the words of that line count as those of the action.

    >>> Features("terminal").words("wc -l < a.txt", "dev@box:~/notes$")
    (['wc', 'l', '<', 'a', 'txt'], ['dev', 'box', 'notes'])
    """

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self._parser = ActionParser(load_spec(domain)) if is_graphical(domain) else None

    def target(self, action: str, before: str) -> str:
        """Return the line of the screen that an action points at first; empty where there is none."""
        if self._parser is None:
            return ""
        lines = pointed_lines(self.domain, self._parser.parse(action).parsed, before)
        return before.split("\n")[lines[0]].strip() if lines else ""

    def words(self, action: str, before: str) -> tuple[list[str], list[str]]:
        """Return the words of an action, and those of the state in which it is done."""
        target = self.target(action, before)
        output = observations_of(self.domain).output(before)
        state = output[:STATE_CHARS] if self._parser is not None else output[-STATE_CHARS:]
        asked = f"{action} {target}" if target else action
        return _WORD.findall(asked.lower()), _WORD.findall(state.lower())


def steps_of(row: Row) -> Iterator[tuple[str, str, str]]:
    """Return the action, the screen before it and the observation after it, for each turn of a session."""
    history = ScreenHistory[str](row.domain, row.first_observation)
    for action, observation in zip(row.actions, row.observations, strict=True):
        yield action, history.screen, observation
        history.append(action, observation)


def origin_of_row(row: Row) -> tuple[str, ...]:
    """Return the origins of a session: its id, its task, its group and its content.

    A step is never shown to a session that shares one of them. Levels of one family and seed are one group. Free play
    is no task: its sessions have nothing in common.

    >>> row = Row(task="mcp", id="a", system_str="", prompt=["x"], response=["y"], current_prompt="x", turn_idx=1,
    ...           total_turns=1, family="refund_order", task_id="refund_order-2-39", level=2, seed=39)
    >>> origin_of_row(row)[:3]
    ('row a', 'task mcp/refund_order-2-39', 'group mcp/refund_order/39')
    """
    task = (f"task {row.domain}/{row.task_id}",) if row.task_id and row.family != FREE_PLAY else ()
    return (f"row {row.id}", *task, f"group {group_of(row)}", f"content {row.digest()}")


def origin_of_task(task: Task) -> tuple[str, ...]:
    """Return the origins of an episode that is being played: its task and its group.

    >>> from agentworld_gym.core.tasks import generate
    >>> origin_of_task(generate("terminal", "copy_move", 1, 39))
    ('task terminal/copy_move-1-39', 'group terminal/copy_move/39')
    """
    own = () if task.family == FREE_PLAY else (f"task {task.domain}/{task.id}",)
    group = () if task.seed is None else (f"group {task.domain}/{task.family}/{task.seed}",)
    return (*own, *group)
