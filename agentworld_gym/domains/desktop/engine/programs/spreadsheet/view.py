"""The view of the spreadsheet: its toolbars, its grid and its menus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import MenuEntry, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import MAX_COLUMNS, MAX_ROWS, letters
from agentworld_gym.domains.desktop.engine.widgets import button, entry, label, menu_bar, spacer, toggle
from agentworld_gym.kit.gui import Message, Widget, column, layers, row

ROW, COLUMN, HEAD = 24, 104, 44
"""Sizes in pixels: the height of a row, the width of a column, and the width of the row headers."""
BARS = TITLE + 30 + 36 + 36 + 34 + 26
"""The height of everything around the grid, including the title bar."""

MENUS = ("File", "Edit", "View", "Insert", "Format", "Sheet", "Data")

_TOOLBAR = (
    ("New", ("new",)),
    ("Open", ("open",)),
    ("Save", ("save",)),
    ("Cut", ("cut",)),
    ("Copy", ("copy",)),
    ("Paste", ("paste",)),
    ("Undo", ("undo",)),
    ("Redo", ("redo",)),
    ("Find & Replace", ("find",)),
    ("Sort Ascending", ("sort", False)),
    ("Sort Descending", ("sort", True)),
    ("AutoFilter", ("filter",)),
    ("Bold", ("bold",)),
)

_ENTRIES: Mapping[str, Sequence[MenuEntry]] = {
    "File": (
        MenuEntry("New", ("new",)),
        MenuEntry("Open...", ("open",)),
        MenuEntry("Save", ("save",)),
        MenuEntry("Save As...", ("save as",)),
        MenuEntry("Close", ("close",)),
    ),
    "Edit": (
        MenuEntry("Undo", ("undo",)),
        MenuEntry("Redo", ("redo",)),
        MenuEntry("Cut", ("cut",)),
        MenuEntry("Copy", ("copy",)),
        MenuEntry("Paste", ("paste",)),
        MenuEntry("Select All", ("select all",)),
        MenuEntry("Find & Replace...", ("find",)),
    ),
    "Insert": (MenuEntry("Sheet at End", ("add sheet",)), MenuEntry("Function SUM", ("function", "SUM"))),
    "Sheet": (
        MenuEntry("Insert Rows Above", ("insert", "row", 0)),
        MenuEntry("Insert Rows Below", ("insert", "row", 1)),
        MenuEntry("Insert Columns Before", ("insert", "column", 0)),
        MenuEntry("Insert Columns After", ("insert", "column", 1)),
        MenuEntry("Delete Rows", ("delete", "row")),
        MenuEntry("Delete Columns", ("delete", "column")),
        MenuEntry("Clear Cells", ("clear",)),
        MenuEntry("Fill Down", ("fill down",)),
        MenuEntry("Insert Sheet at End", ("add sheet",)),
        MenuEntry("Rename Sheet...", ("rename sheet",)),
        MenuEntry("Delete Sheet...", ("delete sheet",)),
    ),
    "Data": (
        MenuEntry("Sort Ascending", ("sort", False)),
        MenuEntry("Sort Descending", ("sort", True)),
        MenuEntry("AutoFilter", ("filter",)),
    ),
    "cell": (
        MenuEntry("Cut", ("cut",)),
        MenuEntry("Copy", ("copy",)),
        MenuEntry("Paste", ("paste",)),
        MenuEntry("Clear Contents", ("clear",)),
    ),
    "row": (
        MenuEntry("Insert Rows Above", ("insert", "row", 0)),
        MenuEntry("Insert Rows Below", ("insert", "row", 1)),
        MenuEntry("Delete Rows", ("delete", "row")),
        MenuEntry("Clear Contents", ("clear",)),
    ),
    "column": (
        MenuEntry("Insert Columns Before", ("insert", "column", 0)),
        MenuEntry("Insert Columns After", ("insert", "column", 1)),
        MenuEntry("Delete Columns", ("delete", "column")),
        MenuEntry("Clear Contents", ("clear",)),
    ),
    "tab": (
        MenuEntry("Insert Sheet at End", ("add sheet",)),
        MenuEntry("Delete Sheet...", ("delete sheet",)),
        MenuEntry("Rename Sheet...", ("rename sheet",)),
        MenuEntry("Duplicate Sheet", ("copy sheet",)),
    ),
}


def menu_entries(book: Book, name: str, arguments: Sequence[Any]) -> Sequence[MenuEntry]:
    """Return the entries of a menu."""
    if name == "Format":
        cell = document.named(*book["cursor"])
        form = document.current_sheet(book)["formats"].get(cell, "General")
        formats = [MenuEntry(f"Number {one}", ("format", one), checked=one == form) for one in document.FORMATS]
        return [MenuEntry("Bold", ("bold",), checked=cell in document.current_sheet(book)["bold"]), *formats]
    if name == "View":
        return [MenuEntry(f"Go to {sheet}", ("sheet", sheet)) for sheet in book["sheets"]]
    if name == "values" and arguments:
        return _filter_entries(book, int(arguments[0]))
    if name == "Edit":
        able = {"Undo": bool(book["_undo"]), "Redo": bool(book["_redo"])}
        return [one._replace(enabled=able.get(one.label, True)) for one in _ENTRIES[name]]
    return _ENTRIES.get(name, ())


def _filter_entries(book: Book, of: int) -> list[MenuEntry]:
    sheet_filter = document.current_sheet(book)["filter"]
    if not sheet_filter:
        return []
    top, _, bottom, _ = sheet_filter["area"]
    only = sheet_filter["only"].get(str(of))
    choices = dict.fromkeys(sorted({document.displayed_at(book, (line, of)) for line in range(top + 1, bottom + 1)}))
    values = [MenuEntry(value or "(empty)", ("only", of, value), checked=value == only) for value in list(choices)[:30]]
    return [
        MenuEntry("Sort Ascending", ("sort column", of, False)),
        MenuEntry("Sort Descending", ("sort column", of, True)),
        MenuEntry("All", ("only", of, None), checked=only is None),
        *values,
    ]


def grid_size(window: Window) -> tuple[int, int]:
    """Return the number of rows and columns in the grid of a window."""
    _, _, width, height = WORK if window["maximized"] else window["box"]
    return max((height - BARS - ROW) // ROW, 1), max((width - HEAD) // COLUMN, 1)


def view(window: Window) -> Widget:
    """Return the content of a window."""
    book = window["data"]
    rows, columns = grid_size(window)
    tools = row(*[button(name, message, key=f"tool {name}") for name, message in _TOOLBAR], height=36, padding=(4, 1))
    line = row(
        entry("Name Box", book["name_box"], enter=("go",), width=120),
        button("Sum", ("function", "SUM"), key="tool Sum"),
        entry("Input line", book["edit"], changed=("changed",), grow=1),
        height=36,
        padding=(4, 1),
        gap=4,
    )
    tabs = [
        toggle(
            name,
            name == book["sheet"],
            ("sheet", name),
            key=f"tab {name}",
            role="page-tab",
            height=30,
        )
        for name in book["sheets"]
    ]
    for tab in tabs:
        tab.on = {**tab.on, "right": ("menu", "tab", tab.name), "double": ("rename sheet",)}
    numbers = f"Sheet {list(book['sheets']).index(book['sheet']) + 1} of {len(book['sheets'])}"
    return column(
        menu_bar(MENUS),
        tools,
        line,
        _grid(book, columns, rows),
        row(*tabs, button("Add Sheet", ("add sheet",)), height=34, padding=(4, 2)),
        row(label(numbers), spacer(), label(document.summary(book)), height=26, padding=(8, 0)),
    )


def visible_indices(book: Book, rows: int) -> list[int]:
    """Return the visible rows, from the first one on."""
    hidden = document.hidden_rows(book)
    indices: list[int] = []
    line = book["top"]
    while len(indices) < rows and line < MAX_ROWS:
        if line not in hidden:
            indices.append(line)
        line += 1
    return indices


def _grid(book: Book, columns: int, rows: int) -> Widget:
    """Return headers and cells as far as the sheet is used, and one beyond; other clicks are found by their place."""
    used_rows, used_columns = document.used_size(book)
    cursor = tuple(book["cursor"])
    last_row, last_column = max(used_rows, cursor[0]), max(used_columns, cursor[1])
    left = book["left"]
    across = [c for c in range(left, min(left + columns, MAX_COLUMNS)) if c <= last_column]
    lines = visible_indices(book, rows)
    box = document.selected_area(book)
    children = [
        Widget(
            "column-header",
            letters(c),
            on=_heads("column", c),
            flags=("selected",) if box[1] <= c <= box[3] and box[2] == MAX_ROWS - 1 else (),
            at=(HEAD + (c - left) * COLUMN, 0),
            width=COLUMN,
            height=ROW,
        )
        for c in across
    ]
    filters = document.current_sheet(book)["filter"]
    texts = document.values(book)[book["sheet"]]
    formats = document.current_sheet(book)["formats"]
    for index, line in enumerate(lines):
        if line > last_row:
            break
        y = (index + 1) * ROW
        in_rows = box[0] <= line <= box[2]
        full = in_rows and box[3] == MAX_COLUMNS - 1
        children.append(
            Widget(
                "row-header",
                str(line + 1),
                on=_heads("row", line),
                flags=("selected",) if full else (),
                at=(0, y),
                width=HEAD,
                height=ROW,
            )
        )
        for c in across:
            name = document.named(line, c)
            if book["editing"] and cursor == (line, c):
                text = book["edit"].value
            else:
                text = document.formatted_value(texts.get((line, c)), formats.get(name, "General"))
            children.append(
                Widget(
                    "table-cell",
                    name,
                    text,
                    on=_inputs(line, c),
                    flags=("selected",) if in_rows and box[1] <= c <= box[3] else (),
                    at=(HEAD + (c - left) * COLUMN, y),
                    width=COLUMN,
                    height=ROW,
                )
            )
            if filters and line == filters["area"][0] and filters["area"][1] <= c <= filters["area"][3]:
                children.append(
                    Widget(
                        "push-button",
                        f"AutoFilter {letters(c)}",
                        on={"click": ("menu", "values", c)},
                        at=(HEAD + (c - left + 1) * COLUMN - 22, y + 2),
                        width=20,
                        height=20,
                    )
                )
    return layers(
        *children,
        role="table",
        name=book["sheet"],
        key="grid",
        flags=("focusable",),
        on={"point": ("at",), "scroll": ("scroll",)},
        height=ROW,  # The cell grows; without a height, all cells would be measured.
        grow=1,
    )


@lru_cache(maxsize=8192)
def _inputs(line: int, of: int) -> Mapping[str, Message]:
    return MappingProxyType(
        {
            "click": ("select", line, of),
            "shift+click": ("extend", line, of),
            "double": ("edit", line, of),
            "right": ("menu", "cell", line, of),
            "drag": ("drag", line, of),
            "drop": ("drop", line, of),
        }
    )


@lru_cache(maxsize=2048)
def _heads(axis: str, place: int) -> Mapping[str, Message]:
    return MappingProxyType(
        {
            "click": ("head", axis, place),
            "shift+click": ("head to", axis, place),
            "right": ("menu", axis, place),
        }
    )
