"""Recorded sessions of other systems: any may be of a tool server."""

from __future__ import annotations

from agentworld_gym.recipe.importers.conversation import ImportedConversation


def claim(conversation: ImportedConversation) -> float:
    """Say how surely a session is one of a tool server: any tool may be a server's, so others come first.

    >>> claim(ImportedConversation("a", []))
    0.1
    """
    return 0.1
