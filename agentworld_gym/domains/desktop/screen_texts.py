"""Reads the screens of desktops: the tables that OSWorld and AutoGLM-OS make of the accessibility tree.

OSWorld's table has seven columns: tag, name, text, class, description, the top left and the size. That of AutoGLM-OS
has four: tag, the text or the name, the centre and the size. The header tells which of them a screen is.
"""

from __future__ import annotations

import re

from agentworld_gym.core.screens.node import Box, ScreenNode

SEVEN_COLUMNS = "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"
FOUR_COLUMNS = "tag\ttext\tposition (center x & y)\tsize (w & h)"

_PAIRS = re.compile(r"\((-?\d{1,6}), ?(-?\d{1,6})\)\t\((\d{1,6}), ?(\d{1,6})\)\s*$")
_LABELS = frozenset(("label", "heading", "paragraph"))
"""The roles whose name is their text too."""

_FIELDS = frozenset(("text", "entry", "table-cell", "combo-box", "slider", "spin-button", "terminal"))
"""The roles that may have a text beside their name."""

_BOTH = re.compile(r"(.+?) \((.+)\)", re.DOTALL)


def read(observation: str) -> list[ScreenNode]:
    """Return one node for each row; lines that are no row of the table are passed over.

    >>> [node] = read(f"{FOUR_COLUMNS}\\npush-button\\tOK\\t(188, 270)\\t(40, 20)")
    >>> node.role, node.label, node.box
    ('push-button', 'OK', Box(x=168, y=260, width=40, height=20))
    """
    is_short = observation.startswith("tag\ttext\t")
    nodes: list[ScreenNode] = []
    for number, line in enumerate(observation.split("\n")):
        *cells, position, size = line.split("\t") if "\t" in line else ("", "")
        if len(cells) != (2 if is_short else 5) or not cells[0]:
            continue
        place = _PAIRS.match(f"{position}\t{size}")
        if place is None:
            continue
        x, y, width, height = map(int, place.groups())
        if is_short:
            name, text = _apart(cells[1]) if cells[0] in _FIELDS else (cells[1], "")
            box = Box(x - width // 2, y - height // 2, width, height)
            nodes.append(ScreenNode(cells[0], name, text, "", None, box, (), 0, number))
            continue
        tag, name, text, kind, description = cells
        flags = (f"class={kind}",) if kind else ()
        nodes.append(
            ScreenNode(tag, name, _content(text), description, None, Box(x, y, width, height), flags, 0, number)
        )
    return nodes


def four_columns(table: str) -> str:
    """Write a table of seven columns with four; a text that is no such table stays as it is.

    A text stands in brackets behind a name that differs from it. Class and states are not shown.

    >>> row = "text\\ta.txt\\t\\"say \\"\\"hi\\"\\"\\"\\t\\tfocused\\t(10, 40)\\t(101, 60)"
    >>> four_columns(f"{SEVEN_COLUMNS}\\n{row}").split("\\n")[1]
    'text\\ta.txt (say "hi")\\t(60, 70)\\t(101, 60)'
    """
    if not table.startswith(SEVEN_COLUMNS):
        return table
    lines = [FOUR_COLUMNS]
    for node in read(table):
        assert node.box is not None
        text = (
            f"{node.name} ({node.text})" if node.name and node.text not in ("", node.name) else node.text or node.name
        )
        x, y = node.box.x + node.box.width // 2, node.box.y + node.box.height // 2
        lines.append(f"{node.role}\t{text}\t({x}, {y})\t({node.box.width}, {node.box.height})")
    return "\n".join(lines)


def seven_columns(table: str) -> str:
    """Write a table of four columns with seven, as far as it tells; a text that is no such table stays as it is.

    >>> seven_columns(f"{FOUR_COLUMNS}\\npush-button\\tOK\\t(188, 270)\\t(40, 20)").split("\\n")[1]
    'push-button\\tOK\\t""\\t\\t\\t(168, 260)\\t(40, 20)'
    """
    if not table.startswith(FOUR_COLUMNS):
        return table
    lines = [SEVEN_COLUMNS]
    for node in read(table):
        assert node.box is not None
        text = node.name if node.role in _LABELS else node.text
        quoted = '"' + text.replace('"', '""') + '"' if '"' in text or not text else text
        place = f"({node.box.x}, {node.box.y})\t({node.box.width}, {node.box.height})"
        lines.append(f"{node.role}\t{node.name}\t{quoted}\t\t\t{place}")
    return "\n".join(lines)


def _apart(cell: str) -> tuple[str, str]:
    """Return the name and the text of a cell that may hold both.

    >>> _apart("a.txt (Milk)"), _apart("OK")
    (('a.txt', 'Milk'), ('OK', ''))
    """
    both = _BOTH.fullmatch(cell)
    return (both[1], both[2]) if both else (cell, "")


def _content(cell: str) -> str:
    """Return the text of a cell: `""` stands for an empty one, and a cell that holds quotes is quoted as a whole.

    >>> _content('""'), _content('"say ""hi"" to"'), _content("plain")
    ('', 'say "hi" to', 'plain')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell
