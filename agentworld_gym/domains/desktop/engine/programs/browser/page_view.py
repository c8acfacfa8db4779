"""A web page as widgets: its accessibility tree laid out in lines, as text is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.widgets import METRICS, button, combo, entry, label, toggle
from agentworld_gym.domains.web.api import Item, Page, layout_of, tree_of
from agentworld_gym.kit.gui import Widget, column, row

MAX_WIDGETS = 400
"""The largest number of widgets of a page; the rest is left out."""
LINE, GAP, INDENT = 34, 8, 18
"""Sizes in pixels: the height of a line, the gap between inline items, and the indent of a list."""

_FIELDS = frozenset({"textbox", "searchbox", "spinbutton"})
_WORDS = frozenset({"strong", "emphasis", "code", "time", "text", "mark", "generic", "superscript", "subscript"})
_INDENTED = frozenset({"listitem", "blockquote", "definition"})


def content(page: Page, width: int, fields: Mapping[str, Any]) -> tuple[Widget, ...]:
    """Return the lines of a page in a column; while a dialog of the page is open, only the dialog.

    Args:
        page: The page.
        width: The width of a line in pixels.
        fields: The texts of its text fields, by the index of their elements.
    """
    items = tree_of(page)
    if page.modals:
        dialog = page.modals[-1][0]
        items = [item for item in _all(items) if item.node.index == dialog] or items
    layout = _Flow(page, width, fields)
    layout.walk(items)
    layout.end_line()
    return tuple(layout.lines)


def entries(page: Page) -> dict[str, str]:
    """Return the visible text fields of a page by the index of their elements, with their values."""
    shown = layout_of(page).shown
    return {str(node.index): page.value(node) for node in page.nodes if shown[node.index] and page.is_text_field(node)}


def plain(page: Page) -> str:
    """Return the text of a page, one line for each block."""
    lines = []
    for item in _all(tree_of(page)):
        words = " ".join(child for child in item.children if isinstance(child, str)).strip()
        if line := " ".join(part for part in (item.name, words) if part):
            lines.append(line)
    return "\n".join(lines)


def _all(items: Iterable[Item | str]) -> Iterable[Item]:
    for item in items:
        if not isinstance(item, str):
            yield item
            yield from _all(item.children)


def _text(item: Item) -> str:
    parts = [child if isinstance(child, str) else _text(child) for child in item.children]
    return " ".join(part for part in parts if part) or item.name


class _Flow:
    """Puts inline items side by side as far as a line goes, and blocks below each other."""

    def __init__(self, page: Page, width: int, fields: Mapping[str, Any]) -> None:
        self.page, self.width, self.fields = page, width, fields
        self.lines: list[Widget] = []
        self._line: list[Widget] = []
        self._used = 0
        self._indent = 0
        self._left = MAX_WIDGETS

    def walk(self, items: Iterable[Item | str]) -> None:
        for item in items:
            if self._left <= 0:
                return
            if isinstance(item, str):
                self._words(item)
            else:
                self._item(item)

    def end_line(self) -> None:
        if self._line:
            self.lines.append(row(*self._line, gap=GAP, padding=(self._indent, 0), height=_tallest(self._line)))
        self._line, self._used = [], 0

    def _add(self, widget: Widget, width: int) -> None:
        self._left -= 1
        space = self.width - 2 * self._indent
        if self._line and self._used + GAP + width > space:
            self.end_line()
        widget.width = min(width, space)
        self._line.append(widget)
        self._used += width + (GAP if self._used else 0)

    def _words(self, text: str) -> None:
        if not text.strip():
            return
        space = self.width - 2 * self._indent
        wide = _wide(text)
        lines = -(-wide // space)
        self._add(label(text, lines=lines, height=METRICS.line * lines + 14), min(wide, space))

    def _item(self, item: Item) -> None:
        widget = self._control(item)
        if widget is not None:
            self._add(widget, widget.width or _wide(widget.name))
        elif item.role == "heading":
            self.end_line()
            self._words_as("heading", item)
            self.end_line()
        elif item.role == "img":
            self._add(Widget("image", item.name), _wide(item.name))
        elif item.role == "row":
            self._row(item)
        elif item.role == "list" and all(_is_short(child) for child in item.children):
            # The entries of a navigation bar stand side by side.
            self.end_line()
            for child in item.children:
                self.walk([child] if isinstance(child, str) else child.children)
            self.end_line()
        elif item.role in _WORDS and item.node.display == "inline":
            self.walk(item.children or [item.name])
        else:
            self._block(item)

    def _words_as(self, role: str, item: Item) -> None:
        if any(not isinstance(child, str) for child in item.children):
            self.walk(item.children)
        elif text := _text(item):
            self._add(label(text, role=role, height=LINE), _wide(text))

    def _block(self, item: Item) -> None:
        self.end_line()
        deeper = INDENT if item.role in _INDENTED else 0
        self._indent += deeper
        if item.name and not item.children:
            self._words(item.name)
        self.walk(item.children)
        self.end_line()
        self._indent -= deeper

    def _row(self, item: Item) -> None:
        """Return a row of a table in columns of equal width."""
        self.end_line()
        cells = [cell for cell in item.children if not isinstance(cell, str)]
        if not cells:
            self.walk(item.children)
            return
        width = (self.width - 2 * self._indent - GAP * (len(cells) - 1)) // len(cells)
        boxes = [self._cell(cell, width) for cell in cells]
        self.lines.append(
            row(*boxes, gap=GAP, padding=(self._indent, 0), height=max(box.height or LINE for box in boxes))
        )

    def _cell(self, cell: Item, width: int) -> Widget:
        if all(isinstance(child, str) for child in cell.children):
            self._left -= 1
            role = "table-cell" if cell.role in ("cell", "gridcell") else "column-header"
            text = _text(cell)
            lines = max(-(-_wide(text) // width), 1)
            return Widget(role, text, text, width=width, height=METRICS.line * lines + 14)
        inner = _Flow(self.page, width, self.fields)
        inner._left = self._left
        inner.walk(cell.children)
        inner.end_line()
        self._left = inner._left
        return column(*inner.lines, width=width, height=sum(line.height or LINE for line in inner.lines))

    def _control(self, item: Item) -> Widget | None:
        """Return an element that can be pressed, filled in or chosen as a widget."""
        node, role = item.node, item.role
        index = node.index
        press = ("press", index)
        name = item.name or _text(item) or item.placeholder or node.attrs.get("name", "")
        able = not self.page.is_disabled(node)
        if role == "link":
            return Widget("link", name, key=f"node {index}", on={"click": press}, flags=("focusable",), height=LINE)
        if role in _FIELDS or self.page.is_text_field(node):
            if not able or str(index) not in self.fields:
                return label(self.page.value(node) or " ")
            lines = 4 if node.tag == "textarea" else 1
            return entry(
                name,
                self.fields[str(index)],
                f"node {index}",
                enter=("send", index),
                changed=("typed", index),
                width=320,
                height=METRICS.line * lines + 14,
                lines=lines,
                role="text" if lines > 1 else "entry",
            )
        if role in ("checkbox", "radio", "switch"):
            kind = {"checkbox": "check-box", "radio": "radio-button"}.get(role, "switch")
            widget = toggle(name, "checked" in item.states, press, f"node {index}", role=kind, width=34, height=LINE)
        elif role in ("combobox", "listbox") and node.tag == "select":
            chosen = " ".join(_option(self.page, one) for one in self.page.chosen_options(node))
            widget = combo(name, chosen, ("menu", "options", index), f"node {index}", width=220, height=LINE)
        elif role == "tab":
            widget = toggle(name, "selected" in item.states, press, f"node {index}", role="page-tab", height=LINE)
        elif role == "button" or node.tag == "summary":
            widget = button(name, press, f"node {index}", height=LINE)
        else:
            return None
        if not able:
            widget.flags = ("disabled",)
        return widget


def _is_short(item: Item | str) -> bool:
    """Return whether every entry of a list is a single link or button."""
    if isinstance(item, str):
        return not item.strip()
    only = item.children[0] if len(item.children) == 1 else ""
    return not isinstance(only, str) and only.role in ("link", "button")


def _option(page: Page, index: int) -> str:
    return " ".join(page.nodes[index].text().split())


def _wide(text: str) -> int:
    return METRICS.char * len(text) + 2 * METRICS.margin[0]


def _tallest(widgets: Iterable[Widget]) -> int:
    return max((widget.height or LINE for widget in widgets), default=LINE)
