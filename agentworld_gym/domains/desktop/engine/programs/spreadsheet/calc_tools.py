"""The methods of the helper object `CalcTools`. Each returns the window that it worked on, and a value for the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, ToolError, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, file_formats, sheets
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Area, Book
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import (
    MAX_COLUMNS,
    MAX_ROWS,
    column_number,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.saving import document_text

Result = tuple[Window, Any]


def _window(desktop: DesktopServices, app_name: Any = "", sheet_name: Any = "") -> Window:
    """Return the window of a document, by default the one in front, and bring a named sheet to the front."""
    windows = desktop.windows("spreadsheet")
    name = str(app_name or "")
    if name:
        windows = [one for one in windows if one["data"]["path"].endswith(name) or one["title"].startswith(name)]
    if not windows:
        raise ToolError(f"no document named {name!r} is open in Calc" if name else "no document is open in Calc")
    book = windows[0]["data"]
    book["editing"] = ""
    if sheet_name:
        if sheet_name not in book["sheets"]:
            raise ToolError(f"no sheet named {sheet_name!r}", "KeyError")
        if sheet_name != book["sheet"]:
            document.show_sheet(book, str(sheet_name))
    return windows[0]


def _box(range_: Any) -> Area:
    first, _, last = str(range_).replace("$", "").partition(":")
    start, end = document.at(first), document.at(last or first)
    if start is None or end is None:
        raise ToolError(f"no cell range {range_!r}", "ValueError")
    return min(start[0], end[0]), min(start[1], end[1]), max(start[0], end[0]), max(start[1], end[1])


def _column(name: Any) -> int:
    column = column_number(str(name)) if str(name).isascii() and str(name).isalpha() and len(str(name)) < 4 else -1
    if not 0 <= column < MAX_COLUMNS:
        raise ToolError(f"no column {name!r}", "ValueError")
    return column


def _entry(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "" if value is None else f"{value:g}" if isinstance(value, float) and value == int(value) else str(value)


def _start(index: Any) -> int:
    if not isinstance(index, int) or not 1 <= index <= MAX_ROWS:
        raise ToolError(f"no row {index!r}", "ValueError")
    return index - 1


def set_cell_values(
    desktop: DesktopServices, new_values: Any, range: Any, app_name: Any = "", sheet_name: Any = ""
) -> Result:
    """Type values into a range. A text that begins with `=` is a formula."""
    window = _window(desktop, app_name, sheet_name)
    top, left, bottom, right = _box(range)
    lines = new_values if isinstance(new_values, list) else [new_values]
    flat = [value for line in lines for value in (line if isinstance(line, list) else [line])]
    wide = right - left + 1
    if len(flat) != (bottom - top + 1) * wide:
        raise ToolError(f"{range} has {(bottom - top + 1) * wide} cells, got {len(flat)} values", "ValueError")
    entries = {(top + i // wide, left + i % wide): _entry(value) for i, value in enumerate(flat)}
    document.put(window["data"], entries)
    return window, None


def get_cell_values(desktop: DesktopServices, range: Any, app_name: Any = "", sheet_name: Any = "") -> Result:
    """Return what the cells of a range show, as a list of rows."""
    window = _window(desktop, app_name, sheet_name)
    return window, _cell_texts(window["data"], _box(range))


def _cell_texts(book: Book, box: Area) -> list[list[str]]:
    top, left, bottom, right = box
    if (bottom - top + 1) * (right - left + 1) > file_formats.MAX_CELLS:
        raise ToolError("the range is too large", "ValueError")
    return [[document.displayed_at(book, (r, c)) for c in range(left, right + 1)] for r in range(top, bottom + 1)]


def get_content(desktop: DesktopServices, app_name: Any = "", sheet_name: Any = "") -> Result:
    """Return what a sheet shows, as a list of rows."""
    window = _window(desktop, app_name, sheet_name)
    rows, columns = document.used_size(window["data"])
    return window, _cell_texts(window["data"], (0, 0, rows - 1, columns - 1)) if rows else []


def get_workbook_info(desktop: DesktopServices, app_name: Any = "") -> Result:
    """Return the path of the document, its sheets, and the current sheet."""
    window = _window(desktop, app_name)
    book = window["data"]
    sheets = [
        {"name": name, "rows": document.used_size(book, name)[0], "columns": document.used_size(book, name)[1]}
        for name in book["sheets"]
    ]
    return window, {"file": book["path"], "sheets": sheets, "active_sheet": book["sheet"]}


def get_column_data(desktop: DesktopServices, column_name: Any, app_name: Any = "", sheet_name: Any = "") -> Result:
    """Return what the cells of a column show, from the first row to the last one in use."""
    window = _window(desktop, app_name, sheet_name)
    column, rows = _column(column_name), document.used_size(window["data"])[0]
    return window, [document.displayed_at(window["data"], (line, column)) for line in range(rows)]


def set_column_values(
    desktop: DesktopServices,
    column_name: Any,
    data: Any,
    start_index: Any = 2,
    app_name: Any = "",
    sheet_name: Any = "",
) -> Result:
    """Type values into a column from a row on, counted from 1."""
    window = _window(desktop, app_name, sheet_name)
    column, start = _column(column_name), _start(start_index)
    if not isinstance(data, list):
        raise ToolError("data must be a list", "TypeError")
    document.put(window["data"], {(start + i, column): _entry(value) for i, value in enumerate(data)})
    return window, None


def sort_column(
    desktop: DesktopServices,
    column_name: Any,
    ascending: Any = True,
    start_index: Any = 2,
    app_name: Any = "",
    sheet_name: Any = "",
) -> Result:
    """Sort the rows of a sheet by a column from a row on, counted from 1."""
    window = _window(desktop, app_name, sheet_name)
    column, start = _column(column_name), _start(start_index)
    rows, columns = document.used_size(window["data"])
    if start < rows - 1:
        document.sort(window["data"], (start, 0, rows - 1, max(columns - 1, column)), column, not ascending)
    return window, None


def switch_active_sheet(desktop: DesktopServices, sheet_name: Any, app_name: Any = "") -> Result:
    """Bring a sheet to the front; one that does not exist is made."""
    window = _window(desktop, app_name)
    if sheet_name in window["data"]["sheets"]:
        return _window(desktop, app_name, sheet_name), None
    if not sheets.add_sheet(window["data"], str(sheet_name)):
        raise ToolError(f"no sheet can be named {sheet_name!r}", "ValueError")
    return window, None


def rename_sheet(desktop: DesktopServices, old_name: Any, new_name: Any, app_name: Any = "") -> Result:
    """Rename a sheet."""
    window = _window(desktop, app_name)
    if old_name not in window["data"]["sheets"]:
        raise ToolError(f"no sheet named {old_name!r}", "KeyError")
    if not sheets.rename_sheet(window["data"], old_name, str(new_name)):
        raise ToolError(f"no sheet can be named {new_name!r}", "ValueError")
    return window, None


def copy_sheet(desktop: DesktopServices, sheet_name: Any, new_sheet_name: Any = "", app_name: Any = "") -> Result:
    """Append a copy of a sheet."""
    window = _window(desktop, app_name)
    if sheet_name not in window["data"]["sheets"]:
        raise ToolError(f"no sheet named {sheet_name!r}", "KeyError")
    if not sheets.add_sheet(window["data"], str(new_sheet_name or f"{sheet_name}_2"), sheet_name):
        raise ToolError(f"no sheet can be named {new_sheet_name!r}", "ValueError")
    return window, None


def set_number_format(
    desktop: DesktopServices, range: Any, number_format: Any, app_name: Any = "", sheet_name: Any = ""
) -> Result:
    """Set the number format of a range, such as `#,##0.00`."""
    window = _window(desktop, app_name, sheet_name)
    top, left, bottom, right = _box(range)
    if number_format not in document.FORMATS:
        raise ToolError(f"one of {', '.join(document.FORMATS)} (got {number_format!r})", "ValueError")
    book = window["data"]
    book["anchor"], book["cursor"] = [bottom, right], [top, left]
    document.set_format(book, str(number_format))
    return window, None


def save(desktop: DesktopServices, app_name: Any = "") -> Result:
    """Save the document in the format of its file."""
    window = _window(desktop, app_name)
    book = window["data"]
    if not book["path"]:
        raise ToolError("the document has no file yet", "ValueError")
    if not desktop.write_file(window, book["path"], document_text(book, book["path"])):
        raise ToolError(f"{book['path']} cannot be written", "PermissionError")
    book["unsaved"] = False
    return window, None


def _named(*methods: Callable[..., Result]) -> Mapping[str, Callable[..., Result]]:
    return {method.__name__: method for method in methods}


METHODS: Mapping[str, Callable[..., Result]] = _named(
    copy_sheet,
    get_cell_values,
    get_column_data,
    get_content,
    get_workbook_info,
    rename_sheet,
    save,
    set_cell_values,
    set_column_values,
    set_number_format,
    sort_column,
    switch_active_sheet,
)
"""The methods by name."""
