"""Reads the screens of desktops: the table that OSWorld makes of the accessibility tree."""

from __future__ import annotations

import re

from agentworld_gym.screens.node import Box, Node

COLUMNS = 7
_PAIRS = re.compile(r"\((-?\d{1,6}), ?(-?\d{1,6})\)\t\((\d{1,6}), ?(\d{1,6})\)\s*$")


def read(observation: str) -> list[Node]:
    """Return one node for each row; lines that are no row of the table are passed over."""
    nodes: list[Node] = []
    for number, line in enumerate(observation.split("\n")):
        cells = line.split("\t")
        if len(cells) != COLUMNS or not cells[0]:
            continue
        place = _PAIRS.match(f"{cells[5]}\t{cells[6]}")
        if place is None:
            continue
        tag, name, text, kind, description = cells[:5]
        flags = (f"class={kind}",) if kind else ()
        box = Box(int(place[1]), int(place[2]), int(place[3]), int(place[4]))
        nodes.append(Node(tag, name, _content(text), description, None, box, flags, 0, number))
    return nodes


def _content(cell: str) -> str:
    """Return the text of a cell: `""` stands for an empty one, and a cell that holds quotes is quoted as a whole.

    >>> _content('""'), _content('"say ""hi"" to"'), _content("plain")
    ('', 'say "hi" to', 'plain')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell
