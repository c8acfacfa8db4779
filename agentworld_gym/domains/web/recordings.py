"""Recorded sessions of other systems: which are of a browser."""

from __future__ import annotations

from agentworld_gym.recipe.importers.conversation import ImportedConversation


def claim(conversation: ImportedConversation) -> float:
    """Say how surely a session is one of a browser: its tools are Playwright's, which other agents may have as well.

    >>> claim(ImportedConversation("a", []))
    0.0
    """
    return 0.8 if any(name.startswith("browser_") for name in conversation.called()) else 0.0
