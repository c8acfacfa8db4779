"""The structured state of a spreadsheet: sheets as objects, and a document by what differs from its file."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

from agentworld_gym.domains.desktop.engine.differences import patch, patched
from agentworld_gym.domains.desktop.engine.filesystem import FileSystem
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, file_formats, saving, selection
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.file_formats import Sheet
from agentworld_gym.domains.desktop.engine.short_paths import full, short
from agentworld_gym.kit.gui import Field, copied

Plain = dict[str, Any]
_FIRST = "A1"
_UNTITLED = "/Untitled 1.ods"


def is_spreadsheet(path: str) -> bool:
    """Return whether a file is one, by its name."""
    return saving.ending(path) in saving.TYPES


def sheets_told(path: str, text: str) -> Plain:
    """Return the sheets of a file as plain data.

    >>> sheets_told("/tmp/a.csv", "Item,Price\\nLamp,20\\n")
    {'Sheet1': {'A1': 'Item', 'B1': 'Price', 'A2': 'Lamp', 'B2': '20'}}
    """
    return deepcopy(_sheets_told(saving.ending(path), text))


@lru_cache(maxsize=256)
def _sheets_told(ending: str, text: str) -> Plain:
    return {name: _visible_sheet(sheet) for name, sheet in file_formats.read(text, ending).items()}


def text_of_sheets(path: str, told: Mapping[str, Any]) -> str:
    """Return the text of a file with these sheets, as the spreadsheet writes it."""
    sheets = {name: _sheet(sheet) for name, sheet in told.items()}
    if saving.ending(path) == ".csv":
        return file_formats.write_csv(next(iter(sheets.values()))["cells"])
    return file_formats.write_ods(sheets)


def saved_sheets(book: Book) -> Plain:
    """Return the sheets of the file of a document as plain data, as they are once it is saved."""
    path = book["path"] or _UNTITLED
    return sheets_told(path, saving.document_text(book, path))


def _visible_sheet(sheet: Sheet) -> Plain:
    parts = (("formats", dict(sheet["formats"])), ("bold", sorted(sheet["bold"])), ("filter", copied(sheet["filter"])))
    return {**sheet["cells"], **{name: part for name, part in parts if part}}


def _sheet(told: Mapping[str, Any]) -> Sheet:
    cells = {name: str(text) for name, text in told.items() if name not in ("formats", "bold", "filter")}
    return {
        "cells": cells,
        "formats": dict(told.get("formats", {})),
        "bold": set(told.get("bold", ())),
        "filter": copied(told.get("filter", {})),
    }


def visible_state(files: FileSystem, window: Window) -> Plain:
    """Return what the view reads of a document."""
    book = window["data"]
    told: Plain = {"path": short(book["path"])} if book["path"] else {}
    base, now = _base(files, book["path"]), {name: _visible_sheet(sheet) for name, sheet in book["sheets"].items()}
    if edits := patch(base, now):
        told["edits"] = edits
    if list(patched(base, edits)) != list(now):
        told["order"] = list(now)
    if book["sheet"] != next(iter(now)):
        told["sheet"] = book["sheet"]
    for key, place in (("at", book["cursor"]), ("from", book["anchor"])):
        name = document.named(*place)
        if name != (_FIRST if key == "at" else told.get("at", _FIRST)):
            told[key] = name
    if book["editing"]:
        told["typed"] = book["edit"].value
        if book["editing"] != "type":
            told["editing"] = book["editing"]
    elif book["edit"].value != document.entry_at(book, tuple(book["cursor"])):
        told["line"] = book["edit"].value
    if book["name_box"].value != selection.area_name(book):
        told["name"] = book["name_box"].value
    return told | {key: book[key] for key in ("top", "left", "unsaved") if book[key]}


def restored(files: FileSystem, told: Mapping[str, Any]) -> tuple[Book, str]:
    """Return the document of a structured state, and the title of its window."""
    path = full(told.get("path", ""))
    sheets = patched(_base(files, path), told.get("edits", {}))
    book = document.new_document({name: _sheet(sheets[name]) for name in told.get("order", sheets)})
    book.update(path=path, editing="", entry_column=None, copied=None, search="", edit=Field(), name_box=Field())
    book.update(top=int(told.get("top", 0)), left=int(told.get("left", 0)), unsaved=bool(told.get("unsaved")))
    book["sheet"] = told.get("sheet", book["sheet"])
    cursor = told.get("at", _FIRST)
    book["cursor"], book["anchor"] = _place(cursor), _place(told.get("from", cursor))
    if "typed" in told:
        book["editing"], book["edit"] = told.get("editing", "type"), Field(told["typed"])
    else:
        book["edit"] = Field(told.get("line", document.entry_at(book, tuple(book["cursor"]))))
    book["name_box"] = Field(told.get("name", selection.area_name(book)))
    return book, selection.title(book) + selection.SUFFIX


def _base(files: FileSystem, path: str) -> Plain:
    """Return the sheets of the file of a document; one empty sheet where there is none."""
    node = files.nodes.get(path)
    if node is None or node.content is None:
        return {"Sheet1": {}}
    return sheets_told(path, node.content)


def _place(name: str) -> list[int]:
    place = document.at(name)
    if place is None:
        raise ValueError(f"no cell {name!r}")
    return list(place)
