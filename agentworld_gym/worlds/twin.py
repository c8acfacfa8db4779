"""The twin of a dreamed episode: the same actions in a grounded world."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentworld_gym.core.contracts import Observation
from agentworld_gym.worlds.grounded import GroundedSession


@dataclass
class Twin:
    """A grounded session, which was given the first of a dreamed episode's actions."""

    session: GroundedSession
    """The session."""

    turns: int = 0
    """How many turns of the dreamed episode were played in it."""

    shown: Observation | None = None
    """What the last of them showed, where it was played before the dreamed episode had it."""

    def fork(self) -> Twin:
        """Return an exact copy that goes its own way."""
        return replace(self, session=self.session.fork())

    def calm(self) -> None:
        """Go on in a copy to test success on, in which no control strikes."""
        acted, self.session = self.session, self.session.probe()
        acted.close()

    def close(self) -> None:
        """Free the machine."""
        self.session.close()
