"""The menus of a folder window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import TRASH
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Window

_SORTS = (
    ("A-Z", "name", False),
    ("Z-A", "name", True),
    ("Last Modified", "modified", True),
    ("First Modified", "modified", False),
    ("Size", "size", True),
    ("Type", "type", False),
)


def menu(desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]) -> Sequence[MenuEntry]:
    """Return the menu of the toolbar, or of something in the folder."""
    data = window["data"]
    paths, _ = desktop.copied_files
    if name == "view":
        return (
            MenuEntry("Icon View", ("show", "icons"), checked=data["view"] == "icons"),
            MenuEntry("List View", ("show", "list"), checked=data["view"] == "list"),
            *(
                MenuEntry(label, ("arrange", key, down), checked=(data["sort"], data["descending"]) == (key, down))
                for label, key, down in _SORTS
            ),
        )
    if name == "main":
        return (
            MenuEntry("New Window", ("window",)),
            MenuEntry("New Folder…", ("new-folder",)),
            MenuEntry("Show Hidden Files", ("hidden",), checked=data["hidden"]),
            MenuEntry("Select All", ("all",)),
            MenuEntry("Paste", ("paste",), bool(paths)),
        )
    if name == "folder":
        if data["folder"] == TRASH:
            return (MenuEntry("Empty Trash…", ("empty",)),)
        return (
            MenuEntry("New Folder…", ("new-folder",)),
            MenuEntry("New Document", ("new-document",)),
            MenuEntry("Paste", ("paste",), bool(paths)),
            MenuEntry("Select All", ("all",)),
            MenuEntry("Open in Terminal", ("open-with", "terminal", (data["folder"],))),
            MenuEntry("Properties", ("properties",)),
        )
    if name == "with":
        return tuple(
            MenuEntry(label, ("open-with", program, tuple(data["selected"][:1])))
            for program, label in (
                ("editor", "Text Editor"),
                ("spreadsheet", "LibreOffice Calc"),
                ("viewer", "Document Viewer"),
            )
        )
    if name != "item":
        return ()
    path = arguments[0]
    if path not in data["selected"]:
        data["selected"] = [path]
        desktop.touch(window)
    one = len(data["selected"]) == 1
    if data["folder"] == TRASH:
        return (
            MenuEntry("Restore From Trash", ("restore",)),
            MenuEntry("Delete Permanently", ("delete",)),
            MenuEntry("Properties", ("properties",), one),
        )
    folder = desktop.files.is_folder(path)
    return (
        MenuEntry("Open", ("open", *data["selected"])),
        MenuEntry("Open With…", ("menu", "with"), one and not folder),
        MenuEntry("Paste Into Folder", ("paste", path), folder and bool(paths)),
        MenuEntry("Cut", ("cut",)),
        MenuEntry("Copy", ("copy",)),
        MenuEntry("Rename…", ("rename",), one),
        MenuEntry("Move to Trash", ("trash",)),
        MenuEntry("Move to…", ("move-to",)),
        MenuEntry("Copy to…", ("copy-to",)),
        MenuEntry("Properties", ("properties",), one),
    )
