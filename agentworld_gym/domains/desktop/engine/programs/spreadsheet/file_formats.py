"""The file formats of the spreadsheet: `.csv`, and a readable text in place of the binary `.ods`.

An `.ods` file holds the cells of each sheet as comma-separated rows, with formulas as they were typed, below a line
with the sheet's name in square brackets. Below `[Sheet1: formats]` each line holds a cell and its format (`B2,0.00`,
`A1,bold`).

>>> sheets = read("[Costs]\\nRent,900\\nTotal,=SUM(B1:B1)\\n[Costs: formats]\\nB2,0.00\\n", ".ods")
>>> sheets["Costs"]["cells"], sheets["Costs"]["formats"]
({'A1': 'Rent', 'B1': '900', 'A2': 'Total', 'B2': '=SUM(B1:B1)'}, {'B2': '0.00'})
>>> write_ods(sheets)
'[Costs]\\nRent,900\\nTotal,=SUM(B1:B1)\\n[Costs: formats]\\nB2,0.00\\n'
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import (
    MAX_COLUMNS,
    MAX_ROWS,
    address,
    position,
)

Sheet = dict[str, Any]
"""One sheet: `cells` and `formats` by cell name, `bold` (a set of cell names) and `filter`."""

MAX_CELLS = 5000
"""The largest number of filled cells in a document."""
MAX_SHEETS = 16
MAX_ENTRY = 1000
"""The largest number of characters in a cell."""

_FORMATS = ": formats"
_SPECIAL = ',"\r\n'


def empty_sheet() -> Sheet:
    """Return a sheet without cells."""
    return {"cells": {}, "formats": {}, "bold": set(), "filter": {}}


def read(text: str, ending: str) -> dict[str, Sheet]:
    """Return the sheets of a file, at least one; what exceeds the limits is left out.

    Args:
        text: The content of the file.
        ending: The ending of its name: `.csv`, or anything else for the format of `.ods`.
    """
    if ending == ".csv":
        return {"Sheet1": _filled(text.splitlines())}
    sheets: dict[str, Sheet] = {}
    for name, lines in _sections(text):
        sheet = name.removesuffix(_FORMATS)
        if name.endswith(_FORMATS) and sheet in sheets:
            _format(sheets[sheet], lines)
        elif name not in sheets and len(sheets) < MAX_SHEETS:
            sheets[name] = _filled(lines)
    return sheets


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Yield each name in brackets with the lines below it; lines before the first name belong to `Sheet1`."""
    sections: list[tuple[str, list[str]]] = [("Sheet1", [])]
    for line in text.splitlines():
        if len(line) > 2 and line.startswith("[") and line.endswith("]"):
            sections.append((line[1:-1], []))
        else:
            sections[-1][1].append(line)
    return sections if sections[0][1] or len(sections) == 1 else sections[1:]


def write_ods(sheets: Mapping[str, Sheet]) -> str:
    """Return the text of an `.ods` file."""
    parts = []
    for name, sheet in sheets.items():
        parts += [f"[{name}]\n", write_csv(sheet["cells"])]
        formats = [[cell, form] for cell, form in sorted(sheet["formats"].items(), key=lambda item: _order(item[0]))]
        formats += [[cell, "bold"] for cell in sorted(sheet["bold"], key=_order)]
        if formats:
            parts += [f"[{name}{_FORMATS}]\n", _lines(formats)]
    return "".join(parts)


def write_csv(cells: Mapping[str, str]) -> str:
    """Return cells as comma-separated rows."""
    places = {position(name): text for name, text in cells.items()}
    rows: list[list[str]] = []
    for place in sorted(place for place in places if place is not None):
        row, column = place
        while len(rows) <= row:
            rows.append([])
        rows[row] += [""] * (column - len(rows[row]))
        rows[row].append(places[place])
    return _lines(rows)


def rows_of(text: str, separator: str = ",") -> list[list[str]]:
    """Return the cells of comma-separated rows."""
    return _split(text.splitlines(), separator)


def _order(name: str) -> tuple[int, int]:
    return position(name) or (0, 0)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "".join([",".join([_quoted(cell, row) for cell in row]) + "\n" for row in rows])


def _quoted(cell: str, row: Sequence[str]) -> str:
    # A row of a single cell in brackets is not the name of a sheet.
    if any(sign in cell for sign in _SPECIAL) or (cell.startswith("[") and cell is row[0]):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _split(lines: Sequence[str], separator: str = ",") -> list[list[str]]:
    # Broken quotes cost a row, not the document.
    try:
        return list(csv.reader(io.StringIO("\n".join(lines[:MAX_ROWS])), delimiter=separator))
    except csv.Error:
        return [line.split(separator) for line in lines[:MAX_ROWS]]


def _filled(lines: Sequence[str]) -> Sheet:
    sheet = empty_sheet()
    cells = sheet["cells"]
    for row, entries in enumerate(_split(lines)[:MAX_ROWS]):
        for column, entry in enumerate(entries[:MAX_COLUMNS]):
            if entry and len(cells) < MAX_CELLS:
                cells[address(row, column)] = entry[:MAX_ENTRY]
    return sheet


def _format(sheet: Sheet, lines: Sequence[str]) -> None:
    for parts in _split(lines):
        if len(parts) == 2 and position(parts[0]) is not None and len(sheet["formats"]) < MAX_CELLS:
            if parts[1] == "bold":
                sheet["bold"].add(parts[0].upper())
            else:
                sheet["formats"][parts[0].upper()] = parts[1][:40]
