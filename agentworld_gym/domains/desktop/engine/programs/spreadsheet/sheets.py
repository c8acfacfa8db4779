"""Adding, renaming and deleting sheets; formulas are adjusted."""

from __future__ import annotations

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book, remember, show_sheet
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.file_formats import MAX_CELLS, MAX_SHEETS, empty_sheet
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import with_renamed_sheet
from agentworld_gym.kit.gui import copied


def add_sheet(book: Book, name: str, source: str = "") -> bool:
    """Append a sheet, empty or as a copy, and show it; False where the name is taken or there are too many."""
    if not name.strip() or _taken(book, name) or len(book["sheets"]) >= MAX_SHEETS or _unfit(name):
        return False
    size = sum(len(one["cells"]) for one in book["sheets"].values())
    if source and size + len(book["sheets"][source]["cells"]) > MAX_CELLS:
        return False
    remember(book)
    book["sheets"][name] = copied(book["sheets"][source]) if source else empty_sheet()
    show_sheet(book, name)
    return True


def rename_sheet(book: Book, old: str, name: str) -> bool:
    """Rename a sheet, also in formulas; False where the name is taken or invalid."""
    if not name.strip() or _unfit(name) or (_taken(book, name) and name.lower() != old.lower()):
        return False
    remember(book)
    book["sheets"] = {name if key == old else key: sheet for key, sheet in book["sheets"].items()}
    for sheet in book["sheets"].values():
        for cell, entry in sheet["cells"].items():
            if entry.startswith("="):
                sheet["cells"][cell] = "=" + with_renamed_sheet(entry[1:], old, name)
    if book["sheet"] == old:
        book["sheet"] = name
    return True


def delete_sheet(book: Book, name: str) -> bool:
    """Delete a sheet; False for the only one."""
    if len(book["sheets"]) < 2 or name not in book["sheets"]:
        return False
    remember(book)
    del book["sheets"][name]
    if book["sheet"] == name:
        show_sheet(book, next(iter(book["sheets"])))
    return True


def next_name(book: Book) -> str:
    """Return the default name of another sheet."""
    return next(f"Sheet{n}" for n in range(len(book["sheets"]) + 1, 1000) if not _taken(book, f"Sheet{n}"))


def _taken(book: Book, name: str) -> bool:
    return name.lower() in (other.lower() for other in book["sheets"])


def _unfit(name: str) -> bool:
    return len(name) > 31 or any(sign in name for sign in "[]*?:/\\")
