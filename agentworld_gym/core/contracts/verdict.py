"""What a world that pays for steps and ends its episodes itself says of one, as a game does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a world says of a step that pays for steps and ends its episodes itself, as a game does.

    >>> Verdict(reward=1.0, terminated=True, success=True).over
    True
    """

    reward: float = 0.0
    """What the world pays for the step."""

    terminated: bool = False
    """Whether the episode ended by what the agent did."""

    truncated: bool = False
    """Whether the world broke the episode off, as at a limit of its own."""

    success: bool | None = None
    """Whether the world's own goal is reached; None where it does not tell."""

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated
