"""The structured state of an editor window: its text by what differs from its file, and the cursor by its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import FileSystem
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.programs.editor.document import title_of
from agentworld_gym.domains.desktop.engine.short_paths import full, replaced, replacement, short
from agentworld_gym.kit.gui import Field

Plain = dict[str, Any]


def visible_state(files: FileSystem, window: Window) -> Plain:
    """Return what the view reads of a document."""
    data = window["data"]
    field: Field = data["text"]
    told: Plain = {"path": short(data["path"])} if data["path"] else {}
    base = _base(files, data["path"])
    for key, text in (("text", field.value), ("saved", data["saved"])):
        if text != base:
            told[key] = replacement(base, text)
    if field.cursor:
        told["at"] = _place(field.value, field.cursor)
    if field.anchor != field.cursor:
        told["from"] = _place(field.value, field.anchor)
    told |= {key: data[key].value for key in ("find", "replace") if data[key] is not None}
    return told | {key: data[key] for key in ("top", "found") if data[key]}


def restored(files: FileSystem, told: Mapping[str, Any]) -> tuple[Plain, str]:
    """Return the data of an editor window, and its title."""
    path = full(told.get("path", ""))
    base = _base(files, path)
    text, saved = (replaced(base, told[key]) if key in told else base for key in ("text", "saved"))
    field = Field(multiline=True)
    field.value = text
    field.cursor = _offset(text, told["at"]) if "at" in told else 0
    field.anchor = _offset(text, told["from"]) if "from" in told else field.cursor
    data: Plain = {"path": path, "text": field, "saved": saved, "last": text, "top": int(told.get("top", 0))}
    data |= {key: Field(told[key]) if key in told else None for key in ("find", "replace")}
    data |= {"undo": [], "redo": [], "found": told.get("found", "")}
    return data, title_of(data)


def _base(files: FileSystem, path: str) -> str:
    node = files.nodes.get(path)
    return "" if node is None or node.content is None else node.content


def _place(text: str, offset: int) -> list[int]:
    """Return a place in a text as the status bar tells it: its line and its column, from 1."""
    before = text[:offset]
    return [before.count("\n") + 1, len(before) - before.rfind("\n")]


def _offset(text: str, place: list[int]) -> int:
    number, column = place
    lines = text.split("\n")
    if not 1 <= number <= len(lines) or not 1 <= column <= len(lines[number - 1]) + 1:
        raise ValueError(f"no place {place} in the text")
    return sum(len(line) + 1 for line in lines[: number - 1]) + column - 1
