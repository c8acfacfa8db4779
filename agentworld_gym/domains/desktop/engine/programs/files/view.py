"""The view of a folder window."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME, STANDARD, TRASH
from agentworld_gym.domains.desktop.engine.geometry import WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.files.listing import (
    listed_paths,
    parent,
    size_of,
    time_of,
    title_of,
)
from agentworld_gym.domains.desktop.engine.widgets import button, entry, item, label, spacer, toggle
from agentworld_gym.kit.gui import Widget, column, grid, row, scroll

SIDEBAR = 200
CELL = 144
_PLACES = (
    ("Recent", "recent"),
    ("Home", HOME),
    *((name, f"{HOME}/{name}") for name in STANDARD),
    ("Trash", TRASH),
    ("Computer", "/"),
)
_MAX_SHOWN = 300


def columns(window: Window) -> int:
    """Return the number of icons that fit side by side."""
    wide = WORK[2] if window["maximized"] else window["box"][2]
    return max(1, (wide - SIDEBAR - 20) // CELL)


def view(desktop: DesktopServices, window: Window) -> Widget:
    """Return the toolbar, the places and the folder."""
    data = window["data"]
    folder = data["folder"]
    paths: list[str] = desktop.ordered(listed_paths(desktop, window)[:_MAX_SHOWN])
    chosen = frozenset(data["selected"])
    if paths:
        content = (
            _icons(window, paths, chosen, desktop) if data["view"] == "icons" else _list(desktop, paths, chosen, data)
        )
    else:
        content = column(
            label("No Results Found" if data["search"] is not None else "Folder is Empty", height=40),
            padding=(20, 20),
            grow=1,
        )
    on: dict[str, Any] = {"click": ("select", ""), "right": ("menu", "folder")}
    if folder not in (TRASH, "recent"):
        on["drop"] = ("drop", folder)
    main = column(*_extra(data, folder), content, on=on, grow=1)
    return column(_toolbar(data, folder), row(_places(folder), main, grow=1))


def _toolbar(data: dict[str, Any], folder: str) -> Widget:
    if data["location"] is not None:
        path: list[Widget] = [
            entry("Location", data["location"], "location", enter=("located",), height=34, width=520, fill=False)
        ]
    else:
        path = [_crumb(place, place == folder) for place in _trail(folder)]
    return row(
        button("Back", ("back",), width=36, height=34, enabled=bool(data["back"])),
        button("Forward", ("forward",), width=36, height=34, enabled=bool(data["forward"])),
        Widget(shown=False, width=12),
        *path,
        spacer(),
        toggle("Search", data["search"] is not None, ("find",), "toggle search", width=36, height=34),
        button("View Options", ("menu", "view"), role="toggle-button", width=54, height=34),
        button("Open Menu", ("menu", "main"), width=36, height=34),
        height=46,
        gap=4,
        padding=(12, 0),
    )


def _crumb(place: str, here: bool) -> Widget:
    name = title_of(place)
    return toggle(name, here, ("go", place), f"crumb {place}", height=34, width=min(20 + 8 * len(name), 240))


def _trail(folder: str) -> list[str]:
    """Return the folders in the path bar: the last four from home or the root."""
    if folder in (TRASH, "recent", "/"):
        return [folder]
    trail = [folder]
    while trail[0] not in (HOME, "/"):
        trail.insert(0, parent(trail[0]))
    return trail[-4:]


def _places(folder: str) -> Widget:
    items = [
        item(
            name,
            ("go", path),
            path == folder,
            height=40,
            on={"drop": ("drop", path)} if path not in ("recent", TRASH, "/") else {},
        )
        for name, path in _PLACES
    ]
    return column(*items, width=SIDEBAR, fill=True)


def _extra(data: dict[str, Any], folder: str) -> list[Widget]:
    lines = []
    if data["search"] is not None:
        lines.append(
            row(
                entry("Search", data["search"], "search", changed=("searched",), height=34, grow=1),
                height=44,
                padding=(20, 0),
            )
        )
    if folder == TRASH:
        enabled = bool(data["selected"])
        restore = button("Restore", ("restore",), height=34, enabled=enabled)
        lines.append(row(spacer(), restore, button("Empty…", ("empty",), height=34), height=44, gap=8, padding=(20, 0)))
    return lines


def _gestures(desktop: DesktopServices, path: str) -> dict[str, Any]:
    on: dict[str, Any] = {
        "double": ("open", path),
        "right": ("menu", "item", path),
        "drag": ("drag", path),
        "ctrl+click": ("toggle", path),
        "shift+click": ("extend", path),
    }
    if desktop.files.is_folder(path):
        on["drop"] = ("drop", path)
    return on


def _icons(window: Window, paths: list[str], chosen: frozenset[str], desktop: DesktopServices) -> Widget:
    icons = [
        item(
            path.rpartition("/")[2],
            ("select", path),
            path in chosen,
            role="icon",
            on=_gestures(desktop, path),
            width=120,
            height=128,
        )
        for path in paths
    ]
    return scroll("folder", grid(columns(window), icons, gap=16), padding=(20, 16))


def _list(desktop: DesktopServices, paths: list[str], chosen: frozenset[str], data: dict[str, Any]) -> Widget:
    headers = row(
        button("Name", ("sort", "name"), "sort name", role="table-column-header", grow=1, height=30),
        button("Size", ("sort", "size"), "sort size", role="table-column-header", width=140, height=30),
        button("Modified", ("sort", "modified"), "sort modified", role="table-column-header", width=160, height=30),
        height=30,
    )
    lines = []
    for path in paths:
        selected = path in chosen
        lines.append(
            row(
                item(path.rpartition("/")[2], (), selected, role="table-cell", on={}, grow=1, height=34),
                Widget("table-cell", size_of(desktop, path), width=140, height=34),
                Widget("table-cell", time_of(desktop, path), width=160, height=34),
                height=34,
                on={"click": ("select", path), **_gestures(desktop, path)},
            )
        )
    for line in lines:
        line.children[0].on = {}
    return column(headers, scroll("folder", *lines), grow=1)
