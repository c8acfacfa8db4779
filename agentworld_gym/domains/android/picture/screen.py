"""Drawing a phone from its list of elements: bars, rows, switches, fields, dialogs, keyboard and launcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.domains.android.picture.widgets import (
    BAR_END,
    DRAWERS,
    GROUPS,
    HEIGHT,
    SMALL,
    TEXT,
    TITLE,
    WIDTH,
    group,
    words,
)
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.boxes import holds, inset, union, visible
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.glyphs import drawing_of, glyph, tile

_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@dataclass(frozen=True, slots=True)
class ScreenLayout:
    """The plan of a screen: its nodes without the keyboard, the place of the keyboard, and the panel of a dialog."""

    nodes: tuple[ScreenNode, ...]
    keyboard: Box | None
    panel: Box | None
    launcher: bool


def draw(nodes: Sequence[ScreenNode]) -> Canvas:
    """Draw the whole screen of 1080 by 2400 pixels; the status bar stays empty where no element lies in it."""
    plan = planned(visible(nodes, WIDTH, HEIGHT))
    canvas = Canvas(WIDTH, HEIGHT, style.PHONE)
    if plan.launcher:
        canvas.gradient(Box(0, 0, WIDTH, HEIGHT), style.PHONE_WALLPAPER)
        _launcher(canvas, plan.nodes)
    elif plan.panel is not None:
        canvas.box(Box(0, 0, WIDTH, HEIGHT), style.SCRIM)
        canvas.shadow(plan.panel, 56, 30)
        canvas.box(plan.panel, style.PHONE, 56)
        _screen(canvas, plan, bars=False)
    else:
        _screen(canvas, plan, bars=True)
    if plan.keyboard is not None:
        _keyboard(canvas, plan.keyboard)
    canvas.box(Box(WIDTH // 2 - 150, HEIGHT - 34, 300, 10), style.WHITE if plan.launcher else style.INK, 5)
    return canvas


def planned(nodes: Sequence[ScreenNode]) -> ScreenLayout:
    """Plan a screen by its elements."""
    board = next((node.box for node in nodes if node.description == "Keyboard" and node.box), None)
    rest = [
        node
        for node in nodes
        if node.box is not None and not (board is not None and node.box.y >= board.y and node.box.height < HEIGHT // 2)
    ]
    body = [node for node in rest if node.role not in ("Toast", "ProgressBar")]
    panel = None
    boxes = [node.box for node in body if node.box is not None]
    if boxes:
        around = union(boxes)
        if around.width <= WIDTH - 100 and around.x >= 40 and not any(box.width > WIDTH - 100 for box in boxes):
            # A dialog lies in the middle, a menu at the right edge.
            edge = around.x - 24 if around.x > WIDTH // 3 else min(around.x, WIDTH - around.x - around.width) - 24
            width = around.width + 48 if around.x > WIDTH // 3 else WIDTH - 2 * edge
            panel = Box(edge, around.y - 32, width, around.height + 64)
    icons = [node for node in body if _is_app(node)]
    named = any("Home screen" in node.description or "apps" in node.description for node in body)
    launcher = len(icons) >= 4 and named
    return ScreenLayout(tuple(rest), board, None if launcher else panel, launcher)


def _is_app(node: ScreenNode) -> bool:
    return (
        node.role == "TextView"
        and node.box is not None
        and node.box.height >= 150
        and node.box.width <= 300
        and "long_clickable" in node.flags
    )


# The functions below draw whole screens.


def _launcher(canvas: Canvas, nodes: Sequence[ScreenNode]) -> None:
    for node in nodes:
        box = node.box
        if box is None or box.height >= HEIGHT // 2:
            continue
        if _is_app(node):
            side = 150
            picture = Box(
                box.x + (box.width - side) // 2, box.y + (14 if node.text else (box.height - side) // 2), side, side
            )
            tile(canvas, picture, node.label, round_=True)
            if node.text:
                below = Box(box.x - 10, picture.y + side + 14, box.width + 20, 48)
                canvas.words(below, node.text, SMALL, style.WHITE, align="centre")
        elif node.description == "Search" or "earch" in node.label:
            canvas.box(box, style.WHITE, box.height // 2)
            glyph(canvas, Box(box.x + 48, box.y + box.height // 2 - 28, 56, 56), "magnifier", style.PHONE_ACCENT)
            canvas.words(inset(box, 140, 20), node.label, TEXT, style.MUTED)
        else:
            canvas.words(box, node.label, TITLE, style.WHITE)


def _screen(canvas: Canvas, plan: ScreenLayout, bars: bool) -> None:
    nodes = plan.nodes
    boxes = [node.box for node in nodes if node.box is not None]
    if bars:
        canvas.box(Box(0, 0, WIDTH, BAR_END), style.PHONE_BAR)
    tabs = [node for node in nodes if _is_tab(node)]
    if len(tabs) >= 2 and tabs[0].box is not None:
        top = tabs[0].box.y
        canvas.box(Box(0, top - 1, WIDTH, HEIGHT - top + 1), style.PHONE_BAR)
    details = _details(nodes)
    for node in nodes:
        if node.box is None:
            continue
        if len(tabs) >= 2 and node in tabs:
            _tab(canvas, node, node.box)
            continue
        if node.line in details:
            words(canvas, node, node.box, detail=True)
            continue
        draw_it = DRAWERS.get(node.role)
        if draw_it is None:
            words(canvas, node, node.box) if node.label and not _holds_others(node.box, boxes) else group(canvas, node)
        elif node.role in GROUPS:
            group(canvas, node)
        else:
            draw_it(canvas, node, node.box)


def _details(nodes: Sequence[ScreenNode]) -> set[int]:
    """Return the lines of texts that stand below another text of the same row."""
    details: set[int] = set()
    row: Box | None = None
    above: Box | None = None
    for node in nodes:
        if node.role in GROUPS:
            row, above = node.box if node.box and node.box.height < 400 else None, None
        elif node.role == "TextView" and node.box is not None and row is not None and holds(row, node.box):
            if above is not None and node.box.x == above.x and node.box.y >= above.y + above.height - 8:
                details.add(node.line)
            above = above or node.box
    return details


def _holds_others(box: Box, boxes: Sequence[Box]) -> bool:
    return sum(box != other and holds(box, other) for other in boxes) > 0


def _keyboard(canvas: Canvas, box: Box) -> None:
    canvas.box(box, style.KEYBOARD)
    gap, side, high = 10, 98, 150
    top = box.y + 40
    for number, letters in enumerate(_KEYS):
        width = len(letters) * (side + gap) - gap
        left = (WIDTH - width) // 2
        for place, letter in enumerate(letters):
            key = Box(left + place * (side + gap), top + number * (high + 16), side, high)
            canvas.box(key, style.WHITE, 16)
            canvas.words(key, letter, TITLE, align="centre")
    last = top + 3 * (high + 16)
    canvas.box(Box(20, last, 150, high), style.LINE, 16)
    canvas.words(Box(20, last, 150, high), "?123", SMALL, align="centre")
    canvas.box(Box(190, last, 680, high), style.WHITE, 16)
    canvas.box(Box(904, last, 156, high), style.PHONE_ACCENT, 60)
    glyph(canvas, Box(950, last + 50, 60, 60), "check", style.WHITE)
    delete = Box(940, top + 2 * (high + 16), 120, high)
    canvas.box(delete, style.LINE, 16)
    glyph(canvas, Box(delete.x + 34, delete.y + 50, 52, 52), "back", style.INK)


def _is_tab(node: ScreenNode) -> bool:
    return (
        node.role == "TextView"
        and node.box is not None
        and node.box.y >= 1900
        and 150 <= node.box.height <= 260
        and "clickable" in node.flags
        and node.box.width < 640
    )


def _tab(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    chosen = "selected" in node.flags
    colour = style.PHONE_ACCENT if chosen else style.MUTED
    drawing = drawing_of(node.label)
    x, _ = box.centre
    if chosen:
        canvas.box(Box(x - 84, box.y + (20 if drawing else 53), 168, 80), style.PHONE_PALE, 40)
    if drawing is not None:
        glyph(canvas, Box(x - 28, box.y + 32, 56, 56), drawing, colour)
        canvas.words(Box(box.x, box.y + 108, box.width, 48), node.label, 36, colour, align="centre", bold=chosen)
    else:
        canvas.words(box, node.label, SMALL, colour, align="centre", bold=chosen)
