"""A desktop as a drawing of characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.domains.desktop.picture.screen import surfaces
from agentworld_gym.domains.desktop.picture.widgets import cell_text
from agentworld_gym.kit.rendering.text import area_of, framed, rows_of, wrapped

_READ = frozenset(
    ("label", "heading", "frame", "dialog", "paragraph", "separator", "image", "column-header", "row-header")
)


def draw_desktop(nodes: Sequence[ScreenNode], width: int) -> str:
    """Draw the windows of a desktop."""
    shell, front, windows, behind = surfaces(nodes)
    lines: list[str] = []
    bar = [node for node in shell if node.box is not None and node.box.y < 27]
    dock = [node for node in shell if node not in bar]
    lines += _surface(bar, Box(0, 0, 1920, 27), width)
    lines += wrapped("dock: ", [_desktop_piece(node) for node in dock], width)
    if front:
        lines += framed("in front", _surface(front, area_of(front), width - 4), width)
    for window in windows:
        lines += framed(window.name or window.kind, _surface(window.nodes, window.box, width - 4), width)
    lines += wrapped("on the desktop: ", [_desktop_piece(node) for node in behind], width)
    return "\n".join(lines)


def _surface(nodes: Sequence[ScreenNode], box: Box, width: int) -> list[str]:
    pieces: list[tuple[Box, str]] = []
    lines: list[str] = []
    for node in nodes:
        if node.box is None:
            continue
        if node.role in ("text", "terminal") and ("\\n" in node.text or node.box.height > 60):
            lines += rows_of(pieces, box, width, 14)
            pieces = []
            point = "{},{}".format(*node.box.centre)
            lines += [f"{node.name} ‹{point}›", *(f"│ {line}"[:width] for line in _editor(node.text))]
        elif piece := _desktop_piece(node):
            pieces.append((node.box, piece))
    return lines + rows_of(pieces, box, width, 14)


def _editor(text: str) -> list[str]:
    lines = text.replace("\\t", "    ").split("\\n")
    return lines if len(lines) <= 40 else [*lines[:38], "…", lines[-1]]


def _desktop_piece(node: ScreenNode) -> str:
    states = node.description
    on = "checked" in states
    name = node.name or node.text
    forms: Mapping[str, Callable[[], str]] = {
        "push-button": lambda: f"[{name}]",
        "toggle-button": lambda: f"[{'*' if on else ''}{name}]",
        "check-box": lambda: f"[{'x' if on else ' '}] {name}",
        "switch": lambda: f"({'on' if on else 'off'}) {name}",
        "radio-button": lambda: f"({'•' if on else ' '}) {name}",
        "entry": lambda: f"{node.name} ‹{node.text}›",
        "combo-box": lambda: f"{node.name} ‹{node.text} ▾›",
        "spin-button": lambda: f"{node.name} ‹{node.text}›",
        "page-tab": lambda: f"/{name}\\",
        "link": lambda: f"_{name}_",
        "table-cell": lambda: cell_text(node),
    }
    body = forms[node.role]() if node.role in forms else name
    if "selected" in states:
        body = f"*{body}*"
    if "focused" in states:
        body += "_"
    if node.role in ("table", "scroll-pane"):
        return ""
    if node.role in _READ or (node.role == "table-cell" and body != node.name) or not body or node.box is None:
        return body
    return f"{body}‹{node.box.centre[0]},{node.box.centre[1]}›"
