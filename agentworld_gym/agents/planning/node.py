"""What a search knows of a state that it has reached, and what it asks to have tried."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

from agentworld_gym.envs.episodes.episode import Episode


@dataclass(slots=True, eq=False)
class SearchNode:
    """A state that a search has reached: an imagined episode, and what that is worth."""

    episode: Episode
    """The imagined episode. Its session stays as it is: whatever is tried from here is tried on a fork."""

    proposals: tuple[str, ...]
    """The actions that may be tried from here, best first where the proposer ranks them; none where it is over."""

    value: float
    """The score that the episode would have if the agent finished here, from 0 to 1; 1.0 is success."""

    over: bool
    """Whether the imagined episode has ended."""

    path: tuple[str, ...] = ()
    """The actions that lead here from the root of the search."""

    @property
    def solved(self) -> bool:
        """Whether the task is solved here."""
        return self.value >= 1.0

    @property
    def rank(self) -> tuple[float, bool, int]:
        """What a search prefers: the higher value; of equal ones an episode that can go on; then the shorter path."""
        return self.value, self.solved or not self.over, -len(self.path)

    @property
    def predicted(self) -> tuple[str, ...]:
        """What the world showed after each action of the path."""
        return tuple(self.episode.observations[len(self.episode.observations) - len(self.path) :])


class Try(NamedTuple):
    """An action that a search wants to have tried."""

    node: SearchNode
    """The state that it starts from."""

    action: str
    """The action."""


SearchRun = Generator[list[Try], list[SearchNode | None], SearchNode]
"""A search under way. It yields actions to try, is sent the states that they lead to (None where the world failed),
and returns the state that is best to go to."""
