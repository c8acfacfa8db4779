"""The cursor and the selection in the grid, and the keys that move them."""

from __future__ import annotations

from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, view
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import MAX_COLUMNS, MAX_ROWS

LINE = "Input line"
SUFFIX = " - LibreOffice Calc"

_MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def title(book: Book) -> str:
    """Return the name of the document."""
    return book["path"].rpartition("/")[2] or "Untitled 1"


def settle(window: Window) -> None:
    """Let the toolbars and the view follow the cursor."""
    book = window["data"]
    window["title"] = title(book) + SUFFIX
    if not book["editing"]:
        entry = document.entry_at(book, tuple(book["cursor"]))
        if book["edit"].value != entry:
            book["edit"].set(entry)
        if window["focus"] != "Name Box":
            book["name_box"].set(area_name(book))


def area_name(book: Book) -> str:
    """Return the name of the selected area, such as `B2:C9`."""
    top, left, bottom, right = document.selected_area(book)
    first = document.named(top, left)
    return first if (top, left) == (bottom, right) else f"{first}:{document.named(bottom, right)}"


def reveal(window: Window) -> None:
    """Scroll so far that the cursor is visible."""
    book = window["data"]
    line, column = book["cursor"]
    rows, columns = view.grid_size(window)
    seen = view.visible_indices(book, rows)
    if line < book["top"]:
        book["top"] = line
    elif seen and line > seen[-1]:
        # Rows that a filter hides take no room, so this may scroll too far, but never too little.
        book["top"] = max(line - rows + 1, 0)
    if column < book["left"]:
        book["left"] = column
    elif column >= book["left"] + columns:
        book["left"] = column - columns + 1


def go(book: Book, line: int, column: int, extend: bool = False) -> None:
    """Put the cursor on a cell; with `extend`, the selection grows to it."""
    book["cursor"] = [min(max(line, 0), MAX_ROWS - 1), min(max(column, 0), MAX_COLUMNS - 1)]
    if not extend:
        book["anchor"] = list(book["cursor"])
        book["entry_column"] = None


def commit(book: Book) -> None:
    """Enter the typed text."""
    if book["editing"]:
        book["editing"] = ""
        document.put(book, {tuple(book["cursor"]): book["edit"].value})


def _step(book: Book, rows: int, columns: int) -> tuple[int, int]:
    """Return the next cell in a direction, past the rows that a filter hides."""
    line, column = book["cursor"]
    hidden = document.hidden_rows(book)
    line += rows
    while line in hidden:
        line += rows
    return line, column + columns


def _jump(book: Book, rows: int, columns: int) -> tuple[int, int]:
    """Return the end of the block of filled cells in a direction, or the next filled cell."""
    filled = document.values(book)[book["sheet"]]
    line, column = book["cursor"]
    inside = (line, column) in filled and (line + rows, column + columns) in filled
    while True:
        following = line + rows, column + columns
        if not (0 <= following[0] < MAX_ROWS and 0 <= following[1] < MAX_COLUMNS):
            return line, column
        if inside and following not in filled:
            return line, column
        line, column = following
        if not inside and following in filled:
            return line, column


def editing_key(desktop: DesktopServices, window: Window, combo: str) -> bool:
    """Act on a key while text is typed into a cell; return whether the key means more than its text."""
    book = window["data"]
    typing = book["editing"] == "type"
    if combo == "esc":
        book["editing"] = ""
        window["focus"] = "grid"
    elif combo in ("enter", "return", "shift+enter", "tab", "shift+tab") or (typing and combo in _MOVES):
        commit(book)
        window["focus"] = "grid"
        return grid_key(desktop, window, combo)
    elif combo == "f2":
        book["editing"] = "edit"
    else:
        return False
    settle(window)
    return True


def grid_key(desktop: DesktopServices, window: Window, combo: str) -> bool:
    """Act on a key that moves the cursor; False for any other key."""
    book = window["data"]
    *modifiers, key = combo.split("+") if combo != "+" else ["+"]
    extend = "shift" in modifiers
    rows, _ = view.grid_size(window)
    last = document.used_size(book)
    line, column = book["cursor"]
    if set(modifiers) - {"shift", "ctrl"}:
        return False
    if key in _MOVES:
        target = (_jump if "ctrl" in modifiers else _step)(book, *_MOVES[key])
    elif key in ("pagedown", "pgdn", "pageup", "pgup"):
        target = line + (rows if key in ("pagedown", "pgdn") else -rows), column
    elif key == "home":
        target = (0 if "ctrl" in modifiers else line), 0
    elif key == "end":
        target = (max(last[0] - 1, 0) if "ctrl" in modifiers else line), max(last[1] - 1, 0)
    elif key == "space" and modifiers:
        head(desktop, window, "row" if extend else "column", line if extend else column)
        settle(window)
        return True
    elif key in ("enter", "return", "tab"):
        start = book["entry_column"]
        back = -1 if extend else 1
        if key == "tab":
            go(book, *_step(book, 0, back))
            book["entry_column"] = column if start is None else start
        else:
            line, column = _step(book, back, 0)
            go(book, line, column if start is None else start)
        reveal(window)
        settle(window)
        return True
    else:
        return False
    go(book, *target, extend=extend)
    reveal(window)
    settle(window)
    return True


