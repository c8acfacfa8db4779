"""The parts of a thinking, before they become a text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Explanation:
    """What leads from an action to what it shows, in clauses without a full stop.

    `asks` says what the agent does, `reads` what of the state decides the outcome, `changes` what it changes in the
    state, and `shows` what the observation is made of.
    """

    asks: str
    reads: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    shows: str = ""
