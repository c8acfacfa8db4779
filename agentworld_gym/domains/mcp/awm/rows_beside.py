"""What a language model that plays a world of AWM is shown beside a call: the rows that the call may touch."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.core.contracts import Action
from agentworld_gym.domains.mcp.awm.database import is_whole, touched
from agentworld_gym.domains.mcp.awm.world import AwmWorld
from agentworld_gym.worlds.language import Retrieval
from agentworld_gym.worlds.language_session import LanguageSession


@dataclass
class RowsBeside:
    """Shows beside each call of a large database the rows that it may touch.

    Args:
        truth: The world itself.
        also: What is shown besides.
    """

    truth: AwmWorld
    also: Retrieval | None = None

    @property
    def digest(self) -> str:
        """The digest of what is drawn from."""
        return f"{self.truth.engine.files.digest}+{getattr(self.also, 'digest', self.also)}"

    def __call__(self, session: LanguageSession, action: Action) -> str:
        """Return the text for one request; empty where the prompt holds the whole database."""
        stored = self.truth.engine.server(session.task.state["scenario"]).stored
        rows = "" if is_whole(stored) else touched(stored, action)
        shown = "" if self.also is None else self.also(session, action)
        return (f"\n\n{rows}" if rows else "") + shown
