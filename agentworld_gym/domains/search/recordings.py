"""Recorded sessions of other systems: which are searches."""

from __future__ import annotations

from agentworld_gym.recipe.importers.conversation import ImportedConversation

_TOOLS = {"web_search", "web_extractor", "dict_memory"}


def claim(conversation: ImportedConversation) -> float:
    """Say how surely a session is a search: its tools are AgentWorldBench's, and seldom another agent's.

    >>> claim(ImportedConversation("a", []))
    0.0
    """
    return 0.9 if conversation.called() & _TOOLS else 0.0
