"""Layout: which elements of a page are shown, and which of them take up room."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from agentworld_gym.domains.web.engine.document.dom import CACHED, Document
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.document.roles import is_listbox
from agentworld_gym.domains.web.engine.strings import words

_ALWAYS = words("button fieldset hr iframe img input legend li meter progress select summary td textarea th")
_NEVER = frozenset({"br", "wbr"})


class Layout:
    """What each element is at present.

    `shown` says whether it is shown, `silent` whether assistive technology ignores it, and `box` whether it has a size.
    An element that is not shown is either `gone` or folded away in closed details; options that are folded away are not
    silent. `pointer` tells over which elements the mouse cursor is a hand.
    """

    __slots__ = ("box", "gone", "pointer", "shown", "silent")

    def __init__(self, page: Page) -> None:
        nodes = page.nodes
        count = len(nodes)
        self.shown, self.gone, self.silent = bytearray(count), bytearray(count), bytearray(count)
        self.box, self.pointer = bytearray(count), bytearray(count)
        shown, gone, silent, pointer = self.shown, self.gone, self.silent, self.pointer
        hushed = bytearray(count)
        for node in nodes:
            parent, index = node.parent, node.index
            if parent is None:
                shown[index] = 1
                continue
            above = parent.index
            if gone[above] or _is_gone(page, node):
                gone[index] = silent[index] = 1
                continue
            shown[index] = shown[above] and not _is_folded(page, node, parent)
            if hushed[above] or ("aria-hidden" in node.attrs and node.attrs["aria-hidden"].lower() == "true"):
                hushed[index] = 1
            silent[index] = hushed[index] or (not shown[index] and node.tag != "option")
            pointer[index] = _points(node, bool(pointer[above]))
        self._measure(nodes)

    def _measure(self, nodes: list[DomNode]) -> None:
        box, shown = self.box, self.shown
        full = bytearray(len(nodes))
        for node in reversed(nodes):
            index, tag = node.index, node.tag
            if not shown[index]:
                continue
            if tag in _NEVER:
                full[index] = 1
            elif tag in ("option", "optgroup"):
                select = node.closest("select")
                box[index] = full[index] = select is not None and is_listbox(select)
            else:
                box[index] = full[index] = tag in _ALWAYS or _has_content(node, full)


def _has_content(node: DomNode, full: bytearray) -> bool:
    for child in node.children:
        if isinstance(child, str):
            if not child.isspace():
                return True
        elif full[child.index]:
            return True
    return False


def _is_gone(page: Page, node: DomNode) -> bool:
    if node.display == "none" or page.attr(node, "hidden") is not None:
        return True
    return node.tag == "dialog" and page.attr(node, "open") is None


def _is_folded(page: Page, node: DomNode, details: DomNode) -> bool:
    if details.tag != "details" or page.attr(details, "open") is not None:
        return False
    return node is not next((child for child in details.elements() if child.tag == "summary"), None)


def _points(node: DomNode, inherited: bool) -> bool:
    """Return whether the mouse cursor is a hand over an element."""
    tag = node.tag
    if tag == "input":
        return node.type in ("submit", "checkbox", "radio", "image")
    if tag in ("button", "select", "label", "summary") or (tag == "a" and "href" in node.attrs):
        return True
    if tag == "textarea":
        return False
    return inherited or node.attrs.get("role") == "tab"


@lru_cache(maxsize=CACHED)
def _untouched(document: Document) -> Layout:
    return Layout(Page(document))


def layout_of(page: Page) -> Layout:
    """Return the layout of a page as it is at present."""
    if page.layout is None:
        page.layout = Layout(page) if page.attrs else _untouched(page.document)
    return cast(Layout, page.layout)
