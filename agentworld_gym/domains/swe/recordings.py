"""Recorded sessions of other systems: which are work on a repository."""

from __future__ import annotations

from agentworld_gym.recipe.importers.conversation import ImportedConversation

_SHELLS = {"bash", "Bash", "shell", "terminal", "execute_bash", "execute_code", "run_shell_command", "run_command"}
_FILES = {"read_file", "write_file", "edit", "edit_file", "patch", "str_replace_editor", "apply_patch"}
_FILES |= {"Read", "Write", "Edit", "MultiEdit"}


def claim(conversation: ImportedConversation) -> float:
    """Say how surely a session is work on a repository: agents of all kinds have a shell and read files.

    >>> claim(ImportedConversation("a", []))
    0.0
    """
    return 0.5 if conversation.called() & (_SHELLS | _FILES) else 0.0
