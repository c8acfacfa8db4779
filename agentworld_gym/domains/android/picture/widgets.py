"""Drawing the elements of a phone, each by its class."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.boxes import inset, middle, shrunk
from agentworld_gym.kit.rendering.canvas import Canvas
from agentworld_gym.kit.rendering.glyphs import drawing_of, glyph, tile

WIDTH, HEIGHT = 1080, 2400
STATUS = 120
BAR_END = 256
TEXT, SMALL, TITLE = 44, 38, 54
_WIDE = 900
GROUPS = frozenset(("ViewGroup", "FrameLayout", "LinearLayout", "RecyclerView", "ScrollView"))
_TIME = re.compile(r"\d{1,2}:\d\d(?: [AP]M)?")


def group(canvas: Canvas, node: ScreenNode) -> None:
    """Draw a row, a card or a plain container."""
    box = node.box
    if box is None or box.height >= HEIGHT // 2 or node.role in ("RecyclerView", "ScrollView"):
        return
    if "selected" in node.flags or "checked" in node.flags:
        canvas.box(shrunk(box, 8), style.PHONE_PALE, 36)
    elif box.height > 200 and "clickable" in node.flags:
        canvas.box(shrunk(box, 16), style.PHONE_CARD, 48)
    elif "clickable" in node.flags and box.width > _WIDE:
        y = box.y + box.height - 1
        canvas.line([(box.x + 48, y), (box.x + box.width - 48, y)], style.PHONE_CARD, 2)


def words(canvas: Canvas, node: ScreenNode, box: Box, detail: bool = False) -> None:
    """Draw a text, large where it has room and small where it is a detail of the text above it."""
    text = node.text or node.description
    faint = not (node.text or "clickable" in node.flags)
    colour = style.FAINT if faint else style.MUTED if detail else style.INK
    chosen = "selected" in node.flags
    title = STATUS <= box.y < BAR_END and box.height >= 110
    big = box.height > 130 and box.width > 240 and len(text) <= 9 and any(letter.isdigit() for letter in text)
    size = min(box.height // 2, 104) if big else TITLE if title else TEXT
    if chosen and box.width < 300:
        side = min(box.width, box.height) - 12
        wide = max(side, min(box.width, style.width_of(text, size) + 40))
        round_ = Box(box.x + (box.width - wide) // 2, box.y + (box.height - side) // 2, wide, side)
        canvas.box(round_, style.PHONE_ACCENT, side // 2)
        canvas.words(box, text, size, style.WHITE, align="centre")
        return
    if not big and _TIME.fullmatch(text) and box.width >= style.width_of(text, TITLE + 6):
        canvas.words(box, text, TITLE + 6, colour, bold=True)
        return
    lines = max(round(box.height / 58), 1)
    if not big and (("\n" in text) or (lines > 1 and style.width_of(text, TEXT) > box.width)):
        canvas.paragraph(box, text, TEXT, colour, leading=58 / TEXT)
        return
    size = SMALL if detail and size == TEXT else size
    if box.width >= style.width_of(text, size) or title:
        centred = box.width < 200 and box.height > 80 and "clickable" in node.flags
        canvas.words(box, text, size, colour, align="centre" if centred else "left", bold=title)
    else:
        smaller = SMALL if style.width_of(text, SMALL) <= box.width else 32
        canvas.words(box, text, smaller, colour)


def _button(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    name = node.label
    off = "clickable" not in node.flags
    if node.role == "ImageButton":
        _picture_button(canvas, node, box)
        return
    size = TEXT if style.width_of(name, TEXT) <= box.width - 40 else SMALL
    short = len(name) == 1 or (len(name) == 2 and not name.isalpha()) or name == "AC"
    inner = shrunk(box, 8)
    fill = style.PHONE_CARD if short or off else style.PHONE_PALE
    canvas.box(inner, fill, inner.height // 2)
    colour = style.FAINT if off else style.INK if short else style.PHONE_ACCENT
    canvas.words(inner, name, TITLE + 10 if short else size, colour, align="centre", bold=not short)


def _picture_button(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    name = node.description or node.text
    side = min(box.width, box.height)
    floating = side >= 150 and box.y > 1500
    drawing = drawing_of(name)
    colour = style.INK if "clickable" in node.flags else style.FAINT
    if floating:
        canvas.shadow(box, 48, 16)
        canvas.box(box, style.PHONE_PALE, 52)
        colour = style.PHONE_ACCENT
    elif "selected" in node.flags or "checked" in node.flags:
        colour = style.PHONE_ACCENT
    if drawing is not None:
        glyph(canvas, middle(box, 60 if side < 200 else 76), drawing, colour)
    elif name:
        size = 34 if style.width_of(name, 34) <= box.width - 8 else 26
        canvas.words(box, name, size, colour, align="centre")


def _switch(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    on = "checked" in node.flags
    if node.text and box.width > 300:
        canvas.box(box, style.PHONE_ACCENT if on else style.PHONE_CARD, 56)
        colour = style.WHITE if on else style.INK
        drawing = drawing_of(node.text)
        if drawing is not None:
            glyph(canvas, Box(box.x + 44, box.y + box.height // 2 - 28, 56, 56), drawing, colour)
        canvas.words(inset(box, 128, 20), node.text, SMALL, colour, bold=True)
        return
    track = middle(box, 0)._replace(width=128, height=76)
    track = Box(track.x - 64, track.y - 38, 128, 76)
    fill = style.PHONE_ACCENT if on else style.PHONE_CARD
    canvas.box(track, fill, 38, None if on else style.MUTED, 5)
    side = 56 if on else 44
    x = track.x + (128 - side - 10 if on else 14)
    canvas.disc(Box(x, track.y + 38 - side // 2, side, side), style.WHITE if on else style.MUTED)


def _check(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    on = "checked" in node.flags
    if node.text and box.height <= 120 and box.width < 700:
        canvas.box(shrunk(box, 8), style.PHONE_PALE if on else style.PHONE, 24, None if on else style.LINE, 4)
        canvas.words(box, node.text, SMALL, style.PHONE_ACCENT if on else style.INK, align="centre", bold=on)
        return
    side = 56
    left = box.x + ((box.width - side) // 2 if not node.text else 48)
    mark = Box(left, box.y + (box.height - side) // 2, side, side)
    colour = style.PHONE_ACCENT if on else style.MUTED
    if node.role == "RadioButton":
        canvas.disc(mark, None, colour, 6)
        if on:
            canvas.disc(shrunk(mark, 15), colour)
    else:
        canvas.box(mark, colour if on else style.PHONE, 10, colour, 6)
        if on:
            glyph(canvas, shrunk(mark, 12), "check", style.WHITE)
    if node.text:
        canvas.words(inset(box, 48 + side + 36, 8), node.text, TEXT)


def _field(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    focused = "focused" in node.flags
    hint = node.text == node.description or not node.text
    inner = Box(box.x + 6, box.y + 14, box.width - 12, box.height - 22)
    canvas.box(inner, style.PHONE, 20, style.PHONE_ACCENT if focused else style.MUTED, 6 if focused else 3)
    room = inset(inner, 36, 24)
    if not hint and node.description and box.height >= 150 and box.height < 400:
        label = style.fitted(node.description, 32, room.width)
        tab = Box(room.x - 10, inner.y - 18, style.width_of(label, 32) + 20, 40)
        canvas.box(tab, style.PHONE)
        canvas.words(inset(tab, 10, 0), label, 32, style.PHONE_ACCENT if focused else style.MUTED)
    text, colour = node.text or node.description, style.FAINT if hint else style.INK
    if box.height >= 300:
        canvas.paragraph(Box(room.x, room.y + 30, room.width, room.height - 60), text, TEXT, colour)
        return
    canvas.words(room, text, TEXT, colour)
    if focused:
        x = room.x + (0 if hint else min(style.width_of(text, TEXT), room.width) + 4)
        canvas.box(Box(x, inner.y + inner.height // 2 - 34, 5, 68), style.PHONE_ACCENT)


def _image(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    side = min(box.width, box.height)
    if side <= 140:
        tile(canvas, box, node.label, round_=True)
    else:
        canvas.box(box, style.PHONE_CARD, 24)
        glyph(canvas, middle(box, min(side // 2, 200)), drawing_of(node.label) or "picture", style.MUTED)


def _slider(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    digits = "".join(letter for letter in node.label if letter.isdigit())
    share = min(int(digits[:3]) / 100, 1.0) if digits else 0.5
    y = box.y + box.height // 2
    canvas.box(Box(box.x + 20, y - 22, box.width - 40, 44), style.PHONE_CARD, 22)
    canvas.box(Box(box.x + 20, y - 22, int((box.width - 40) * share), 44), style.PHONE_ACCENT, 22)


def _progress(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    inner = shrunk(box, 20)
    canvas.disc(inner, None, style.PHONE_CARD, 14)
    corners = (inner.x, inner.y, inner.x + inner.width, inner.y + inner.height)
    canvas.draw.arc(corners, -90, 120, fill=style.PHONE_ACCENT, width=14)


def _toast(canvas: Canvas, node: ScreenNode, box: Box) -> None:
    wide = min(style.width_of(node.text, SMALL) + 120, WIDTH - 80)
    bubble = Box((WIDTH - wide) // 2, box.y, wide, box.height)
    canvas.box(bubble, style.INK, bubble.height // 2)
    canvas.words(inset(bubble, 40, 40), node.text, SMALL, style.WHITE, align="centre")


_Drawer = Callable[[Canvas, ScreenNode, Box], None]
DRAWERS: Mapping[str, _Drawer] = {
    **dict.fromkeys(("TextView", "TextClock", "Chronometer", "View"), words),
    **dict.fromkeys(("Button", "ImageButton"), _button),
    **dict.fromkeys(("CheckBox", "RadioButton", "CheckedTextView", "ToggleButton"), _check),
    **dict.fromkeys(GROUPS, lambda canvas, node, box: None),
    "EditText": _field,
    "ImageView": _image,
    "ProgressBar": _progress,
    "SeekBar": _slider,
    "Switch": _switch,
    "Toast": _toast,
}
