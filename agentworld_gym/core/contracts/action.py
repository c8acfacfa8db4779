"""What an agent did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ActionKind(StrEnum):
    """What an action is for."""

    ACT = "act"  # It goes to the world.
    CONFIRM = "confirm"  # It goes to the world, which asks to confirm; repeated at once it is a finish.
    FINISH = "finish"  # It is the agent's verb for "done" and never goes to a world.
    MESSAGE = "message"  # It goes to other agents and never to a world.


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent did, as text and as the domain understands it."""

    raw: str
    """The text that the exact parser of the domain reads: what the agent wrote, unless `written` says so."""

    parsed: Any = None
    """The action in the form that the domain's engine takes."""

    error: str | None = None
    """The error that the real counterpart would print, if the text cannot be parsed. It becomes the observation, and no
    model is asked."""

    kind: ActionKind = ActionKind.ACT
    """What the action is for."""

    answer: str | None = None
    """The text that follows `finish:`."""

    agent: str | None = None
    """The name of the agent, where several share a world."""

    written: str | None = None
    """What the agent wrote, where a tolerant reader took another text for the action that was meant."""

    @property
    def asks_world(self) -> bool:
        """Whether the action goes to the world."""
        return self.kind in (ActionKind.ACT, ActionKind.CONFIRM)
