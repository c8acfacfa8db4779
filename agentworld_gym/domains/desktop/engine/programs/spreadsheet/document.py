"""The document of a spreadsheet window: its cells and what can be done with them, as functions over plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.calculation import computed
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.file_formats import (
    MAX_CELLS,
    MAX_ENTRY,
    Sheet,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import (
    MAX_COLUMNS,
    MAX_ROWS,
    Axis,
    address,
    after_insertion,
    copied_by,
    position,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.values import Place, Value, compared, plain, text
from agentworld_gym.kit.gui import copied

Book = dict[str, Any]
"""The data of a window.

The document is `sheets` by name, `sheet` (the current one), `cursor` and `anchor` (the corners of the selection, row
and column from 0), `path` and `unsaved`. Keys with an underscore hold derived values and the history.
"""
Area = tuple[int, int, int, int]
"""The first row and column, and the last row and column."""

MAX_UNDO = 20
FORMATS = ("General", "0", "0.00", "#,##0", "#,##0.00", "0%", "0.00%", "$#,##0.00")
"""The number formats."""

at = lru_cache(maxsize=65_536)(position)
named = lru_cache(maxsize=65_536)(address)


def new_document(sheets: dict[str, Sheet]) -> Book:
    """Return a document with its first sheet in front and the cursor in the first cell."""
    return {
        "sheets": sheets,
        "sheet": next(iter(sheets)),
        "cursor": [0, 0],
        "anchor": [0, 0],
        "unsaved": False,
        "_undo": [],
        "_redo": [],
        "_values": None,
    }


def current_sheet(book: Book) -> Sheet:
    """Return the current sheet."""
    sheet: Sheet = book["sheets"][book["sheet"]]
    return sheet


def values(book: Book) -> Mapping[str, Mapping[Place, Value]]:
    """Return the value of every filled cell by sheet."""
    if book["_values"] is None:
        cells = {
            name: {place: entry for key, entry in sheet["cells"].items() if (place := at(key)) is not None}
            for name, sheet in book["sheets"].items()
        }
        # A tuple is shared by forks; a change replaces it.
        book["_values"] = (computed(cells),)
    computed_values: Mapping[str, Mapping[Place, Value]] = book["_values"][0]
    return computed_values


def formatted_value(value: Value, form: str = "General") -> str:
    """Return a value as its cell shows it.

    >>> formatted_value(1234.5, "#,##0.00"), formatted_value(0.125, "0%")
    ('1,234.50', '13%')
    >>> formatted_value(3.0), formatted_value(True), formatted_value("x", "0.00")
    ('3', 'TRUE', 'x')
    """
    if not isinstance(value, float) or form == "General":
        return plain(value) if isinstance(value, float) else text(value)
    decimals = len(form.partition(".")[2].rstrip("%"))
    number = value * 100 if form.endswith("%") else value
    # Halves are rounded up, as a person does it.
    number = round(abs(number) + 1e-9, decimals) * (-1 if number < 0 else 1)
    written = f"{number:,.{decimals}f}" if "," in form else f"{number:.{decimals}f}"
    if form.startswith("$"):
        written = f"-${written[1:]}" if written.startswith("-") else f"${written}"
    return written + ("%" if form.endswith("%") else "")


def displayed_at(book: Book, place: Place, sheet: str = "") -> str:
    """Return what a cell shows."""
    name = sheet or book["sheet"]
    value = values(book)[name].get(place)
    return formatted_value(value, book["sheets"][name]["formats"].get(named(*place), "General"))


def entry_at(book: Book, place: Place) -> str:
    """Return what was typed into a cell of the current sheet."""
    entry: str = current_sheet(book)["cells"].get(named(*place), "")
    return entry


def selected_area(book: Book) -> Area:
    """Return the selected area."""
    (r0, c0), (r1, c1) = book["anchor"], book["cursor"]
    return min(r0, r1), min(c0, c1), max(r0, r1), max(c0, c1)


def is_selected(book: Book, row: int, column: int) -> bool:
    """Return whether a cell is selected."""
    top, left, bottom, right = selected_area(book)
    return top <= row <= bottom and left <= column <= right


def used_size(book: Book, sheet: str = "") -> tuple[int, int]:
    """Return the number of rows and columns of a sheet that hold something."""
    places = values(book)[sheet or book["sheet"]]
    return max((r for r, _ in places), default=-1) + 1, max((c for _, c in places), default=-1) + 1


def filled_cells(book: Book, box: Area) -> list[Place]:
    """Return the filled cells of an area, row by row."""
    top, left, bottom, right = box
    return sorted((r, c) for r, c in values(book)[book["sheet"]] if top <= r <= bottom and left <= c <= right)


def region_around(book: Book, place: Place) -> Area:
    """Return the block of filled cells around a cell, which sorting and filtering use."""
    filled = values(book)[book["sheet"]]
    top, left, bottom, right = place[0], place[1], place[0], place[1]
    while True:
        near = [(r, c) for r, c in filled if top - 1 <= r <= bottom + 1 and left - 1 <= c <= right + 1]
        rows, columns = [r for r, _ in near] + [top, bottom], [c for _, c in near] + [left, right]
        grown = min(rows), min(columns), max(rows), max(columns)
        if grown == (top, left, bottom, right):
            return grown
        top, left, bottom, right = grown


def remember(book: Book) -> None:
    """Keep the document for `undo` before a change."""
    book["_undo"] = [*book["_undo"], _snapshot(book)][-MAX_UNDO:]
    book["_redo"] = []
    book["unsaved"] = True
    book["_values"] = None


def undo(book: Book, back: str = "_undo", forth: str = "_redo") -> bool:
    """Undo the last change; with the histories exchanged, redo it. False where there is none."""
    if not book[back]:
        return False
    *book[back], (sheets, name, cursor) = book[back]
    book[forth] = [*book[forth], _snapshot(book)][-MAX_UNDO:]
    book.update(sheets=copied(sheets), sheet=name, cursor=list(cursor), anchor=list(cursor), unsaved=True, _values=None)
    return True


def redo(book: Book) -> bool:
    """Redo the change that was undone last; False where there is none."""
    return undo(book, "_redo", "_undo")


def _snapshot(book: Book) -> tuple[Any, ...]:
    return copied(book["sheets"]), book["sheet"], tuple(book["cursor"])


def put(book: Book, entries: Mapping[Place, str], sheet: str = "") -> bool:
    """Type into cells, where `""` empties one; False where that changes nothing or the document is full."""
    cells: dict[str, str] = book["sheets"][sheet or book["sheet"]]["cells"]
    inside = {
        named(*place): entry.replace("\n", " ").replace("\r", " ")[:MAX_ENTRY]
        for place, entry in entries.items()
        if 0 <= place[0] < MAX_ROWS and 0 <= place[1] < MAX_COLUMNS
    }
    changed = {name: entry for name, entry in inside.items() if cells.get(name, "") != entry}
    added = sum(1 for name, entry in changed.items() if entry and name not in cells)
    if not changed or added + sum(len(one["cells"]) for one in book["sheets"].values()) > MAX_CELLS:
        return False
    remember(book)
    for name, entry in changed.items():
        if entry:
            cells[name] = entry
        else:
            cells.pop(name, None)
    return True


def moved_entry(entry: str, rows: int, columns: int) -> str:
    """Return what a copied cell holds at its new place."""
    return "=" + copied_by(entry[1:], rows, columns) if entry.startswith("=") else entry


def fill_down(book: Book) -> bool:
    """Copy the first row of the selection into its other rows."""
    top, left, bottom, right = selected_area(book)
    entries = {
        (row, column): moved_entry(entry_at(book, (top, column)), row - top, 0)
        for column in range(left, right + 1)
        for row in range(top + 1, min(bottom, MAX_ROWS - 1) + 1)
    }
    return put(book, entries)


def paste(book: Book, block: Sequence[Sequence[str]], origin: Place | None) -> bool:
    """Put a block of cells at the selection. Formulas are adjusted if `origin` says where the block was copied.

    A single copied cell fills the whole selection.
    """
    top, left, bottom, right = selected_area(book)
    if len(block) == 1 and len(block[0]) == 1:
        targets = [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)]
        entries = {place: block[0][0] for place in targets[:MAX_CELLS]}
        sources = dict.fromkeys(entries, (0, 0))
    else:
        entries, sources = {}, {}
        for i, line in enumerate(block):
            for j, entry in enumerate(line[:MAX_COLUMNS]):
                entries[top + i, left + j], sources[top + i, left + j] = entry, (i, j)
    if origin is not None:
        for (row, column), entry in entries.items():
            i, j = sources[row, column]
            entries[row, column] = moved_entry(entry, row - origin[0] - i, column - origin[1] - j)
    return put(book, entries)


def insert(book: Book, axis: Axis, place: int, count: int) -> bool:
    """Insert empty rows or columns, or delete them with a negative `count`; all formulas are adjusted."""
    count = max(min(count, 200), -200)
    name = book["sheet"]
    sheet = current_sheet(book)
    limit = MAX_ROWS if axis == "row" else MAX_COLUMNS
    index = 0 if axis == "row" else 1
    ends = [place_of_cell[index] for cell in sheet["cells"] if (place_of_cell := at(cell)) is not None]
    if count > 0 and max(ends, default=0) + count >= limit:
        return False
    remember(book)
    for key in ("cells", "formats"):
        sheet[key] = dict(_displaced(sheet[key].items(), index, place, count))
    sheet["bold"] = {cell for cell, _ in _displaced([(cell, True) for cell in sheet["bold"]], index, place, count)}
    sheet["filter"] = {}
    for other, one in book["sheets"].items():
        for cell, entry in one["cells"].items():
            if entry.startswith("="):
                one["cells"][cell] = "=" + after_insertion(entry[1:], other == name, name, axis, place, count)
    return True


def _displaced(items: Iterable[tuple[str, Any]], index: int, place: int, count: int) -> Iterable[tuple[str, Any]]:
    for cell, value in items:
        cell_place = list(at(cell) or (0, 0))
        if cell_place[index] >= place:
            if count < 0 and cell_place[index] < place - count:
                continue
            cell_place[index] += count
        yield named(*cell_place), value


def sort(book: Book, box: Area, column: int, descending: bool) -> bool:
    """Sort the rows of an area by a column. Empty cells come last, and equal ones keep their order."""
    top, left, bottom, right = box
    mine = values(book)[book["sheet"]]
    rows = list(range(top, bottom + 1))
    filled = [row for row in rows if mine.get((row, column)) is not None]
    order = sorted(filled, key=lambda row: _Ordered(mine[row, column], -1 if descending else 1))
    order += [row for row in rows if mine.get((row, column)) is None]
    entries = {
        (target, c): moved_entry(entry_at(book, (source, c)), target - source, 0)
        for target, source in zip(rows, order, strict=True)
        for c in range(left, right + 1)
    }
    return put(book, entries)


class _Ordered:
    __slots__ = ("sign", "value")

    def __init__(self, value: Value, sign: int = 1) -> None:
        self.value, self.sign = value, sign

    def __lt__(self, other: _Ordered) -> bool:
        return compared(self.value, other.value) * self.sign < 0


def has_header(book: Book, box: Area) -> bool:
    """Return whether the first row of an area is its header: only texts, above cells of another kind or format."""
    top, left, bottom, right = box
    mine = values(book)[book["sheet"]]
    heads = [mine.get((top, column)) for column in range(left, right + 1)]
    if bottom == top or not all(isinstance(head, str) for head in heads):
        return False
    below = [mine.get((top + 1, column)) for column in range(left, right + 1)]
    return (
        any(isinstance(value, float) for value in below) or named(top, left) in current_sheet(book)["bold"] or top == 0
    )


def hidden_rows(book: Book, sheet: str = "") -> frozenset[int]:
    """Return the rows that the filter of a sheet hides."""
    name = sheet or book["sheet"]
    sheet_filter = book["sheets"][name]["filter"]
    if not sheet_filter or not sheet_filter["only"]:
        return frozenset()
    top, _, bottom, _ = sheet_filter["area"]
    return frozenset(
        row
        for row in range(top + 1, bottom + 1)
        if any(displayed_at(book, (row, int(column)), name) != value for column, value in sheet_filter["only"].items())
    )


def toggle_filter(book: Book) -> None:
    """Add filters to the header of the block at the cursor, or remove them."""
    sheet = current_sheet(book)
    if sheet["filter"]:
        sheet["filter"] = {}
    else:
        sheet["filter"] = {"area": list(region_around(book, tuple(book["cursor"]))), "only": {}}


def show_sheet(book: Book, name: str) -> None:
    """Bring a sheet to the front."""
    book.update(sheet=name, cursor=[0, 0], anchor=[0, 0])


def set_format(book: Book, form: str) -> None:
    """Set the number format of the selection."""
    remember(book)
    formats = current_sheet(book)["formats"]
    for cell in _selected_names(book):
        if form == "General":
            formats.pop(cell, None)
        else:
            formats[cell] = form


def toggle_bold(book: Book) -> None:
    """Make the selection bold, or plain where its first cell is bold."""
    remember(book)
    bold: set[str] = current_sheet(book)["bold"]
    names = _selected_names(book)
    change: Callable[[set[str]], object] = bold.difference_update if names[0] in bold else bold.update
    change(set(names))


def _selected_names(book: Book) -> list[str]:
    """Return the cells of the selection; of whole rows and columns, those in use."""
    top, left, bottom, right = selected_area(book)
    rows, columns = used_size(book)
    bottom, right = min(bottom, max(rows, top + 1) - 1 if bottom > top else bottom), min(right, max(columns - 1, left))
    return [named(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)][:MAX_CELLS]


def find(book: Book, query: str) -> Place | None:
    """Return the next cell after the cursor that shows a text, whatever its case; None where no cell does."""
    text = query.lower()
    if not text:
        return None
    start = tuple(book["cursor"])
    matches = [place for place in sorted(values(book)[book["sheet"]]) if text in displayed_at(book, place).lower()]
    return next((place for place in matches if place > start), matches[0] if matches else None)


def replace_all(book: Book, query: str, by: str) -> int:
    """Replace a text in what was typed into the cells of the sheet; return the number of changed cells."""
    if not query:
        return 0
    pattern, most = re.compile(re.escape(query), re.IGNORECASE), MAX_ENTRY // max(len(by), 1) + 1
    entries = {
        place: pattern.sub(lambda _: by[:MAX_ENTRY], entry, count=most)
        for cell, entry in current_sheet(book)["cells"].items()
        if query.lower() in entry.lower() and (place := at(cell)) is not None
    }
    return len(entries) if put(book, entries) else 0


def summary(book: Book) -> str:
    """Return the status bar's summary of the selected numbers."""
    mine = values(book)[book["sheet"]]
    numbers = [value for place in filled_cells(book, selected_area(book)) if isinstance(value := mine[place], float)]
    if not numbers:
        return "Average: ; Sum: 0"
    return f"Average: {plain(sum(numbers) / len(numbers))}; Sum: {plain(sum(numbers))}"
