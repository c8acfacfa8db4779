"""Drawing a web page from its snapshot: the frame of a browser, and the elements in a simple flow."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.domains.web.picture import elements
from agentworld_gym.domains.web.picture.elements import TEXT, PictureElement, tree
from agentworld_gym.domains.web.picture.flow import PageCanvas, PageColumn
from agentworld_gym.domains.web.screen_texts import location
from agentworld_gym.kit.rendering import style
from agentworld_gym.kit.rendering.glyphs import glyph

WIDTH, HEIGHT, MAX_HEIGHT = 1280, 800, 12_000
FRAME = 84
MARGIN = 40
HEADINGS = {"1": 32, "2": 25, "3": 21, "4": 18, "5": 16, "6": 15}

FIELDS = frozenset(("textbox", "searchbox", "spinbutton", "combobox"))
CHECKS = frozenset(("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"))
INLINE = frozenset(("text", "StaticText", "strong", "emphasis", "code", "time", "mark", "superscript", "subscript"))
_RICH = frozenset(("button", "heading", "paragraph", "img", "article", "table"))
_DIALOGS = frozenset(("dialog", "alertdialog"))
_MODAL = re.compile(r'(?m)^- \["(\w+)" dialog with message "(.*)"\]')
_TAB = re.compile(r"(?m)^- (\d+): (\(current\) )?\[(.*?)\]\((.*?)\)\s*$")


def draw(nodes: Sequence[ScreenNode], observation: str) -> PageCanvas:
    """Draw the whole page, 1280 pixels wide and as high as it needs."""
    roots = tree(nodes)
    body = PageCanvas(WIDTH, MAX_HEIGHT, style.WHITE)
    page = _Page(body, location(observation)[0].partition("://")[2].partition("/")[0])
    flow = PageColumn(body, 0, FRAME, WIDTH, TEXT)
    page.blocks(flow, roots)
    flow.skip(24)
    height = min(max(flow.y, HEIGHT), MAX_HEIGHT)
    if page.dialogs:
        body.veil(Box(0, FRAME, WIDTH, height - FRAME), style.BLACK, 0.5)
        for dialog in page.dialogs:
            height = max(height, page.dialog(dialog) + 24)
    _frame(body, observation, nodes)
    if (modal := _MODAL.search(observation)) is not None:
        body.veil(Box(0, 0, WIDTH, height), style.BLACK, 0.35)
        _native(body, modal[1], modal[2])
    canvas = PageCanvas(WIDTH, height, style.WHITE)
    canvas.places, canvas.dialog_buttons = body.places, body.dialog_buttons
    canvas.image.paste(body.image.crop((0, 0, WIDTH, height)), (0, 0))
    return canvas


def _frame(canvas: PageCanvas, observation: str, nodes: Sequence[ScreenNode]) -> None:
    """Draw the tabs and the address bar of the browser."""
    url, title = location(observation)
    if not url and nodes:
        url = (nodes[0].value("url") or "").strip("'")
    tabs = [(found[3], bool(found[2])) for found in _TAB.finditer(observation)] or [(title or url, True)]
    canvas.box(Box(0, 0, WIDTH, 40), style.PRESSED)
    canvas.box(Box(0, 40, WIDTH, 44), style.PAPER)
    wide = min(240, (WIDTH - 60) // len(tabs))
    for number, (name, current) in enumerate(tabs):
        tab = Box(10 + number * wide, 6, wide - 6, 34)
        canvas.top_box(tab, style.PAPER if current else style.BUTTON, 10)
        glyph(canvas, Box(tab.x + 12, 15, 16, 16), "globe", style.BLUE if current else style.MUTED)
        canvas.words(Box(tab.x + 36, 6, tab.width - 44, 34), name, 14, style.INK if current else style.MUTED)
    for place, drawing in enumerate(("back", "forward", "refresh")):
        glyph(canvas, Box(16 + 38 * place, 54, 17, 17), drawing, style.MUTED)
    canvas.box(Box(132, 47, WIDTH - 190, 30), style.PANEL, 15)
    glyph(canvas, Box(146, 55, 13, 13), "lock", style.MUTED)
    canvas.words(Box(170, 47, WIDTH - 250, 30), url, 14)
    glyph(canvas, Box(WIDTH - 38, 54, 17, 17), "more", style.MUTED)
    canvas.line([(0, FRAME - 1), (WIDTH, FRAME - 1)], style.LINE)


def _native(canvas: PageCanvas, kind: str, message: str) -> None:
    """Draw a dialog of the browser itself below the address bar."""
    lines = style.wrapped(message, TEXT, 420, 12)
    box = Box((WIDTH - 480) // 2, FRAME + 6, 480, 110 + 22 * len(lines))
    canvas.shadow(box, 12, 20)
    canvas.box(box, style.WHITE, 12)
    canvas.paragraph(Box(box.x + 28, box.y + 24, 420, 22 * len(lines) + 4), message, TEXT)
    for place, name in enumerate(("OK",) if kind == "alert" else ("OK", "Cancel")):
        button = Box(box.x + box.width - 124 - 108 * place, box.y + box.height - 56, 96, 36)
        canvas.dialog_buttons[name] = button
        canvas.box(button, style.BUTTON if place else style.BLUE, 18)
        canvas.words(button, name, TEXT, style.INK if place else style.WHITE, align="centre")


class _Page:
    """A page whose elements are drawn one after the other; dialogs are kept for the end."""

    def __init__(self, canvas: PageCanvas, site: str) -> None:
        self.canvas = canvas
        self.accent = style.tile_colour(site)
        self.dialogs: list[PictureElement] = []

    def blocks(self, flow: PageColumn, elements: Sequence[PictureElement], row: bool = False) -> None:
        """Draw elements; in a `row`, lists and groups do not break the line."""
        for element in elements:
            if flow.y < MAX_HEIGHT - 200:
                self._element(flow, element, row)

    def dialog(self, element: PictureElement) -> int:
        """Draw a dialog in the middle of the page, after measuring it by drawing it once; return where it ends."""
        wide, top = 600, FRAME + 110
        box = Box((WIDTH - wide) // 2, top, wide, 0)
        for outline in (True, False):
            flow = PageColumn(self.canvas, box.x + 28, top + 24, wide - 56, TEXT)
            name = element.node.name
            if name and not any(child.role == "heading" for child in element.within()):
                flow.words(name, bold=True, size=21)
                flow.skip(10)
            self.blocks(flow, element.children)
            flow.skip(20)
            if outline:
                box = box._replace(height=flow.y - top)
                self.canvas.shadow(box, 12, 24)
                self.canvas.box(box, style.WHITE, 12)
        return box.y + box.height

    def _element(self, flow: PageColumn, element: PictureElement, row: bool, within_list: bool = False) -> None:
        canvas, node = self.canvas, element.node
        outer, canvas.owner = canvas.owner, canvas.owner if node.handle is None else node
        self._drawn(flow, element, row, within_list)
        canvas.owner = outer

    def _drawn(self, flow: PageColumn, element: PictureElement, row: bool, within_list: bool) -> None:
        node, role = element.node, element.role
        if role in _DIALOGS:
            self.dialogs.append(element)
        elif role in INLINE:
            self._inline(flow, element, row)
        elif role == "link":
            self._link(flow, element, row)
        elif role == "option" and not within_list:
            pass  # The options of a folded list are not shown.
        elif role in ("button", "menuitem", "tab", "option"):
            elements.button(flow, element)
        elif role in FIELDS:
            elements.entry(flow, element)
        elif role in CHECKS:
            elements.check(flow, element)
        elif role in ("img", "image", "figure") and not element.children:
            elements.image(flow, node)
        elif role == "heading":
            self._heading(flow, element)
        elif role in ("table", "grid", "treegrid"):
            self._table(flow, element)
        elif role in ("list", "listbox", "menu", "tree", "tablist", "toolbar", "menubar", "radiogroup"):
            self._list(flow, element, row or role in ("tablist", "toolbar", "menubar"))
        elif role in ("alert", "status", "note"):
            elements.notice(flow, element)
        elif role == "separator":
            flow.skip(6)
            self.canvas.line([(flow.x, flow.y), (flow.x + flow.width, flow.y)], style.LINE)
            flow.skip(8)
        elif role in ("progressbar", "meter", "slider"):
            elements.measure(flow, node)
        else:
            self._container(flow, element, row)

    def _inline(self, flow: PageColumn, element: PictureElement, row: bool) -> None:
        node = element.node
        bold = element.role == "strong"
        if node.name or node.text:
            flow.words(node.name or node.text, bold=bold)
        self.blocks(flow, element.children, row)

    def _container(self, flow: PageColumn, element: PictureElement, row: bool) -> None:
        node, role = element.node, element.role
        if role in ("banner", "contentinfo"):
            self._band(flow, element)
            return
        if role == "navigation":
            inner = flow if row or flow.x else flow.inner(MARGIN, MARGIN)
            inner.y += 0 if row or flow.x else 12
            self.blocks(inner, element.children, row=True)
            if inner is not flow:
                flow.take(inner)
            elif not row:
                flow.skip(6)
            return
        if role == "main":
            inner = flow.inner(MARGIN, MARGIN)
            inner.y += 20
            self.blocks(inner, element.children)
            flow.take(inner, 20)
            return
        small = row and role in ("generic", "group", "search", "form", "paragraph", "listitem", "region")
        if not small:
            flow.end()
        if role in ("article", "complementary", "region", "form", "tabpanel", "blockquote") and flow.x:
            self._card(flow, element)
            return
        margin = MARGIN if not flow.x and self._is_body(element) else 0
        inner = flow if small or not margin else flow.inner(margin, margin)
        if role in ("group", "radiogroup") and node.name:
            inner.words(node.name, style.MUTED, bold=True)
            inner.end()
        if node.text or (node.name and role == "generic"):
            inner.words(node.text or node.name)
        if role == "code":
            inner.end()
        one_line = role in ("listitem", "cell", "gridcell") or self._short(element)
        self.blocks(inner, element.children, row or one_line)
        if not small:
            inner.skip(8 if role == "paragraph" else 4 if node.text else 0)
        if inner is not flow:
            flow.take(inner)

    @staticmethod
    def _is_body(element: PictureElement) -> bool:
        """Tell whether no band of the page lies in an element, so that it needs the page's margin."""
        return not any(each.role in ("banner", "main", "contentinfo") for each in element.within())

    @staticmethod
    def _short(element: PictureElement) -> bool:
        """Tell whether an element holds only a few small things, such as a field with its label."""
        return len(element.children) <= 4 and all(
            not child.children or child.role in ("combobox", "link", "button") for child in element.children
        )

    def _band(self, flow: PageColumn, element: PictureElement) -> None:
        """Draw the head or the foot of a page over its whole width."""
        flow.end()
        foot = element.role == "contentinfo"
        margin = MARGIN if flow.x == 0 else 12
        for measured in (True, False):
            inner = PageColumn(
                self.canvas,
                flow.x + margin,
                flow.y + 16,
                flow.width - 2 * margin,
                14 if foot else TEXT,
                style.MUTED if foot else style.WHITE,
            )
            self.blocks(inner, element.children, row=not foot)
            inner.skip(12)
            if measured:
                band = Box(flow.x, flow.y, flow.width, inner.y - flow.y)
                self.canvas.box(band, style.PANEL if foot else self.accent)
        flow.take(inner)

    def _card(self, flow: PageColumn, element: PictureElement) -> None:
        """Draw a part of a page with a line around it."""
        flow.skip(4)
        plain = element.role in ("region", "form", "tabpanel")
        edge = 0 if plain else 16
        inner = flow.inner(edge, edge)
        inner.y += edge
        if element.node.text:
            inner.words(element.node.text)
        self.blocks(inner, element.children)
        inner.skip(edge or 6)
        if not plain:
            outline = Box(flow.x, flow.y, flow.width, inner.y - flow.y)
            self.canvas.box(outline, None, 8, style.LINE)
        flow.take(inner, 10)

    def _heading(self, flow: PageColumn, element: PictureElement) -> None:
        size = HEADINGS.get(element.node.value("level") or "2", 20)
        flow.skip(6)
        link = next((child.node for child in element.within() if child.role == "link"), None)
        self.canvas.owner = link or self.canvas.owner
        flow.words(element.words(), style.BLUE if link else style.INK, bold=True, size=size)
        flow.skip(6)

    def _link(self, flow: PageColumn, element: PictureElement, row: bool) -> None:
        name = element.node.name or element.node.text
        if name and flow.colour == style.WHITE:
            flow.words(name, bold=element.node.value("url") == "/")
        elif name:
            flow.words(name, style.BLUE, underline=True, bold="active" in element.node.flags)
        else:
            self.blocks(flow, element.children, row)

    def _list(self, flow: PageColumn, element: PictureElement, row: bool) -> None:
        if row:
            if element.role == "tablist":
                flow.skip(6)
            for child in element.children:
                item = child.role == "listitem"
                if item and child.node.text:
                    flow.words(child.node.text)
                self.blocks(flow, child.children if item else [child], row=True)
            return
        flow.end()
        items = [child for child in element.children if child.role in ("listitem", "treeitem")]
        rich = any(each.role in _RICH or each.role in FIELDS for item in items for each in item.within())
        for child in element.children:
            inner = flow.inner(22 if child in items else 0)
            if child in items:
                top = inner.y
                inner.y += 6 if rich else 0
                if not rich:
                    self.canvas.disc(Box(flow.x + 6, inner.y + 9, 7, 7), style.INK)
                if child.node.text or child.node.name:
                    inner.words(child.node.text or child.node.name)
                self.blocks(inner, child.children, row=True)
                inner.skip(6 if rich else 0)
                if rich:
                    self.canvas.line([(flow.x, inner.y), (flow.x + flow.width, inner.y)], style.LINE)
                    self.canvas.box(Box(flow.x, top + 6, 4, max(inner.y - top - 12, 1)), style.PALE_BLUE)
            else:
                self._element(inner, child, False, within_list=True)
            flow.take(inner)
        flow.skip(8)

    def _table(self, flow: PageColumn, element: PictureElement) -> None:
        rows = [each for each in element.within() if each.role == "row"]
        grid = [list(row.children) for row in rows if row.children]
        columns = max((len(row) for row in grid), default=0)
        flow.skip(4)
        if not columns:
            self.blocks(flow, element.children)
            return
        natural = [
            max((self._natural(row[place]) for row in grid if place < len(row)), default=40) + 24
            for place in range(columns)
        ]
        room = flow.width
        widths = [max(wide * room // max(sum(natural), 1), 40) for wide in natural]
        if sum(natural) < room * 0.7:
            widths = [int(wide * 1.25) for wide in natural]
        for number, row in enumerate(grid):
            head = any(cell.role == "columnheader" for cell in row)
            bottom, x = flow.y, flow.x
            ends: list[int] = []
            for measured in (True, False):
                x = flow.x
                if not measured:
                    fill = style.PANEL if head else style.PAPER if number % 2 else style.WHITE
                    self.canvas.box(Box(flow.x, flow.y, sum(widths), bottom - flow.y), fill)
                for cell, wide in zip(row, widths, strict=False):
                    inner = PageColumn(self.canvas, x + 10, flow.y + 7, wide - 16, TEXT)
                    if cell.children:
                        self.blocks(inner, cell.children, row=True)
                    else:
                        inner.words(cell.words(), bold=head)
                    inner.skip(6)
                    ends.append(inner.y)
                    x += wide
                bottom = max(ends)
            edges = [flow.x]
            for wide in widths:
                edges.append(edges[-1] + wide)
            self.canvas.box(Box(flow.x, flow.y, edges[-1] - flow.x, bottom - flow.y), None, 0, style.LINE)
            for edge in edges[1:-1]:
                self.canvas.line([(edge, flow.y), (edge, bottom - 1)], style.LINE)
            flow.y = bottom
        flow.skip(12)

    @staticmethod
    def _natural(cell: PictureElement) -> int:
        """Return how wide a cell would be without limits."""
        controls = sum(each.role in FIELDS or each.role == "button" for each in cell.within())
        words = max(cell.words().split("\n"), key=len, default="")
        return min(style.width_of(words, TEXT) + 40 * controls + 60 * any(e.role in FIELDS for e in cell.within()), 520)
