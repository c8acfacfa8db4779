"""Recorded sessions of other systems: which are of a terminal."""

from __future__ import annotations

from agentworld_gym.recipe.importers.conversation import ImportedConversation
from agentworld_gym.recipe.importers.turns import has_keystrokes


def claim(conversation: ImportedConversation) -> float:
    """Say how surely a session is one of a terminal: keys are typed nowhere else.

    >>> claim(ImportedConversation("a", []))
    0.0
    """
    return 1.0 if has_keystrokes(conversation) else 0.0
