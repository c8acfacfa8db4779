"""Drawing the elements of a desktop, each by its role."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.boxes import inset, middle, shrunk
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.glyphs import drawing_of, glyph, tile

TEXT = 15
_ADDRESS = re.compile(r"[A-Z]{1,3}\d{1,7}")
_NUMBER = re.compile(r"[-+]?[\d.,  ]+(?:\s?[%€$])?|[$€][\d.,]+")


def states(node: ScreenNode) -> set[str]:
    """Return the states that the description of an element names."""
    return set(re.split(r"[,\s]+", node.description.lower())) & {"checked", "selected", "focused", "pressed"}


def _button(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    on = bool(states(node) & {"checked", "pressed", "selected"})
    name = node.label
    if name in ("Minimize", "Maximize", "Restore", "Close") and box.width <= 40:
        side = min(box.width, 24)
        round_ = Box(box.x + (box.width - side) // 2, box.y + (box.height - side) // 2, side, side)
        canvas.disc(round_, style.PRESSED)
        glyph(canvas, shrunk(round_, 7), name.lower(), style.INK)
        return
    if box.height > 90:
        canvas.box(shrunk(box, 2), style.PANEL, 10)
        tile(canvas, Box(box.x, box.y + 8, box.width, box.height - 44), name)
        canvas.words(Box(box.x + 4, box.y + box.height - 32, box.width - 8, 24), name, TEXT, align="centre")
        return
    drawing = drawing_of(name)
    wide = style.width_of(name, TEXT)
    canvas.box(shrunk(box, 1), style.PRESSED if on else style.BUTTON, 7, style.BLUE if on else style.LINE)
    tight = style.width_of(name, TEXT - 3) > box.width
    if drawing is not None and (tight or box.width <= 44):
        glyph(canvas, middle(box, 16), drawing, style.INK)
    else:
        canvas.words(inset(box, 3, 3), name, TEXT if wide <= box.width - 6 else TEXT - 3, align="centre")


def _field(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    focused = "focused" in states(node)
    canvas.box(box, style.WHITE, 6, style.BLUE if focused else style.LINE, 2 if focused else 1)
    text = node.text
    inner = inset(box, 10, 10)
    if box.height > 60:
        _lines(canvas, box, text)
        return
    if node.role == "combo-box":
        x, y = box.x + box.width - 20, box.y + box.height // 2
        canvas.draw.polygon([(x - 6, y - 3), (x + 6, y - 3), (x, y + 5)], fill=style.MUTED)
        inner = inner._replace(width=inner.width - 22)
    if text:
        canvas.words(inner, text, TEXT)
    else:
        canvas.words(inner, node.name, TEXT, style.FAINT)
    if focused and node.role != "combo-box":
        x = inner.x + min(style.width_of(text, TEXT), inner.width) + 1
        canvas.line([(x, box.y + 8), (x, box.y + box.height - 9)], style.INK)


def _lines(canvas: Canvas, box: Box, text: str) -> None:
    """Draw the lines of an editor in cells of 8 by 20 pixels."""
    lines = text.replace("\\n", "\n").replace("\\t", "    ").split("\n")
    rows, columns = _room(box, 8)
    for number, line in enumerate(lines[:rows]):
        canvas.cells(box.x + 8, box.y + 4 + 20 * number, line[:columns], (8, 20))


def _room(box: Box, wide: int) -> tuple[int, int]:
    """Return how many lines and columns of characters a box holds, at most those of a screen."""
    return min(max((box.height - 8) // 20, 1), 60), min(max((box.width - 16) // wide, 1), 240)


def _terminal(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.box(box, style.TERMINAL)
    lines = node.text.replace("\\n", "\n").replace("\\t", "        ").rstrip("\n").split("\n")
    rows, columns = _room(box, 9)
    for number, line in enumerate(lines[-rows:]):
        canvas.cells(box.x + 8, box.y + 4 + 20 * number, line[:columns], (9, 20), style.TERMINAL_INK)


def _label(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    text = node.text if len(node.text) > len(node.name) else node.name
    text = (text or node.description).replace("\\n", "\n")
    if "\n" in text or (box.height > 44 and style.width_of(text, TEXT) > box.width):
        canvas.paragraph(box, text, TEXT)
    else:
        canvas.words(box, text, TEXT if box.height >= 18 else max(box.height - 4, 8))


def _heading(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.words(box, node.label, min(max(box.height // 2, TEXT + 2), 24), bold=True)


def _menu_name(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.words(box, node.label, TEXT, align="centre")


def _link(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.words(box, node.label, TEXT, style.BLUE, underline=True)


def _check(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    on = "checked" in states(node)
    y = box.y + box.height // 2
    if node.role == "switch":
        track = Box(box.x + box.width - 46, y - 12, 44, 24)
        canvas.box(track, style.BLUE if on else style.FAINT, 12)
        canvas.disc(Box(track.x + (22 if on else 2), y - 10, 20, 20), style.WHITE)
        canvas.words(inset(box, 4, 52), node.name, TEXT)
        return
    mark = Box(box.x + 4, y - 9, 18, 18)
    if node.role == "radio-button":
        canvas.disc(mark, style.WHITE, style.BLUE if on else style.FAINT, 2)
        if on:
            canvas.disc(shrunk(mark, 5), style.BLUE)
    else:
        canvas.box(mark, style.BLUE if on else style.WHITE, 4, style.BLUE if on else style.FAINT, 2)
        if on:
            glyph(canvas, shrunk(mark, 4), "check", style.WHITE)
    canvas.words(inset(box, 30, 2), node.name, TEXT)


def _item(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    if "selected" in states(node):
        canvas.box(shrunk(box, 1), style.PALE_BLUE, 6)
    start = 12
    drawing = drawing_of(node.name)
    if box.height >= 24 and box.width > 120 and drawing is not None:
        glyph(canvas, Box(box.x + 12, box.y + box.height // 2 - 8, 16, 16), drawing, style.MUTED)
        start = 38
    text = node.name if not node.text or node.text == node.name else f"{node.name}   {node.text}"
    canvas.words(inset(box, start, 6), text, TEXT)


def icon(canvas: Canvas, node: ScreenNode, box: Box | None = None, on_wallpaper: bool = False) -> None:
    """Draw a file, a folder or a program with its name below."""
    box = box or node.box
    if box is None:
        return
    chosen = "selected" in states(node)
    if chosen:
        canvas.box(box, style.BLUE if on_wallpaper else style.PALE_BLUE, 8)
    side = max(min(box.width - 16, box.height - 44, 72), 16)
    picture = Box(box.x + (box.width - side) // 2, box.y + 10, side, side)
    drawing = drawing_of(node.name) if "." in node.name or node.name in ("Trash", "Home") else "folder"
    if drawing == "folder" or (drawing is None and "." not in node.name):
        glyph(canvas, picture, "folder", style.ORANGE)
    elif drawing in (None, "document", "sheet", "picture", "music"):
        canvas.box(shrunk(picture, side // 10), style.WHITE, 4)
        colour = {"sheet": style.GREEN, "picture": style.BLUE, "music": style.RED}.get(drawing or "", style.MUTED)
        if node.name.lower().endswith(".pdf"):
            colour = style.RED
        glyph(canvas, shrunk(picture, side // 10), drawing or "document", colour)
    else:
        tile(canvas, picture, node.name)
    below = Box(box.x + 2, picture.y + side + 6, box.width - 4, max(box.y + box.height - picture.y - side - 8, 18))
    colour = style.WHITE if on_wallpaper else style.INK
    lines = style.wrapped(node.name.replace("-", "- "), TEXT - 1, below.width, 2)
    for number, line in enumerate(lines[: max(below.height // 18, 1)]):
        place = Box(below.x, below.y + 18 * number, below.width, 18)
        canvas.words(place, line.replace("- ", "-"), TEXT - 1, colour, align="centre")


def cell_text(node: ScreenNode) -> str:
    """Return what a cell of a table shows; the name of an empty cell is only its address.

    >>> cell_text(ScreenNode("table-cell", "B2")), cell_text(ScreenNode("table-cell", "Tea"))
    ('', 'Tea')
    """
    return node.text or ("" if _ADDRESS.fullmatch(node.name) else node.name)


def _cell(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    on = states(node)
    text = cell_text(node)
    if node.role != "table-cell":
        canvas.box(box, style.PRESSED if on & {"selected", "checked"} else style.SHEET_HEAD, 0, style.LINE)
        canvas.words(inset(box, 4, 4), node.label, TEXT - 2, style.MUTED, align="centre")
        return
    chosen = bool(on & {"selected", "focused"})
    canvas.box(box, style.WHITE, 0, style.LINE)
    if chosen:
        canvas.box(box, style.PALE_BLUE, 0, style.BLUE, 2)
    inner = inset(box, 5, 5)
    if box.height > 44 and style.width_of(text, TEXT - 1) > inner.width:
        canvas.paragraph(inner._replace(y=box.y + 4, height=box.height - 4), text, TEXT - 1)
        return
    canvas.words(inner, text, TEXT - 1, align="right" if _NUMBER.fullmatch(text) else "left")


def _tab(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    chosen = bool(states(node) & {"selected", "checked"})
    canvas.box(box, style.WHITE if chosen else style.PANEL, 0, style.LINE)
    if chosen:
        canvas.box(Box(box.x, box.y + box.height - 3, box.width, 3), style.BLUE)
    canvas.words(inset(box, 6, 6), node.label, TEXT, align="centre", bold=chosen)


def _slider(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    y = box.y + box.height // 2
    value = re.search(r"\d+(?:\.\d+)?", node.text)
    share = min(float(value[0]) / 100, 1.0) if value else 0.5
    canvas.box(Box(box.x + 4, y - 3, box.width - 8, 6), style.LINE, 3)
    canvas.box(Box(box.x + 4, y - 3, int((box.width - 8) * share), 6), style.BLUE, 3)
    canvas.disc(Box(box.x + 4 + int((box.width - 24) * share), y - 9, 18, 18), style.WHITE, style.FAINT, 2)


def _image(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.box(box, style.PANEL, 4, style.LINE)
    glyph(canvas, middle(box, min(box.width, box.height, 64) - 8), "picture", style.FAINT)


def _separator(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    x, y = box.centre
    ends = [(box.x, y), (box.x + box.width, y)] if box.width >= box.height else [(x, box.y), (x, box.y + box.height)]
    canvas.line(ends, style.LINE)


def _group(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    canvas.box(box, None, 6, style.LINE)


def widget(canvas: Canvas, node: ScreenNode) -> None:
    """Draw an element by its role; an element of an unknown role is drawn as a text."""
    if node.box is not None and node.box.width > 0 and node.box.height > 0:
        _DRAWERS.get(node.role, _label)(canvas, node, node.box)


_Drawer = Callable[[Canvas, ScreenNode, Box], None]
_DRAWERS: Mapping[str, _Drawer] = {
    **dict.fromkeys(("push-button", "toggle-button", "button"), _button),
    **dict.fromkeys(("entry", "text", "combo-box", "spin-button", "password-text"), _field),
    **dict.fromkeys(("check-box", "radio-button", "switch"), _check),
    **dict.fromkeys(("list-item", "tree-item"), _item),
    **dict.fromkeys(("table-cell", "column-header", "row-header", "table-column-header", "table-row-header"), _cell),
    "table": lambda canvas, node, box: canvas.box(box, style.WHITE, 0, style.LINE),
    **dict.fromkeys(("scroll-pane", "panel", "tool-bar", "list", "filler"), _group),
    "heading": _heading,
    "icon": lambda canvas, node, box: icon(canvas, node, box),
    "image": _image,
    "link": _link,
    "menu": _menu_name,
    "page-tab": _tab,
    "separator": _separator,
    "slider": _slider,
    "terminal": _terminal,
}
