"""Parsed HTML: a tree of elements that never changes and is shared by all pages that show it."""

from __future__ import annotations

from functools import lru_cache

from lxml import etree, html

from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.roles import display_of, role_of
from agentworld_gym.domains.web.engine.strings import words

CACHED = 256
"""The number of parsed pages that are kept."""

MAX_NODES = 20_000
"""The largest number of elements of a document; the rest is dropped. The sites never make as many."""

CONTROLS = frozenset({"button", "input", "select", "textarea", "output", "fieldset"})
LABELABLE = frozenset({"button", "input", "meter", "output", "progress", "select", "textarea"})


class Document:
    """A parsed page: its elements in document order, its title, and which labels and controls belong together.

    `source` is the HTML text that it was parsed from.

    >>> document = Document.parse("<title>Tea</title><h1>Green <b>tea</b></h1>")
    >>> document.title, document.body.text(), [node.tag for node in document.nodes]
    ('Tea', 'Green tea', ['body', 'h1', 'b'])
    """

    def __init__(self) -> None:
        self.nodes: list[DomNode] = []
        self.by_id: dict[str, DomNode] = {}
        self.title = ""
        self.labels: dict[int, list[DomNode]] = {}
        self.controls: dict[int, list[DomNode]] = {}
        self.refreshes = False
        self.source = ""

    @staticmethod
    def parse(text: str) -> Document:
        """Return the document of an HTML text. Broken markup is repaired or dropped, as lxml does it."""
        return _parsed(text)

    @property
    def body(self) -> DomNode:
        """The root, which holds everything that can be seen."""
        return self.nodes[0]

    def target(self, label: DomNode) -> DomNode | None:
        """Return the control that a label belongs to."""
        named = label.attrs.get("for")
        if named is not None:
            node = self.by_id.get(named)
            return node if node is not None and _labelable(node) else None
        return next((node for node in self.nodes[label.index + 1 : label.end] if _labelable(node)), None)

    def form_of(self, control: DomNode) -> DomNode | None:
        """Return the form that a control belongs to."""
        named = control.attrs.get("form")
        if named is not None:
            node = self.by_id.get(named)
            return node if node is not None and node.tag == "form" else None
        return control.closest("form")

    def options(self, select: DomNode) -> list[DomNode]:
        """Return the options of a select in their order."""
        return [node for node in self.nodes[select.index + 1 : select.end] if node.tag == "option"]


def _labelable(node: DomNode) -> bool:
    return node.tag in LABELABLE and not (node.tag == "input" and node.type == "hidden")


@lru_cache(maxsize=CACHED)
def _parsed(text: str) -> Document:
    document = Document()
    document.source = text
    root = _root(text)
    if root is not None:
        document.title = " ".join("".join(root.xpath("//head/title//text()")).split())
        document.refreshes = bool(root.xpath("//meta[translate(@http-equiv,'REFSH','refsh')='refresh']"))
    body = root.find("body") if root is not None else None
    _grow(document, body)
    for node in document.nodes:
        node.role = role_of(node)
        node.display = display_of(node)
        if node.tag == "label" and (target := document.target(node)) is not None:
            document.labels.setdefault(target.index, []).append(node)
        elif node.tag in CONTROLS and (form := document.form_of(node)) is not None:
            document.controls.setdefault(form.index, []).append(node)
    return document


def _root(text: str) -> html.HtmlElement | None:
    clean = "".join(character for character in text if character >= " " or character in "\t\n\r\f")
    try:
        return html.document_fromstring(clean.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, ValueError):
        return None


def _grow(document: Document, body: html.HtmlElement | None) -> None:
    """Copy the tree without recursion, since a page may nest deeper than Python calls."""
    root = DomNode(0, "body", dict(body.attrib) if body is not None else {}, None)
    document.nodes.append(root)
    if body is None:
        return
    stack: list[tuple[html.HtmlElement | str | DomNode, DomNode]] = []
    _push(stack, body, root)
    while stack:
        item, parent = stack.pop()
        if isinstance(item, str):
            parent.children.append(item)
        elif isinstance(item, DomNode):
            item.end = len(document.nodes)
        elif len(document.nodes) < MAX_NODES:
            tag = str(item.tag)
            if tag == "tr" and parent.tag == "table":
                parent = _row_group(document, parent)
            node = DomNode(len(document.nodes), tag, dict(item.attrib), parent)
            if tag in ("input", "button"):
                node.attrs["type"] = _type(node)
            parent.children.append(node)
            document.nodes.append(node)
            if "id" in node.attrs:
                document.by_id.setdefault(node.attrs["id"], node)
            stack.append((node, node))
            _push(stack, item, node)
    root.end = len(document.nodes)
    for node in reversed(document.nodes):  # A row group that was inserted ends with its last row.
        if node.parent is not None:
            node.parent.end = max(node.parent.end, node.end)


def _push(
    stack: list[tuple[html.HtmlElement | str | DomNode, DomNode]], element: html.HtmlElement, node: DomNode
) -> None:
    """Push the content of an element on the stack, so that its first item lies on top."""
    items: list[html.HtmlElement | str] = []
    text = element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            if text:
                items.append(text)
            items.append(child)
            text = child.tail or ""
        else:
            text += child.tail or ""
    if text:
        items.append(text)
    if items and isinstance(items[0], str) and element.tag in ("textarea", "pre"):
        items[0] = items[0].removeprefix("\n")
    stack.extend((item, node) for item in reversed(items))


def _row_group(document: Document, table: DomNode) -> DomNode:
    """Return the `tbody` that a browser puts around rows that stand directly in a table."""
    last = next((child for child in reversed(table.children) if not isinstance(child, str)), None)
    if last is not None and last.tag == "tbody":
        return last
    group = DomNode(len(document.nodes), "tbody", {}, table)
    table.children.append(group)
    document.nodes.append(group)
    return group


_BUTTONS = frozenset({"submit", "reset", "button"})
_INPUTS = words(
    "button checkbox color date datetime-local email file hidden image month number password radio range "
    "reset search submit tel text time url week"
)


def _type(node: DomNode) -> str:
    stated = node.attrs.get("type", "").lower()
    if node.tag == "button":
        return stated if stated in _BUTTONS else "submit"
    return stated if stated in _INPUTS else "text"
