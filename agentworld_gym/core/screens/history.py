"""What an agent did and was shown in one session, and what is on its screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agentworld_gym.core.screens.sight import last_screen

A = TypeVar("A")
"""An action, as the text that the agent wrote or as its parser read it."""


@dataclass(slots=True)
class ScreenHistory(Generic[A]):
    """The turns of one session, and the screen on which the next action is done.

    >>> history = ScreenHistory[str]("web", "### Snapshot\\n- link \\"Cart\\" [ref=e4]")
    >>> history.append("click('e9')", "### Error")
    >>> history.screen, history.observation, history.next_turn
    ('### Snapshot\\n- link "Cart" [ref=e4]', '### Error', 2)
    """

    domain: str
    first: str
    """The observation before the first action."""

    turns: list[tuple[A, str]] = field(default_factory=list, init=False)
    """Each action with the observation that it led to."""

    screen: str = field(init=False)
    """The last observation; in a graphical domain the last one that shows a screen, if any does."""

    screen_before: str = field(init=False)
    """What `screen` was one turn earlier; before the first turn it is `screen` itself."""

    def __post_init__(self) -> None:
        self.screen = self.screen_before = self.first

    @property
    def observation(self) -> str:
        """The last observation."""
        return self.turns[-1][1] if self.turns else self.first

    @property
    def next_turn(self) -> int:
        """The number of the turn that comes next, counted from 1."""
        return len(self.turns) + 1

    def append(self, action: A, observation: str) -> None:
        """Add a turn."""
        self.turns.append((action, observation))
        self.screen_before, self.screen = self.screen, last_screen(self.domain, (self.screen, observation))

    def refuse(self, action: A, observation: str) -> None:
        """Add the turn of an action that was refused before it reached the world: the screen stays as it was."""
        self.turns.append((action, observation))

    def correct(self, observation: str) -> None:
        """Replace the last observation by another one.

        Raises:
            IndexError: There is no turn.
        """
        self.turns[-1] = (self.turns[-1][0], observation)
        self.screen = last_screen(self.domain, (self.screen_before, observation))

    def fold(self, observation: str) -> None:
        """Replace the last observation by what a look at the screen showed: see `sight.folds`."""
        if self.turns:
            self.correct(observation)
        else:
            self.first = self.screen = self.screen_before = observation

    def fork(self) -> ScreenHistory[A]:
        """Return a copy that goes its own way."""
        copy = ScreenHistory[A](self.domain, self.first)
        copy.turns = list(self.turns)
        copy.screen, copy.screen_before = self.screen, self.screen_before
        return copy
