"""The file chooser dialog."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME, STANDARD, FileSystem, absolute
from agentworld_gym.domains.desktop.engine.widgets import button, entry, item, label, spacer
from agentworld_gym.kit.gui import Field, Message, Widget, column, row, scroll

SIZE = (840, 560)
NAME = "Name"
_ACTIONS = {"open": "Open", "save": "Save", "folder": "Select"}


def new_dialog(
    files: FileSystem, mode: str, path: str, types: tuple[str, ...]
) -> tuple[dict[str, Field], dict[str, Any]]:
    """Return the text fields and the data of a file chooser dialog; see `DesktopServices.choose_file`."""
    path = absolute(path) if path else f"{HOME}/Documents"
    folder, name = (path, "") if files.is_folder(path) else (path.rpartition("/")[0] or "/", path.rpartition("/")[2])
    if not files.is_folder(folder):
        folder = HOME
    field = Field(name)
    field.anchor, field.cursor = 0, stem(name)
    return {NAME: field}, {"folder": folder, "selected": "", "mode": mode, "types": types, "replace": ""}


def stem(name: str) -> int:
    """Return the number of characters before the ending of a file's name.

    >>> stem("minutes.odt"), stem(".profile"), stem("notes")
    (7, 8, 5)
    """
    place = name.rfind(".")
    return place if place > 0 else len(name)


def listed(files: FileSystem, data: dict[str, Any]) -> list[str]:
    """Return the names in the folder: folders first, then the files of the wanted types."""
    folder, types = data["folder"], data["types"]
    if not files.is_folder(folder):
        return []
    names = [name for name in files.names(folder) if not name.startswith(".")]
    base = folder.rstrip("/")
    folder_names = [name for name in names if files.is_folder(f"{base}/{name}")]
    file_names = [name for name in names if not files.is_folder(f"{base}/{name}")]
    if data["mode"] == "folder":
        file_names = []
    elif types:
        file_names = [name for name in file_names if name.lower().endswith(types)]
    return sorted(folder_names, key=str.lower) + sorted(file_names, key=str.lower)


def view(files: FileSystem, dialog: dict[str, Any]) -> tuple[Widget, tuple[int, int]]:
    """Return the dialog as widgets, and its size."""
    data = dialog["data"]
    mode, folder = data["mode"], data["folder"]
    base = folder.rstrip("/")
    header = row(
        button("Cancel", ("dialog/cancel",), width=90, height=34),
        spacer(),
        label(dialog["title"], role="heading", height=34),
        spacer(),
        button(_ACTIONS[mode], ("chooser/accept",), width=90, height=34),
        height=46,
    )
    field = entry(NAME, dialog["entries"][NAME], NAME, enter=("chooser/accept",), grow=1, height=34)
    places = [
        item(name, ("chooser/go", path), path == folder, height=36, key=f"place {name}")
        for name, path in (("Home", HOME), *((name, f"{HOME}/{name}") for name in STANDARD))
    ]
    parts = [part for part in folder.split("/") if part]
    crumbs = [button("Computer", ("chooser/go", "/"), "crumb /", height=34)]
    for number in range(max(0, len(parts) - 4), len(parts)):
        crumbs.append(
            button(parts[number], ("chooser/go", "/" + "/".join(parts[: number + 1])), f"crumb {number}", height=34)
        )
    rows = [
        item(
            name,
            ("chooser/select", name),
            name == data["selected"],
            role="table-cell",
            on={"double": ("chooser/open", name)},
            height=28,
            key=f"file {name}",
            description="folder" if files.is_folder(f"{base}/{name}") else "",
        )
        for name in listed(files, data)
    ]
    replace: tuple[Widget, ...] = ()
    if data["replace"]:
        replace = (
            label(f"A file named “{data['replace']}” already exists. Do you want to replace it?", height=30),
            row(
                button("Keep", ("chooser/keep",), width=110, height=34),
                button("Replace", ("chooser/replace",), width=110, height=34),
                gap=8,
                height=40,
            ),
        )
    content = column(
        header,
        row(label("Name:", width=60, height=34), field, height=40),
        *replace,
        row(
            column(*places, width=160, fill=True),
            column(row(*crumbs, gap=4, height=40), scroll("list", *rows), grow=1),
            gap=12,
            grow=1,
        ),
        role="dialog",
        name=dialog["title"],
        padding=(12, 8),
        gap=4,
    )
    return content, SIZE


def update(files: FileSystem, dialog: dict[str, Any], message: Message) -> str | None:
    """Act on a message to the dialog, and return the path once one is chosen."""
    data, field = dialog["data"], dialog["entries"][NAME]
    name = message[0]
    dialog["version"] += 1
    if name == "chooser/go":
        _go(files, dialog, message[1])
    elif name == "chooser/select":
        data["selected"] = message[1]
        if data["mode"] != "folder":
            path = f"{data['folder'].rstrip('/')}/{message[1]}"
            if not files.is_folder(path):
                field.set(message[1])
    elif name == "chooser/open":
        path = f"{data['folder'].rstrip('/')}/{message[1]}"
        if files.is_folder(path):
            _go(files, dialog, path)
        else:
            field.set(message[1])
            return _accept(files, dialog)
    elif name == "chooser/accept":
        return _accept(files, dialog)
    elif name == "chooser/keep":
        data["replace"] = ""
    elif name == "chooser/replace":
        return absolute(field.value.strip(), data["folder"])
    return None


def _go(files: FileSystem, dialog: dict[str, Any], path: str) -> None:
    if files.is_folder(path):
        dialog["data"].update(folder=path, selected="", replace="")
        dialog["scroll"].clear()
        if dialog["data"]["mode"] == "open":
            dialog["entries"][NAME].set("")


def _accept(files: FileSystem, dialog: dict[str, Any]) -> str | None:
    data, field = dialog["data"], dialog["entries"][NAME]
    mode, text = data["mode"], field.value.strip()
    if not text:
        selected = data["selected"]
        path = absolute(selected, data["folder"]) if selected else data["folder"]
        if mode == "folder":
            return path
        if selected:
            _go(files, dialog, path)
        return None
    path = absolute(text, data["folder"])
    if files.is_folder(path):
        if mode == "folder":
            return path
        _go(files, dialog, path)
        return None
    if mode == "save":
        if files.exists(path) and data["replace"] != field.value:
            data["replace"] = text
            return None
        return path
    return path if mode == "open" and files.exists(path) else None
