"""The snapshot of a page: its accessibility tree as YAML, as Playwright's MCP server prints it."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.base.text.yaml_scalars import yaml_key, yaml_value
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
