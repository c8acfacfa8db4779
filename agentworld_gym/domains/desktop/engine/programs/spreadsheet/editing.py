"""The commands of the menus and the toolbar on cells and sheets; each function acts on one message."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, file_formats, sheets
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Area, Book
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import MAX_COLUMNS, MAX_ROWS, Axis
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.selection import LINE, go, reveal


def function(desktop: DesktopServices, window: Window, name: str) -> None:
    """Begin a formula with a function over the numbers above the cursor, or left of it."""
    book = window["data"]
    line, column = book["cursor"]
    filled = document.values(book)[book["sheet"]]
    top = line
    while isinstance(filled.get((top - 1, column)), float):
        top -= 1
    left = column
    while top == line and isinstance(filled.get((line, left - 1)), float):
        left -= 1
    inside = ""
    if top < line:
        inside = f"{document.named(top, column)}:{document.named(line - 1, column)}"
    elif left < column:
        inside = f"{document.named(line, left)}:{document.named(line, column - 1)}"
    book["edit"].set(f"={name}({inside})")
    book["editing"] = "edit"
    desktop.focus(window, LINE)


def copy(desktop: DesktopServices, window: Window, moved: bool = False) -> None:
    """Copy the selection: as text to the clipboard, with its formulas for the next paste."""
    book = window["data"]
    top, left, bottom, right = _used_area(book)
    desktop.clipboard = selected_text(book)
    block = tuple(tuple(document.entry_at(book, (line, c)) for c in range(left, right + 1)) for line in _lines(book))
    book["copied"] = (desktop.clipboard, block, (top, left), (book["sheet"], bottom, right) if moved else None)


def selected_text(book: Book) -> str:
    """Return the selection as lines with tabs between the cells."""
    _, left, _, right = _used_area(book)
    across = range(left, right + 1)
    return "\n".join(["\t".join([document.displayed_at(book, (line, c)) for c in across]) for line in _lines(book)])


def _used_area(book: Book) -> Area:
    """Return the selected area without what lies beyond the last cell."""
    top, left, bottom, right = document.selected_area(book)
    rows, columns = document.used_size(book)
    return top, left, max(min(bottom, rows - 1), top), max(min(right, columns - 1), left)


def _lines(book: Book) -> list[int]:
    """Return the selected lines that no filter hides."""
    top, _, bottom, _ = _used_area(book)
    hidden = document.hidden_rows(book)
    return [line for line in range(top, bottom + 1) if line not in hidden]


def paste(desktop: DesktopServices, window: Window) -> None:
    """Paste at the selection. The formulas of copied cells are adjusted; those of moved cells stay."""
    book = window["data"]
    copied = book["copied"]
    if copied is None or copied[0] != desktop.clipboard:
        if desktop.clipboard:
            document.paste(book, file_formats.rows_of(desktop.clipboard, "\t"), None)
        return
    _, block, origin, source = copied
    top, left = document.selected_area(book)[:2]
    if source:
        # Moved cells keep their formulas; moving and emptying the old cells is one change.
        sheet, bottom, right = source
        gone = {(r, c): "" for r in range(origin[0], bottom + 1) for c in range(origin[1], right + 1)}
        entries = {(top + i, left + j): entry for i, line in enumerate(block) for j, entry in enumerate(line)}
        if sheet == book["sheet"]:
            document.put(book, {**gone, **entries})
        else:
            document.put(book, entries)
            if sheet in book["sheets"]:
                document.put(book, gone, sheet)
        book["copied"] = None
    else:
        document.paste(book, block, origin)
    book["anchor"] = [top, left]
    book["cursor"] = [top, left]


def clear(desktop: DesktopServices, window: Window) -> None:
    """Empty the selected cells."""
    book = window["data"]
    document.put(book, dict.fromkeys(document.filled_cells(book, document.selected_area(book)), ""))


def select_all(desktop: DesktopServices, window: Window) -> None:
    """Select the whole sheet."""
    window["data"].update(cursor=[0, 0], anchor=[MAX_ROWS - 1, MAX_COLUMNS - 1])


def insert(desktop: DesktopServices, window: Window, axis: Axis, after: int) -> None:
    """Insert as many rows or columns as are selected."""
    book = window["data"]
    top, left, bottom, right = document.selected_area(book)
    first, last = (top, bottom) if axis == "row" else (left, right)
    if not document.insert(book, axis, last + 1 if after else first, last - first + 1):
        desktop.dialog(window, "LibreOffice Calc", "Filled cells cannot be shifted beyond the sheet.")


def delete(desktop: DesktopServices, window: Window, axis: Axis) -> None:
    """Delete the selected rows or columns."""
    book = window["data"]
    top, left, bottom, right = document.selected_area(book)
    first, last = (top, bottom) if axis == "row" else (left, right)
    document.insert(book, axis, first, first - last - 1)
    go(book, top if axis == "row" else 0, 0 if axis == "row" else left)


def sort(desktop: DesktopServices, window: Window, descending: bool) -> None:
    """Sort the selection by its first column, or the block at the cursor by the cursor's column."""
    book = window["data"]
    box, column = document.selected_area(book), document.selected_area(book)[1]
    if box[:2] == box[2:]:
        sheet_filter = book["sheets"][book["sheet"]]["filter"]
        box = tuple(sheet_filter["area"]) if sheet_filter else document.region_around(book, tuple(book["cursor"]))
    box = (
        box[0],
        box[1],
        min(box[2], document.used_size(book)[0] - 1),
        min(box[3], max(document.used_size(book)[1] - 1, box[1])),
    )
    if document.has_header(book, box):
        box = (box[0] + 1, *box[1:])
    if box[2] > box[0]:
        document.sort(book, box, column, descending)


