"""Screens as drawings of characters for a terminal: they show where elements are and how an action names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentworld_gym.rendering.desktop.screen import surfaces
from agentworld_gym.rendering.desktop.widgets import cell_text
from agentworld_gym.screens import Box, Node, screen_of

_WIDEST = 160
_PHONE = 76
_READ = frozenset(
    ("label", "heading", "frame", "dialog", "paragraph", "separator", "image", "column-header", "row-header")
)
_CONTAINERS = frozenset(("ViewGroup", "FrameLayout", "LinearLayout", "RecyclerView", "ScrollView", "View"))


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


# The functions below draw phones.


def draw_phone(nodes: Sequence[Node], width: int) -> str:
    """Draw the elements of a phone, at most 76 characters wide."""
    width = min(width, _PHONE)
    pieces = [(node, _phone_piece(node)) for node in nodes if node.box is not None]
    placed = [(_anchor(node), piece) for node, piece in pieces if piece]
    return "\n".join(_framed("", _rows(placed, Box(0, 0, 1080, 2400), width - 4, 44), width))


def _anchor(node: Node) -> Box:
    """Return where a piece is written; a container's piece stands at its upper edge, before what lies in it."""
    box = node.box or Box(0, 0, 0, 0)
    if node.role in _CONTAINERS and not node.label:
        return Box(box.x, box.y, 0, min(box.height, 2 * 56))
    return box


def _phone_piece(node: Node) -> str:
    flags = set(node.flags)
    acts = bool(flags & {"clickable", "long_clickable", "editable", "scrollable"})
    label = node.text or node.description
    on = "checked" in flags
    forms: Mapping[str, Callable[[], str]] = {
        "Switch": lambda: f"({'on' if on else 'off'}){_named(label)}",
        "CheckBox": lambda: f"[{'x' if on else ' '}]{_named(label)}",
        "RadioButton": lambda: f"({'•' if on else ' '}){_named(label)}",
        "EditText": lambda: f"‹{label}›" + ("_" if "focused" in flags else ""),
        "Button": lambda: f"[{label}]",
        "ImageButton": lambda: f"[{label}]",
        "Toast": lambda: f"« {label} »",
    }
    body = forms[node.role]() if node.role in forms else label
    if node.role in _CONTAINERS and not label:
        body = "↕" if "scrollable" in flags else "▸" if acts else ""
    if "selected" in flags and body:
        body = f"*{body}*"
    body = body.replace("\n", " / ")
    return f"{node.handle}:{body}" if acts and body else body


def _named(label: str) -> str:
    return f" {label}" if label else ""


# The functions below draw desktops.


def draw_desktop(nodes: Sequence[Node], width: int) -> str:
    """Draw the windows of a desktop."""
    shell, front, windows, behind = surfaces(nodes)
    lines: list[str] = []
    bar = [node for node in shell if node.box is not None and node.box.y < 27]
    dock = [node for node in shell if node not in bar]
    lines += _surface(bar, Box(0, 0, 1920, 27), width)
    lines += _wrapped("dock: ", [_desktop_piece(node) for node in dock], width)
    if front:
        lines += _framed("in front", _surface(front, _around(front), width - 4), width)
    for window in windows:
        lines += _framed(window.name or window.kind, _surface(window.nodes, window.box, width - 4), width)
    lines += _wrapped("on the desktop: ", [_desktop_piece(node) for node in behind], width)
    return "\n".join(lines)


def _surface(nodes: Sequence[Node], box: Box, width: int) -> list[str]:
    pieces: list[tuple[Box, str]] = []
    lines: list[str] = []
    for node in nodes:
        if node.box is None:
            continue
        if node.role in ("text", "terminal") and ("\\n" in node.text or node.box.height > 60):
            lines += _rows(pieces, box, width, 14)
            pieces = []
            point = "{},{}".format(*node.box.centre)
            lines += [f"{node.name} ‹{point}›", *(f"│ {line}"[:width] for line in _editor(node.text))]
        elif piece := _desktop_piece(node):
            pieces.append((node.box, piece))
    return lines + _rows(pieces, box, width, 14)


def _editor(text: str) -> list[str]:
    lines = text.replace("\\t", "    ").split("\\n")
    return lines if len(lines) <= 40 else [*lines[:38], "…", lines[-1]]


def _desktop_piece(node: Node) -> str:
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


# The functions below put texts into lines and columns.


def _rows(pieces: Sequence[tuple[Box, str]], area: Box, width: int, near: int) -> list[str]:
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
        return [piece for line in _wrapped("", [text for _, text in row], width) for piece in _cut(line, width)]
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


def _wrapped(title: str, pieces: Sequence[str], width: int) -> list[str]:
    if not pieces:
        return []
    lines = [title]
    for piece in pieces:
        if len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece[: width - 2] + "  "
    return [line.rstrip() for line in lines]


def _framed(title: str, lines: Sequence[str], width: int) -> list[str]:
    inner = width - 4
    head = f"─ {title[: inner - 4]} " if title else ""
    top = f"┌{head}{'─' * (width - 2 - len(head))}┐"
    return [top, *(f"│ {line[:inner].ljust(inner)} │" for line in lines), f"└{'─' * (width - 2)}┘"]


def _around(nodes: Sequence[Node]) -> Box:
    boxes = [node.box for node in nodes if node.box is not None]
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(
        left, top, max(box.x + box.width for box in boxes) - left, max(box.y + box.height for box in boxes) - top
    )
