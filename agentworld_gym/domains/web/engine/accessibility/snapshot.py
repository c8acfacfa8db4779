"""The snapshot of a page: its accessibility tree as YAML, as Playwright's MCP server prints it."""

from __future__ import annotations

import re
from functools import lru_cache

from agentworld_gym.domains.web.engine.accessibility.tree import Item, tree_of
from agentworld_gym.domains.web.engine.document.dom import CACHED, Document
from agentworld_gym.domains.web.engine.document.page import UNTOUCHED, Page
from agentworld_gym.domains.web.engine.strings import quoted

MAX_NAME = 900


def snapshot(page: Page) -> str:
    """Return what `page.aria_snapshot(mode="ai")` prints for a page.

    >>> from agentworld_gym.domains.web.engine.document.dom import Document
    >>> print(snapshot(Page(Document.parse("<h1>Tea</h1><p>Hot <b>and</b> green</p>"))))
    - generic [active] [ref=e1]:
      - heading "Tea" [level=1] [ref=e2]
      - paragraph [ref=e3]: Hot and green
    """
    if not page.is_untouched:
        last = page.last_ref
        text = _printed(page)
        if page.last_ref > last:
            page.looks = (*page.looks, page.look())
        return text
    text, first = _first(page.document)
    page.refs, page.listed, page.last_ref = dict(first.refs), first.listed, first.last_ref
    page.looks = (UNTOUCHED,)
    return text


def first_page(document: Document) -> Page:
    """Return a page that has just been loaded, with the references of its first snapshot. All share it."""
    return _first(document)[1]


@lru_cache(maxsize=CACHED)
def _first(document: Document) -> tuple[str, Page]:
    """Return the first snapshot of a document; all sessions that have just loaded it share it."""
    page = Page(document)
    text = _printed(page)
    page.looks = (UNTOUCHED,)
    return text, page


def _printed(page: Page) -> str:
    lines: list[str] = []
    for item in tree_of(page):
        if isinstance(item, str):
            lines.append(f"- text: {yaml_value(item)}")
        else:
            _print(item, "", False, lines)
    return "\n".join(lines)


def _key(item: Item, inside_clickable: bool) -> str:
    key = item.role
    if item.name and len(item.name) <= MAX_NAME:
        key += " " + quoted(item.name)
    for state in item.states:
        key += f" [{state}]"
    if item.ref:
        key += f" [ref={item.ref}]"
        if item.clickable and not inside_clickable:
            key += " [cursor=pointer]"
    return yaml_key(key)


def _print(item: Item, indent: str, inside_clickable: bool, lines: list[str]) -> None:
    head = f"{indent}- {_key(item, inside_clickable)}"
    children = item.children
    has_properties = item.url is not None or item.placeholder is not None
    if not children and not has_properties:
        lines.append(head)
        return
    if len(children) == 1 and isinstance(children[0], str) and not has_properties:
        lines.append(f"{head}: {yaml_value(children[0])}")
        return
    lines.append(head + ":")
    deeper = indent + "  "
    if item.url is not None:
        lines.append(f"{deeper}- /url: {yaml_value(item.url)}")
    if item.placeholder is not None:
        lines.append(f"{deeper}- /placeholder: {yaml_value(item.placeholder)}")
    inside_clickable = inside_clickable or (bool(item.ref) and item.clickable)
    for child in children:
        if isinstance(child, str):
            lines.append(f"{deeper}- text: {yaml_value(child)}")
        else:
            _print(child, deeper, inside_clickable, lines)


_QUOTED = re.compile(
    "^[\\s\ufeff]|[\\s\ufeff]$|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|^[-\\[&*\\],?!>|@\"'#%]|[\n:](\\s|$)|\\s#|[\n\r{}`]"
)
_WORDS = frozenset(
    {"", "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~", ".inf", ".nan", "+.inf", "+.nan"}
)
_NUMBER = re.compile(r"[+-]?(Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile('[\\\\"\x00-\x1f\x7f-\x9f]')


def needs_quotes(text: str) -> bool:
    """Return whether YAML would read a plain text as something else.

    >>> [needs_quotes(text) for text in ("Cart (2)", "12", "Total: 3", "ends:", "no")]
    [False, True, True, True, True]
    """
    if _QUOTED.search(text) is not None or text.lower() in _WORDS:
        return True
    return (text[:1] in "0123456789.+-I") and _NUMBER.fullmatch(text) is not None


def yaml_key(text: str) -> str:
    """Return the key of a mapping as YAML writes it."""
    return "'" + text.replace("'", "''") + "'" if needs_quotes(text) else text


def yaml_value(text: str) -> str:
    """Return the value of a mapping as YAML writes it."""
    if not needs_quotes(text):
        return text
    return '"' + _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\x{ord(match[0]):02x}", text) + '"'
