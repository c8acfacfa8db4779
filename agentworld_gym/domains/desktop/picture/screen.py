"""Drawing a desktop from its accessibility table: wallpaper, panels, windows from back to front, menus and dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.domains.desktop.picture.widgets import TEXT, icon, widget
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.boxes import holds, inset, union, visible
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.glyphs import glyph, tile

WIDTH, HEIGHT = 1920, 1080
BAR, DOCK, TITLE = 27, 70, 47
_MENU_ITEMS = frozenset(("menu-item", "check-menu-item", "radio-menu-item"))
_WINDOWS = frozenset(("frame", "dialog", "window", "alert", "file-chooser"))


@dataclass(slots=True)
class DrawnSurface:
    """One window, dialog or panel with the elements in it."""

    kind: str
    box: Box
    name: str = ""
    nodes: list[ScreenNode] = field(default_factory=list)


def draw(nodes: Sequence[ScreenNode]) -> Canvas:
    """Draw the whole screen of 1920 by 1080 pixels."""
    canvas = Canvas(WIDTH, HEIGHT, style.NIGHT)
    canvas.gradient(Box(0, 0, WIDTH, HEIGHT), style.WALLPAPER)
    shell, front, windows, behind = surfaces(visible(nodes, WIDTH, HEIGHT))
    for node in behind:
        icon(canvas, node, on_wallpaper=True)
    for surface in reversed(windows):
        _window(canvas, surface)
    _shell(canvas, shell)
    _front(canvas, front)
    return canvas


def surfaces(
    nodes: Sequence[ScreenNode],
) -> tuple[list[ScreenNode], list[ScreenNode], list[DrawnSurface], list[ScreenNode]]:
    """Divide the elements: those of panel and dock, those in front of all windows, the windows, and those behind
    them."""
    shell: list[ScreenNode] = []
    front: list[ScreenNode] = []
    windows: list[DrawnSurface] = []
    behind: list[ScreenNode] = []
    for node in nodes:
        if node.box is None:
            continue
        if node.role in _WINDOWS:
            windows.append(DrawnSurface(node.role, node.box, node.name))
        elif windows and holds(windows[-1].box, node.box):
            windows[-1].nodes.append(node)
        elif holds(Box(0, 0, WIDTH, BAR), node.box) or (not windows and holds(Box(0, 0, DOCK, HEIGHT), node.box)):
            shell.append(node)
        elif node.role == "icon":
            behind.append(node)
        else:
            front.append(node)
    return shell, front, windows, behind


# The functions below draw the shell.


def _shell(canvas: Canvas, nodes: Sequence[ScreenNode]) -> None:
    canvas.box(Box(0, 0, WIDTH, BAR), style.NIGHT)
    canvas.veil(Box(0, BAR, DOCK, HEIGHT - BAR), style.BLACK, 0.45)
    for node in nodes:
        box = node.box
        if box is None:
            continue
        if box.y < BAR and box.height <= BAR:
            if node.label == "System":
                for place, drawing in enumerate(("wifi", "speaker", "battery")):
                    glyph(canvas, Box(box.x + 16 + 28 * place, 6, 16, 16), drawing, style.WHITE)
            else:
                canvas.words(box, node.label, TEXT, style.WHITE, align="centre", bold=node.role != "menu")
        elif node.label == "Show Applications":
            glyph(canvas, Box(box.x + 22, box.y + 20, 28, 28), "grid", style.WHITE)
        else:
            tile(canvas, Box(box.x + 11, box.y + 8, 48, 48), node.label)


def _front(canvas: Canvas, nodes: Sequence[ScreenNode]) -> None:
    """Draw menus, notifications and the overview."""
    entries = [node for node in nodes if node.role in _MENU_ITEMS]
    rest = [node for node in nodes if node.role not in _MENU_ITEMS]
    if any(node.role == "entry" and node.box and node.box.y < 120 for node in rest):
        canvas.veil(Box(DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR), style.BLACK, 0.72)
        for node in rest:
            if node.role == "push-button" and node.box is not None:
                _big_tile(canvas, node, node.box)
            elif node.role == "label" and node.box is not None:
                canvas.words(node.box, node.label, TEXT, style.WHITE, align="centre")
            else:
                widget(canvas, node)
    else:
        for node in rest:
            widget(canvas, node)
    _menu(canvas, entries)


def _big_tile(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    tile(canvas, Box(box.x, box.y + 8, box.width, box.height - 44), node.label)
    below = Box(box.x + 4, box.y + box.height - 32, box.width - 8, 24)
    canvas.words(below, node.label, TEXT, style.WHITE, align="centre")


def _menu(canvas: Canvas, entries: Sequence[ScreenNode]) -> None:
    boxes = [node.box for node in entries if node.box is not None]
    if not boxes:
        return
    around = union(boxes)
    panel = Box(around.x - 1, around.y - 5, around.width + 2, around.height + 10)
    canvas.shadow(panel, 8)
    canvas.box(panel, style.WHITE, 8, style.LINE)
    for node in entries:
        if node.box is None:
            continue
        if "selected" in node.description:
            canvas.box(node.box, style.PALE_BLUE)
        if "checked" in node.description or (node.role == "check-menu-item" and "unchecked" not in node.description):
            glyph(canvas, Box(node.box.x + 10, node.box.y + node.box.height // 2 - 7, 14, 14), "check", style.INK)
        canvas.words(inset(node.box, 32, 8), node.label, TEXT)


# The functions below draw windows.


def _window(canvas: Canvas, surface: DrawnSurface) -> None:
    box, kind = surface.box, surface.kind
    whole = box.x <= DOCK and box.y <= BAR
    if not whole:
        canvas.shadow(box, 12, 18 if kind == "frame" else 24)
    if kind == "alert":
        canvas.box(box, style.NIGHT, 12)
    else:
        canvas.box(box, style.PAPER, 0 if whole else 12, style.LINE)
    if kind in ("frame", "window"):
        canvas.top_box(Box(box.x + 1, box.y + 1, box.width - 2, TITLE - 1), style.PANEL, 0 if whole else 12)
        canvas.line([(box.x, box.y + TITLE), (box.x + box.width - 1, box.y + TITLE)], style.LINE)
        _title(canvas, surface)
    menu: list[ScreenNode] = []
    for node in surface.nodes:
        if node.role in _MENU_ITEMS:
            menu.append(node)
        elif kind == "alert" and node.role == "label" and node.box is not None:
            canvas.words(node.box, node.label, TEXT, style.WHITE)
        else:
            widget(canvas, node)
    _menu(canvas, menu)


def _title(canvas: Canvas, surface: DrawnSurface) -> None:
    """Draw the title in the middle of the bar, or in the room that is left of it."""
    box = surface.box
    right = min((n.box.x for n in surface.nodes if n.label == "Minimize" and n.box), default=box.x + box.width - 90)
    bar = [node.box for node in surface.nodes if node.box and node.box.y < box.y + TITLE - 8 and node.box.x < right - 1]
    left = max((other.x + other.width for other in bar if other.x < box.x + box.width // 2), default=box.x)
    right = min((other.x for other in bar if other.x >= left), default=right)
    wide = style.width_of(surface.name, TEXT)
    middle = box.x + (box.width - wide) // 2
    if not left + 8 <= middle <= right - wide - 8:
        middle = left + 14
    canvas.words(Box(middle, box.y, max(right - middle - 8, 0), TITLE), surface.name, TEXT, bold=True)
