"""The document of an editor window: its text, its name, and the steps that can be undone."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME
from agentworld_gym.kit.gui import Field

UNTITLED = "Untitled Document"
MAX_UNDO = 40


def remember(data: dict[str, Any]) -> None:
    """Keep the text before a change for undo, with the place where the changed piece ends."""
    field: Field = data["text"]
    if field.value != data["last"]:
        end = field.cursor + len(data["last"]) - len(field.value)
        data["undo"] = [*data["undo"], (data["last"], end)][-MAX_UNDO:]
        data["redo"] = []
        data["last"] = field.value


def is_changed(data: dict[str, Any]) -> bool:
    """Return whether a document differs from its file."""
    changed: bool = data["text"].value != data["saved"]
    return changed


def name_of(data: dict[str, Any]) -> str:
    """Return the name of a document."""
    name: str = data["path"].rpartition("/")[2]
    return name or UNTITLED


def title_of(data: dict[str, Any]) -> str:
    """Return the title of a document's window; a star marks unsaved changes."""
    folder = folder_of(data)
    short = "~" + folder[len(HOME) :] if folder.startswith(HOME) else folder
    suffix = f" ({short})" if data["path"] else ""
    return f"{'*' if is_changed(data) else ''}{name_of(data)}{suffix} - gedit"


def folder_of(data: dict[str, Any]) -> str:
    """Return the folder of a document; for one without a file, the suggested folder."""
    return data["path"].rpartition("/")[0] or f"{HOME}/Documents"
