"""The menus of a folder window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import TRASH
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Entry, Window

_SORTS = (
    ("A-Z", "name", False),
    ("Z-A", "name", True),
    ("Last Modified", "modified", True),
    ("First Modified", "modified", False),
    ("Size", "size", True),
    ("Type", "type", False),
)


def menu(desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]) -> Sequence[Entry]:
    """Return the menu of the toolbar, or of something in the folder."""
    data = window["data"]
    paths, _ = desktop.copied_files
    if name == "view":
        return (
            Entry("Icon View", ("show", "icons"), checked=data["view"] == "icons"),
            Entry("List View", ("show", "list"), checked=data["view"] == "list"),
            *(
                Entry(label, ("arrange", key, down), checked=(data["sort"], data["descending"]) == (key, down))
                for label, key, down in _SORTS
            ),
        )
    if name == "main":
        return (
            Entry("New Window", ("window",)),
            Entry("New Folder…", ("new-folder",)),
            Entry("Show Hidden Files", ("hidden",), checked=data["hidden"]),
            Entry("Select All", ("all",)),
            Entry("Paste", ("paste",), bool(paths)),
        )
    if name == "folder":
        if data["folder"] == TRASH:
            return (Entry("Empty Trash…", ("empty",)),)
        return (
            Entry("New Folder…", ("new-folder",)),
            Entry("New Document", ("new-document",)),
            Entry("Paste", ("paste",), bool(paths)),
            Entry("Select All", ("all",)),
            Entry("Open in Terminal", ("open-with", "terminal", (data["folder"],))),
            Entry("Properties", ("properties",)),
        )
    if name == "with":
        return tuple(
            Entry(label, ("open-with", program, tuple(data["selected"][:1])))
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
            Entry("Restore From Trash", ("restore",)),
            Entry("Delete Permanently", ("delete",)),
            Entry("Properties", ("properties",), one),
        )
    folder = desktop.files.is_folder(path)
    return (
        Entry("Open", ("open", *data["selected"])),
        Entry("Open With…", ("menu", "with"), one and not folder),
        Entry("Paste Into Folder", ("paste", path), folder and bool(paths)),
        Entry("Cut", ("cut",)),
        Entry("Copy", ("copy",)),
        Entry("Rename…", ("rename",), one),
        Entry("Move to Trash", ("trash",)),
        Entry("Move to…", ("move-to",)),
        Entry("Copy to…", ("copy-to",)),
        Entry("Properties", ("properties",), one),
    )
