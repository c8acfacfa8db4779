"""The parts of a reasoning trace, before they become a text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Explanation:
    """What leads from an action to what it shows, in clauses without a full stop."""

    asks: str
    """What the agent does."""

    reads: list[str] = field(default_factory=list)
    """What of the state decides the outcome."""

    changes: list[str] = field(default_factory=list)
    """What the action changes in the state."""

    shows: str = ""
    """What the observation is made of."""
