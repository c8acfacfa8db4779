"""A web page as text for a terminal: the flow of the page, with the reference of everything that can be acted on."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.core.screens import ScreenNode
from agentworld_gym.domains.web.picture.elements import PictureElement, tree
from agentworld_gym.domains.web.picture.page import CHECKS, FIELDS, INLINE
from agentworld_gym.domains.web.screen_texts import location

_LINKS = frozenset(("link", "button", "tab", "menuitem", "text", "strong"))
_LEVELS = frozenset("123456")


def page(nodes: Sequence[ScreenNode], observation: str, width: int) -> str:
    """Return the page in lines of a given number of characters."""
    url, title = location(observation)
    text = _Text(width)
    if title or url:
        text.lines += [title[:width], url[:width], "─" * width]
    text.all(tree(nodes), 0)
    text.end(0)
    _, modal, dialog = observation.partition("### Modal state\n")
    if modal:
        text.lines += ["", f"!! {dialog.strip()}"[:width]]
    return "\n".join(text.lines)


class _Text:
    """Lines that are being written; `held` are the pieces of the line that is not closed yet."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.held: list[str] = []

    def end(self, indent: int) -> None:
        """Close the line."""
        line = ""
        for piece in self.held:
            for word in piece.split(" "):
                if line and indent + len(line) + 1 + len(word) > self.width:
                    self._add(line, indent)
                    line = ""
                line = f"{line} {word}" if line else word
            line += " " if line else ""
        if line.strip():
            self._add(line, indent)
        self.held = []

    def _add(self, line: str, indent: int) -> None:
        self.lines.append((" " * indent + line.rstrip())[: self.width])

    def gap(self) -> None:
        """Add an empty line, unless there is one."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def all(self, elements: Sequence[PictureElement], indent: int) -> None:
        """Write elements one after the other."""
        for element in elements:
            self._element(element, indent)

    def _element(self, element: PictureElement, indent: int) -> None:
        node, role = element.node, element.role
        handle = f" ‹{node.handle}›" if node.handle else ""
        name = node.name or node.text
        off = " (disabled)" if "disabled" in node.flags else ""
        if role in INLINE:
            self.held.append(name)
            self.all(element.children, indent)
        elif role == "link" and (name or not element.children):
            self.held.append(f"_{name or element.words()}_{handle}")
        elif role in ("button", "tab", "menuitem"):
            mark = "*" if {"selected", "pressed"} & set(node.flags) else ""
            self.held.append(f"[{mark}{element.words()}]{handle}{off}")
        elif role in FIELDS:
            chosen = [e.node.name for e in element.within() if e.role == "option" and "selected" in e.node.flags]
            value = (
                node.text or ", ".join(chosen) or " ".join(c.node.text for c in element.children if c.role == "text")
            )
            arrow = " ▾" if role == "combobox" else ""
            focus = "_" if "active" in node.flags else ""
            label = "" if element.labelled else f"{node.name} "
            self.held.append(f"{label}[ {value}{focus}{arrow} ]{handle}{off}")
        elif role in CHECKS:
            mark = "x" if "checked" in node.flags else " "
            label = "" if element.labelled else f" {name}"
            self.held.append(f"({mark}){label}{handle}" if role == "radio" else f"[{mark}]{label}{handle}")
        elif role == "heading":
            self.end(indent)
            self.gap()
            given = node.value("level")
            level = int(given) if given in _LEVELS else 2
            link = next((f" ‹{e.node.handle}›" for e in element.within() if e.role == "link"), "")
            self._add(f"{'#' * level} {element.words()}{link}", indent)
        elif role == "row":
            self._row(element, indent)
        elif role in ("dialog", "alertdialog"):
            self.end(indent)
            self._add(f"┌─ {role}: {node.name} " + "─" * 20, indent)
            self.all(element.children, indent + 2)
            self.end(indent + 2)
            self._add("└" + "─" * 30, indent)
        else:
            self._block(element, indent)

    def _block(self, element: PictureElement, indent: int) -> None:
        node, role = element.node, element.role
        self.end(indent)
        if role == "listitem":
            self.held.append("•")
        elif role in ("banner", "main", "contentinfo"):
            self.gap()
        elif role in ("alert", "status"):
            self.held.append("!")
        elif role in ("group", "img", "option", "article") and node.name:
            self.held.append(f"({node.name})" if role == "img" else node.name)
        if node.text:
            self.held.append(node.text)
        if role in ("navigation", "tablist", "toolbar"):
            self.all([each for each in element.within() if each.role in _LINKS], indent)
            self.end(indent)
            return
        inner = indent + 2 if role == "listitem" else indent
        if role == "listitem":
            for child in element.children:
                # An element that is a line of its own elsewhere goes on in the line of its list item.
                simple = child.role in ("generic", "paragraph") and not any(e.role == "list" for e in child.within())
                if simple:
                    self.held += [child.node.text] if child.node.text else []
                    self.all(child.children, inner)
                else:
                    self._element(child, inner)
        else:
            self.all(element.children, inner)
        self.end(indent)

    def _row(self, element: PictureElement, indent: int) -> None:
        self.end(indent)
        cells = []
        for cell in element.children:
            inner = _Text(self.width)
            if cell.children:
                inner.all(cell.children, 0)
                inner.end(0)
            cells.append(" ".join(inner.lines) or cell.words())
        self._add("| " + " | ".join(cells), indent)
