"""The elements of a page as a tree, and the drawing of buttons, fields, pictures and notices, which are boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.domains.web.picture.flow import GAP, PageColumn
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.glyphs import drawing_of, glyph

TEXT = 16
TEXTS = frozenset(("text", "StaticText", "generic"))
"""The roles of the fields beside which a page writes their names."""
DEEPEST = 60
"""How deep elements are drawn inside each other; no real page is deeper."""


@dataclass(slots=True)
class PictureElement:
    """A node with the elements in it; it is `labelled` if the page writes its name as a text beside it."""

    node: ScreenNode
    children: list[PictureElement] = field(default_factory=list)
    labelled: bool = False

    @property
    def role(self) -> str:
        """The role of the node."""
        return self.node.role

    def within(self) -> Iterator[PictureElement]:
        """Yield all elements in it, in the order of the page."""
        for child in self.children:
            yield child
            yield from child.within()

    def words(self) -> str:
        """What the element says, as one text."""
        parts = [self.node.name or self.node.text, *(each.node.name or each.node.text for each in self.within())]
        return " ".join(part for part in (parts[:1] if self.node.name else parts) if part)


def tree(nodes: Sequence[ScreenNode]) -> list[PictureElement]:
    """Return the elements at the top, each with the elements in it, by the depths of the nodes."""
    roots: list[PictureElement] = []
    path: list[PictureElement] = []
    for node in nodes:
        element = PictureElement(node)
        while path and (path[-1].node.depth >= node.depth or len(path) >= DEEPEST):
            path.pop()
        (path[-1].children if path else roots).append(element)
        path.append(element)
    for siblings in (roots, *(each.children for root in roots for each in (root, *root.within()))):
        texts = {each.node.text.strip() for each in siblings if each.role in TEXTS}
        for each in siblings:
            each.labelled = each.role not in TEXTS and each.node.name in texts
    return roots


def button(flow: PageColumn, element: PictureElement) -> None:
    """Draw a button, a tab or an option."""
    node = element.node
    name = element.words()
    off, on = "disabled" in node.flags, bool({"selected", "pressed", "checked", "expanded"} & set(node.flags))
    drawing = drawing_of(name) if not name else None
    wide = style.width_of(name, flow.size) + 28

    def draw(box: Box) -> None:
        if node.role == "tab":
            flow.canvas.top_box(box, style.WHITE if on else style.PANEL, 6)
            flow.canvas.box(Box(box.x, box.y + box.height - 3, box.width, 3), style.BLUE if on else style.LINE)
        elif node.role == "option":
            flow.canvas.box(box, style.PALE_BLUE if on else style.WHITE, 4)
        else:
            fill = style.PANEL if off else style.PALE_BLUE if on else style.BUTTON
            flow.canvas.box(box, fill, 6, style.BLUE if "active" in node.flags else style.LINE)
        if drawing:
            glyph(flow.canvas, box, drawing, style.INK)
        flow.canvas.words(box, name, flow.size, style.FAINT if off else style.INK, align="centre")

    flow.put(wide, int(flow.size * 2.1), draw)


def entry(flow: PageColumn, element: PictureElement) -> None:
    """Draw a text field, or a list that opens."""
    node = element.node
    options = [child.node for child in element.within() if child.role == "option"]
    chosen = next((option.name for option in options if "selected" in option.flags), "")
    value = node.text or chosen or next((child.node.text for child in element.children if child.role == "text"), "")
    hint = node.value("placeholder") or ("" if element.labelled else node.name)
    tall = 1 + min(value.count("\n"), 5)
    wide = 110 if node.role == "spinbutton" else 300
    if options:
        wide = max(90, 50 + max(style.width_of(option.name, TEXT) for option in options))

    def draw(box: Box) -> None:
        active, off = "active" in node.flags, "disabled" in node.flags
        edge = style.BLUE if active else style.MUTED
        flow.canvas.box(box, style.PANEL if off else style.WHITE, 5, edge, 2 if active else 1)
        inner = Box(box.x + 10, box.y, box.width - 20, box.height)
        if node.role == "combobox" and options:
            x, y = box.x + box.width - 16, box.y + box.height // 2
            flow.canvas.draw.polygon([(x - 6, y - 3), (x + 6, y - 3), (x, y + 5)], fill=style.MUTED)
        if node.role == "searchbox":
            glyph(flow.canvas, Box(box.x + box.width - 28, box.y + 9, 17, 17), "magnifier", style.MUTED)
        if "\n" in value:
            flow.canvas.paragraph(Box(inner.x, box.y + 6, inner.width, box.height - 8), value, TEXT)
        else:
            flow.canvas.words(inner, value or hint, TEXT, style.INK if value else style.FAINT)

    flow.put(wide, 36 + 22 * (tall - 1), draw)


def check(flow: PageColumn, element: PictureElement) -> None:
    """Draw a checkbox or a radio button."""
    node = element.node
    name = "" if element.labelled else node.name or node.text
    on = "checked" in node.flags or "checked=true" in node.flags

    def draw(box: Box) -> None:
        mark = Box(box.x, box.y + (box.height - 18) // 2, 18, 18)
        colour = style.BLUE if on else style.MUTED
        if node.role in ("radio", "menuitemradio"):
            flow.canvas.disc(mark, style.WHITE, colour, 2)
            if on:
                flow.canvas.disc(Box(mark.x + 5, mark.y + 5, 8, 8), colour)
        else:
            flow.canvas.box(mark, colour if on else style.WHITE, 4, colour, 2)
            if on:
                glyph(flow.canvas, Box(mark.x + 4, mark.y + 4, 10, 10), "check", style.WHITE)
        flow.canvas.words(Box(box.x + 26, box.y, box.width - 26, box.height), name, TEXT)

    flow.put(34 + style.width_of(name, TEXT) if name else 18, 28, draw, 14 if name else GAP)


def image(flow: PageColumn, node: ScreenNode) -> None:
    """Draw a picture by its name."""

    def draw(box: Box) -> None:
        flow.canvas.box(box, style.PANEL, 4, style.LINE)
        glyph(flow.canvas, Box(box.x + 8, box.y + 6, 28, box.height - 12), "picture", style.FAINT)
        flow.canvas.words(Box(box.x + 42, box.y, box.width - 48, box.height), node.name, 13, style.MUTED)

    flow.put(56 + style.width_of(node.name, 13), 44, draw)


def measure(flow: PageColumn, node: ScreenNode) -> None:
    """Draw a meter or a progress bar."""
    digits = re.search(r"\d+(?:\.\d+)?", node.text)
    share = min(float(digits[0]) / 100, 1.0) if digits else 0.5

    def draw(box: Box) -> None:
        flow.canvas.box(box, style.PANEL, 6)
        flow.canvas.box(Box(box.x, box.y, max(int(box.width * share), 1), box.height), style.BLUE, 6)

    flow.put(240, 12, draw)


def notice(flow: PageColumn, element: PictureElement) -> None:
    """Draw a notice over the whole width of the page."""
    text = element.words()
    if not text:
        return
    alert = element.role == "alert"
    flow.skip(4)
    lines = style.wrapped(text, TEXT, flow.width - 40)
    box = Box(flow.x, flow.y, flow.width, 20 + 22 * len(lines))
    flow.canvas.box(box, (253, 232, 232) if alert else (228, 244, 232), 6)
    flow.canvas.box(Box(box.x, box.y, 5, box.height), style.RED if alert else style.GREEN)
    flow.canvas.paragraph(Box(box.x + 20, box.y + 10, box.width - 40, box.height - 16), text, TEXT)
    flow.skip(box.height + 8)
