"""The observation of BrowserGym: Chromium's accessibility tree, one node a line, with a `bid` for each element.

The bid of an element is the number of its reference in Playwright's snapshot.
"""

from __future__ import annotations

from agentworld_gym.domains.web.engine.accessibility.names import Names
from agentworld_gym.domains.web.engine.accessibility.snapshot import snapshot
from agentworld_gym.domains.web.engine.accessibility.tree import is_selected
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.document.focus import focusable
from agentworld_gym.domains.web.engine.document.layout import Layout, layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.strings import tidy
from agentworld_gym.domains.web.engine.tools.result import ToolResult

_ROLES = {"img": "image", "text": "StaticText"}
_BY_TAG = {"label": "LabelText", "details": "Details", "summary": "DisclosureTriangle", "dl": "DescriptionList"}
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_EDITED = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "slider"})


def observation(browser: Browser, result: ToolResult) -> tuple[str, str]:
    """Return what an agent of BrowserGym sees, in two parts: URL, tabs, focus and the last error; and the tree."""
    tab = browser.tab
    page = tab.page
    drawn = "" if result.modal else tree(page, tab.title)
    lines = [f"URL: {tab.url}"]
    if len(browser.tabs) > 1:
        lines.append("Open tabs:")
        for place, other in enumerate(browser.tabs):
            lines.append(f"  {place}: {other.title} ({other.url}){', active' if place == browser.current else ''}")
    if page.focus is not None:
        lines.append(f"Focused element: {bid_of(page, page.nodes[page.focus])}")
    if result.errors:
        lines.append(f"Error of the last action: {result.errors[0].removeprefix('Error: ')}")
    elif result.results:
        lines.append(f"Result of the last action: {' '.join(result.results)}")
    return "\n".join([*lines, ""]), "\n".join(result.modal or [drawn])


def bid_of(page: Page, node: DomNode) -> str:
    """Return the bid of an element; one without a reference has a number above all of these."""
    ref = page.refs.get(node.index)
    if ref is not None and page.listed.get(ref[2]) == node.index:
        return ref[2][1:]
    return str(page.last_ref + 1 + node.index)


def tree(page: Page, title: str) -> str:
    """Return the tree of a page; `page.listed` maps the references of all its elements to them.

    >>> from agentworld_gym.domains.web.engine.document.dom import Document
    >>> print(tree(Page(Document.parse("<h1>Tea</h1><p>Hot <a href=/b>green</a>")), "Tea").replace(chr(9), "  "))
    RootWebArea 'Tea', focused
      [2] heading 'Tea'
      [3] paragraph ''
        StaticText 'Hot'
        [4] link 'green', clickable
    """
    snapshot(page)  # It gives references to what is new on the page.
    printer = _Printer(page)
    focused = ", focused" if page.focus is None else ""
    printer.lines.append(f"RootWebArea {title!r}{focused}")
    printer.children(page.document.body, 1, "")
    page.listed = {**page.listed, **printer.listed}
    return "\n".join(printer.lines)


class _Printer:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.layout: Layout = layout_of(page)
        self.names = Names(page, self.layout)
        self.lines: list[str] = []
        self.listed: dict[str, int] = {}

    def children(self, node: DomNode, depth: int, above: str) -> None:
        """Yield the lines of an element's content."""
        words: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                words.append(child)
                continue
            if not self.layout.shown[child.index]:
                continue
            self._words(words, depth, above)
            self._element(child, depth, above)
        self._words(words, depth, above)

    def _words(self, words: list[str], depth: int, above: str) -> None:
        text = tidy("".join(words))
        words.clear()
        if text and text not in above:
            self.lines.append("\t" * depth + f"StaticText {text!r}")

    def _element(self, node: DomNode, depth: int, above: str) -> None:
        self.listed[f"e{bid_of(self.page, node)}"] = node.index
        if self.layout.silent[node.index] or node.tag == "br":
            return
        role = node.role or _BY_TAG.get(node.tag, "generic")
        name = self.names.of(node)[0] if role != "generic" else ""
        properties = self._properties(node, role)
        if role in ("generic", "presentation", "none", "rowgroup") and not properties:
            self.children(node, depth, above)
            return
        line = f"[{bid_of(self.page, node)}] {_ROLES.get(role, role)} {name!r}"
        if role in _EDITED and node.tag in ("input", "textarea", "select"):
            line += f" value={self._value(node)!r}"
        self.lines.append("\t" * depth + ", ".join([line, *properties]))
        if node.tag not in ("input", "textarea"):
            self.children(node, depth + 1, name)

    def _value(self, node: DomNode) -> str:
        if node.tag != "select":
            return self.page.value(node)
        return " ".join(tidy(self.page.nodes[index].text()) for index in self.page.chosen_options(node))

    def _properties(self, node: DomNode, role: str) -> list[str]:
        page, properties = self.page, []
        if self.layout.pointer[node.index] and node.tag not in ("label", "option") and focusable(page, node):
            properties.append("clickable")
        if page.focus == node.index:
            properties.append("focused")
        if page.is_disabled(node):
            properties.append("disabled=True")
        if "required" in node.attrs:
            properties.append("required")
        if (expanded := page.attr(node, "aria-expanded")) is not None:
            properties.append(f"expanded={expanded == 'true'}")
        if role in _CHECKED:
            checked = page.is_checked(node) if node.tag == "input" else page.attr(node, "aria-checked") == "true"
            properties.append(f"checked={'true' if checked else 'false'!r}")
        if role in ("option", "tab"):
            properties.append(f"selected={is_selected(page, node)}")
        return properties
