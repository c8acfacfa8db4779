"""Accessible names: what assistive technology calls an element, and which elements that name comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from agentworld_gym.domains.web.engine.document.layout import Layout
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.strings import tidy, words

_FROM_CONTENT = words(
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio "
    "option radio row rowheader switch tab tooltip treeitem"
)
_INSIDE = words(
    "caption code contentinfo definition deletion emphasis insertion list listitem mark none paragraph "
    "presentation region row rowgroup section strong subscript superscript table term time"
) | {""}
_NAMELESS = words(
    "caption code definition deletion emphasis generic insertion mark paragraph presentation strong "
    "subscript suggestion superscript term time"
)
_LABELLED = frozenset({"input", "meter", "progress", "select", "textarea"})
_PLACEHOLDERS = frozenset({"email", "number", "password", "search", "tel", "text", "url"})
_CAPTIONS = {"fieldset": "legend", "figure": "figcaption", "table": "caption"}

Name = tuple[str, tuple[DomNode, ...]]
NOTHING: Name = ("", ())


@dataclass(frozen=True, slots=True)
class _Way:
    """How the computation of a name reached an element: as its target, inside it, or through a reference to it."""

    place: str = "self"
    by: str = ""
    hidden: bool = False
    seen: set[int] = field(default_factory=set)

    def inward(self) -> _Way:
        return replace(self, place="inside") if self.place == "self" else self


class Names:
    """The accessible names of the elements of a page at one moment."""

    def __init__(self, page: Page, layout: Layout) -> None:
        self._page, self._layout = page, layout

    def of(self, node: DomNode) -> Name:
        """Return the name of an element, and the elements that it comes from."""
        role = node.role or ""
        if role in _NAMELESS:
            return NOTHING
        if role not in _FROM_CONTENT and node.tag not in _LABELLED:
            attrs = node.attrs
            plain = "aria-label" not in attrs and "aria-labelledby" not in attrs and "title" not in attrs
            if plain and node.tag not in ("summary", "fieldset", "figure", "table", "img", "output", "svg", "button"):
                return NOTHING
        text, sources = self._text(node, _Way())
        return tidy(text), sources

    def _text(self, node: DomNode, way: _Way) -> Name:
        if node.index in way.seen:
            return NOTHING
        if self._layout.silent[node.index] and not way.hidden:
            way.seen.add(node.index)
            return NOTHING
        labelled = self._referenced(node)
        if labelled and way.by != "labelledby":
            joined = _joined(self._text(other, self._jump(other, way, "labelledby")) for other in labelled)
            if joined[0]:
                return joined
        embedded = way.by in ("label", "labelledby") or way.place == "inside"
        if embedded and node not in labelled and (value := self._embedded(node, way)) is not None:
            return value
        label = self._page.attr(node, "aria-label") or ""
        if label.strip():
            return self._own(node, label, way)
        role = node.role or ""
        if role not in ("presentation", "none") and (native := self._native(node, way, bool(labelled))) is not None:
            return native
        if role in _FROM_CONTENT or (way.place == "inside" and role in _INSIDE) or way.by or node.tag == "summary":
            way.seen.add(node.index)
            text, sources = self._content(node, way.inward())
            if text.strip() if way.place == "self" else text:
                return text, ((*sources, node) if text.strip() else sources)
        return self._own(node, _title(node) if role not in ("presentation", "none") else "", way)

    def _jump(self, node: DomNode, way: _Way, by: str) -> _Way:
        return _Way("", by, bool(self._layout.silent[node.index]), way.seen)

    def _own(self, node: DomNode, text: str, way: _Way) -> Name:
        way.seen.add(node.index)
        return (text, (node,)) if text else NOTHING

    def _referenced(self, node: DomNode) -> list[DomNode]:
        ids = node.attrs.get("aria-labelledby")
        if not ids:
            return []
        nodes = [self._page.document.by_id[name] for name in ids.split() if name in self._page.document.by_id]
        return list(dict.fromkeys(nodes))

    def _embedded(self, node: DomNode, way: _Way) -> Name | None:
        """Return the value of a control that stands inside a label or a name, which is read in its place."""
        role, page = node.role or "", self._page
        if role in ("textbox", "searchbox"):
            is_field = node.tag in ("input", "textarea")
            return self._own(node, page.value(node) if is_field else node.text(), way)
        if role in ("combobox", "listbox"):
            way.seen.add(node.index)
            if node.tag != "select":
                return (page.value(node), (node,)) if node.tag == "input" else NOTHING
            chosen = [page.nodes[index] for index in page.chosen_options(node)] or page.document.options(node)[:1]
            return _joined(self._text(option, way.inward()) for option in chosen)
        if role in ("progressbar", "scrollbar", "slider", "spinbutton", "meter"):
            for name in ("aria-valuetext", "aria-valuenow"):
                if name in node.attrs:
                    return self._own(node, node.attrs[name], way)
            return self._own(node, node.attrs.get("value", ""), way)
        if role == "menu":
            way.seen.add(node.index)
            return NOTHING
        return None

    def _native(self, node: DomNode, way: _Way, labelled: bool) -> Name | None:
        """Return the name that HTML gives an element; None where its content decides."""
        tag, attrs = node.tag, node.attrs
        if tag == "input" and node.type in ("button", "submit", "reset"):
            value = self._page.value(node)
            fallback = {"submit": "Submit", "reset": "Reset"}.get(node.type, _title(node))
            return self._own(node, value if value.strip() else fallback, way)
        if tag == "input" and node.type in ("file", "image"):
            labels = self._page.document.labels.get(node.index, [])
            way.seen.add(node.index)
            if labels and way.by != "labelledby":
                return self._from_labels(labels, way)
            fallback = "Choose File" if node.type == "file" else attrs.get("alt") or _title(node) or "Submit"
            return self._own(node, fallback, way)
        if tag == "img":
            return self._own(node, attrs.get("alt", "") if attrs.get("alt", "").strip() else _title(node), way)
        if labelled:
            return None
        if tag in _LABELLED or tag in ("button", "output"):
            way.seen.add(node.index)
            if node.index in self._page.document.labels:
                return self._from_labels(self._page.document.labels[node.index], way)
            if tag == "button":
                way.seen.discard(node.index)
                return None
            placeholder = tag == "textarea" or (tag == "input" and node.type in _PLACEHOLDERS)
            return self._own(node, _title(node) or (attrs.get("placeholder", "") if placeholder else ""), way)
        return self._captioned(node, way)

    def _captioned(self, node: DomNode, way: _Way) -> Name | None:
        caption = _CAPTIONS.get(node.tag)
        if caption is None:
            return None
        way.seen.add(node.index)
        for child in node.elements():
            if child.tag == caption:
                return self._text(
                    child, replace(way.inward(), by="native", hidden=bool(self._layout.silent[child.index]))
                )
        if node.tag != "table":
            return self._own(node, _title(node), way)
        summary = node.attrs.get("summary", "")
        way.seen.discard(node.index)
        return self._own(node, summary, way) if summary else None

    def _from_labels(self, labels: list[DomNode], way: _Way) -> Name:
        names = [self._text(label, self._jump(label, way, "label")) for label in labels]
        return _joined(name for name in names if name[0])

    def _content(self, node: DomNode, way: _Way) -> Name:
        texts: list[str] = []
        sources: list[DomNode] = []
        closed = node.tag == "details" and self._page.attr(node, "open") is None and not way.hidden
        for child in node.children:
            if isinstance(child, str):
                if not closed:
                    texts.append(child)
                continue
            text, found = self._text(child, way)
            sources += found
            apart = child.display != "inline" or child.tag == "br" or not self._layout.shown[child.index]
            texts.append(f" {text} " if apart else text)
        return "".join(texts), tuple(sources)


def _title(node: DomNode) -> str:
    title = node.attrs.get("title", "")
    return title if title.strip() else ""


def _joined(names: Iterable[Name]) -> Name:
    parts = list(names)
    return " ".join(text for text, _ in parts), tuple(dict.fromkeys(node for _, nodes in parts for node in nodes))
