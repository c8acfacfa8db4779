"""Screens as drawings of characters for a terminal: they show where elements are and how an action names them."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.core.screens import Box, ScreenNode, screen_of

_WIDEST = 160


def drawing(domain: str, observation: str, width: int = 100) -> str | None:
    """Draw the screen that an observation shows, at most `width` characters wide; return None if it shows none.

    >>> shown = '[ 3] | android.widget.Button | text="OK" | bounds=[0,0][200,90] | clickable'
    >>> "3:[OK]" in drawing("android", shown), drawing("terminal", "$ ls")
    (True, None)
    """
    screen = screen_of(domain)
    if screen is None or not screen.read(observation):
        return None
    return screen.draw_as_text(observation, max(min(width, _WIDEST), 40))


def named(label: str) -> str:
    """Return a label after a space; nothing where there is none."""
    return f" {label}" if label else ""


def rows_of(pieces: Sequence[tuple[Box, str]], area: Box, width: int, near: int) -> list[str]:
    """Write texts into the lines and columns of their boxes; a line that is too full goes on in the next one."""
    lines: list[str] = []
    row: list[tuple[int, str]] = []
    middle = -(10**6)
    for box, text in sorted(pieces, key=lambda piece: (piece[0].y + piece[0].height // 2, piece[0].x)):
        y = box.y + box.height // 2
        if y - middle > near:
            lines += _line(row, width)
            if row and y - middle > 6 * near:
                lines.append("")
            row, middle = [], y
        row.append(((box.x - area.x) * width // max(area.width, 1), text))
    return lines + _line(row, width)


def _line(row: Sequence[tuple[int, str]], width: int) -> list[str]:
    """Write texts at their columns as far as they fit; several lines are needed if one is too short."""
    row = sorted(row)
    if sum(len(text) + 2 for _, text in row) - 2 > width:
        return [piece for line in wrapped("", [text for _, text in row], width) for piece in _cut(line, width)]
    starts, end = [], width + 2
    for column, text in reversed(row):
        end = min(column, end - 2 - len(text))
        starts.append(end)
    line = ""
    for start, (_, text) in zip(reversed(starts), row, strict=True):
        line = line.ljust(max(start, len(line) + 2 if line else 0)) + text
    return [line] if line.strip() else []


def _cut(line: str, width: int) -> list[str]:
    return [line[start : start + width] for start in range(0, len(line), width)]


def wrapped(title: str, pieces: Sequence[str], width: int) -> list[str]:
    """Write texts one after the other behind a title, in lines that break between them."""
    if not pieces:
        return []
    lines = [title]
    for piece in pieces:
        if len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece[: width - 2] + "  "
    return [line.rstrip() for line in lines]


def framed(title: str, lines: Sequence[str], width: int) -> list[str]:
    """Draw a frame with a title around lines."""
    inner = width - 4
    head = f"─ {title[: inner - 4]} " if title else ""
    top = f"┌{head}{'─' * (width - 2 - len(head))}┐"
    return [top, *(f"│ {line[:inner].ljust(inner)} │" for line in lines), f"└{'─' * (width - 2)}┘"]


def area_of(nodes: Sequence[ScreenNode]) -> Box:
    """Return the box around all elements, of which at least one has a box."""
    boxes = [node.box for node in nodes if node.box is not None]
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(
        left, top, max(box.x + box.width for box in boxes) - left, max(box.y + box.height for box in boxes) - top
    )