def sort_column(desktop: DesktopServices, window: Window, column: int, descending: bool) -> None:
    """Sort the filtered block by a column."""
    book = window["data"]
    sheet_filter = document.current_sheet(book)["filter"]
    if sheet_filter:
        top, left, bottom, right = sheet_filter["area"]
        document.sort(book, (top + 1, left, bottom, right), column, descending)


def only(desktop: DesktopServices, window: Window, column: int, value: str | None) -> None:
    """Show only the rows with a value in a column; None shows all rows."""
    book = window["data"]
    sheet_filter = document.current_sheet(book)["filter"]
    if sheet_filter:
        document.remember(book)
        only = {key: wanted for key, wanted in sheet_filter["only"].items() if key != str(column)}
        document.current_sheet(book)["filter"] = {
            **sheet_filter,
            "only": {**only, str(column): value} if value is not None else only,
        }


def toggle_filter(desktop: DesktopServices, window: Window) -> None:
    """Add filters to the block at the cursor, or remove them."""
    document.toggle_filter(window["data"])


def find(desktop: DesktopServices, window: Window) -> None:
    """Open the dialog for finding and replacing."""
    desktop.dialog(
        window,
        "Find & Replace",
        "",
        (("cancel", "Close"), ("all", "Replace All"), ("next", "Find Next")),
        ("found",),
        {"Find": window["data"]["search"], "Replace": ""},
    )


def found(desktop: DesktopServices, window: Window, pressed: str, entries: Sequence[str]) -> None:
    """Carry out a button of the dialog Find & Replace: go to the next cell with the text, or replace all of it."""
    book = window["data"]
    if pressed not in ("all", "next"):
        return
    query, by = entries
    book["search"] = query
    if pressed == "all":
        count = document.replace_all(book, query, by)
        desktop.dialog(window, "Find & Replace", f"Replaced {count} cells." if count else "Search key not found.")
    else:
        place = document.find(book, query)
        if place is None:
            desktop.dialog(window, "Find & Replace", "Search key not found.")
        else:
            go(book, *place)
            reveal(window)
    window["focus"] = "grid"


def add_sheet(desktop: DesktopServices, window: Window) -> None:
    """Add an empty sheet."""
    sheets.add_sheet(window["data"], sheets.next_name(window["data"]))


def copy_sheet(desktop: DesktopServices, window: Window) -> None:
    """Add a copy of the current sheet."""
    book = window["data"]
    sheets.add_sheet(book, f"{book['sheet'][:27]}_2", book["sheet"])


def rename_sheet(desktop: DesktopServices, window: Window) -> None:
    """Ask for another name of the current sheet."""
    name = window["data"]["sheet"]
    buttons = (("cancel", "Cancel"), ("ok", "OK"))
    desktop.dialog(window, "Rename Sheet", "", buttons, ("renamed", name), {"Name": name})


def renamed(desktop: DesktopServices, window: Window, old: str, pressed: str, entries: Sequence[str]) -> None:
    """Rename a sheet to the name that was entered."""
    if pressed != "ok" or entries[0] == old:
        return
    if old not in window["data"]["sheets"] or not sheets.rename_sheet(window["data"], old, entries[0]):
        desktop.dialog(window, "LibreOffice Calc", "Invalid sheet name.")


def delete_sheet(desktop: DesktopServices, window: Window) -> None:
    """Ask whether to delete the current sheet."""
    book = window["data"]
    if len(book["sheets"]) > 1:
        question = "Are you sure you want to delete the selected sheet?"
        buttons = (("cancel", "No"), ("ok", "Yes"))
        desktop.dialog(window, "Delete Sheet", question, buttons, ("deleted", book["sheet"]))


def deleted(desktop: DesktopServices, window: Window, name: str, pressed: str, *_: object) -> None:
    """Delete a sheet once that is confirmed."""
    if pressed == "ok":
        sheets.delete_sheet(window["data"], name)


def set_format(desktop: DesktopServices, window: Window, form: str) -> None:
    """Set the number format of the selection."""
    document.set_format(window["data"], form)


def undo(desktop: DesktopServices, window: Window) -> None:
    """Undo the last change."""
    document.undo(window["data"])


def redo(desktop: DesktopServices, window: Window) -> None:
    """Redo the change that was undone last."""
    document.redo(window["data"])


def bold(desktop: DesktopServices, window: Window) -> None:
    """Make the selection bold, or plain again."""
    document.toggle_bold(window["data"])


def cut(desktop: DesktopServices, window: Window) -> None:
    """Copy the selection, so that the next paste moves it."""
    copy(desktop, window, moved=True)


def fill_down(desktop: DesktopServices, window: Window) -> None:
    """Copy the first selected row into the others."""
    document.fill_down(window["data"])