def select(desktop: DesktopServices, window: Window, line: int, column: int) -> None:
    """Select a cell. While a formula is typed that expects a value, insert the cell's name into it."""
    book = window["data"]
    if book["editing"]:
        value = book["edit"].value
        if value.startswith("=") and value[-1] in "=+-*/^&(;,:<>":
            book["edit"].insert(document.named(line, column))
            return
        commit(book)
    go(book, line, column)
    desktop.focus(window, "grid")


def extend(desktop: DesktopServices, window: Window, line: int, column: int) -> None:
    """Extend the selection to a cell."""
    go(window["data"], line, column, extend=True)
    desktop.focus(window, "grid")


def drag(desktop: DesktopServices, window: Window, line: int, column: int, *to: Any) -> None:
    """Select from a cell to the one where the button was released."""
    go(window["data"], line, column)
    if len(to) == 3:
        go(window["data"], to[1], to[2], extend=True)
    desktop.focus(window, "grid")


def at(desktop: DesktopServices, window: Window, x: int, y: int, *_: int) -> None:
    """Act on a click where no cell is drawn."""
    book = window["data"]
    seen = view.visible_indices(book, view.grid_size(window)[0] + 1)
    line, column = (y - view.ROW) // view.ROW, (x - view.HEAD) // view.COLUMN
    if 0 <= line < len(seen) and column >= 0:
        select(desktop, window, seen[line], min(book["left"] + column, MAX_COLUMNS - 1))
    elif 0 <= line < len(seen):
        head(desktop, window, "row", seen[line])
    elif column >= 0:
        head(desktop, window, "column", min(book["left"] + column, MAX_COLUMNS - 1))


def head(desktop: DesktopServices, window: Window, axis: str, place: int, extend: bool = False) -> None:
    """Select a whole row or column, or extend the selection to it."""
    book = window["data"]
    start = book["cursor"] if extend else [place, place]
    if axis == "row":
        book["cursor"], book["anchor"] = [start[0], 0], [place, MAX_COLUMNS - 1]
    else:
        book["cursor"], book["anchor"] = [0, start[1]], [MAX_ROWS - 1, place]
    desktop.focus(window, "grid")


def head_to(desktop: DesktopServices, window: Window, axis: str, place: int) -> None:
    """Extend the selection of rows or columns to one of them."""
    head(desktop, window, axis, place, extend=True)


def edit(desktop: DesktopServices, window: Window, line: int = -1, column: int = -1) -> None:
    """Edit the content of a cell, by default that of the cursor."""
    book = window["data"]
    if line >= 0:
        go(book, line, column)
    settle(window)
    book["edit"].place(len(book["edit"].value))
    book["editing"] = "edit"
    desktop.focus(window, LINE)


def changed(desktop: DesktopServices, window: Window) -> None:
    """Note that text was typed into the formula bar."""
    if not window["data"]["editing"]:
        window["data"]["editing"] = "edit"


def scroll(desktop: DesktopServices, window: Window, lines: int = 0) -> None:
    """Scroll by rows."""
    book = window["data"]
    book["top"] = min(max(book["top"] + int(lines), 0), MAX_ROWS - 1)


def name_box(desktop: DesktopServices, window: Window) -> None:
    """Select the area that was typed into the name box."""
    book = window["data"]
    sheet, _, cells = book["name_box"].value.strip().lstrip("$").rpartition(".")
    first, _, last = cells.partition(":")
    start, end = document.at(first), document.at(last or first)
    window["focus"] = "grid"
    if start is None or end is None or (sheet and sheet not in book["sheets"]):
        return
    if sheet:
        document.show_sheet(book, sheet)
    go(book, *end)
    reveal(window)
    go(book, *start, extend=True)
    reveal(window)


def sheet(desktop: DesktopServices, window: Window, name: str) -> None:
    """Bring a sheet to the front."""
    book = window["data"]
    if name in book["sheets"] and name != book["sheet"]:
        document.show_sheet(book, name)
        book.update(top=0, left=0)
    desktop.focus(window, "grid")


def next_sheet(desktop: DesktopServices, window: Window, by: int) -> None:
    """Bring the previous or the next sheet to the front."""
    names = list(window["data"]["sheets"])
    place = names.index(window["data"]["sheet"]) + by
    if 0 <= place < len(names):
        sheet(desktop, window, names[place])
