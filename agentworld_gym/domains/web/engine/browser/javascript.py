"""A closed list of JavaScript expressions: those that read something from a page or an element."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.browser.browser import Browser, Refusal
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.strings import tidy

UNDEFINED = object()
"""The value of a script that returns nothing."""

_ARROW = re.compile(r"\s*(?:async\s+)?(?:\(\s*(\w*)\s*\)|(\w+))\s*=>\s*(.+?)\s*;?\s*", re.S)
_FUNCTION = re.compile(r"\s*(?:async\s+)?function\s*\w*\s*\(\s*(\w*)\s*\)\s*(\{.*\})\s*", re.S)
_RETURN = re.compile(r"\{\s*return\s+(.+?)\s*;?\s*\}", re.S)
_QUERY = re.compile(r"document\.(?:querySelector\((['\"`])(.+?)\1\)|getElementById\((['\"`])(.+?)\3\))\??\.(\w+)")
_COUNT = re.compile(r"document\.querySelectorAll\((['\"`])(.+?)\1\)\.length")
_SIMPLE = re.compile(r"(\w+)?(?:#([\w-]+))?(?:\.([\w-]+))?(?:\[([\w-]+)(?:=[\"']?([^\"'\]]*)[\"']?)?\])?")

_ON_PAGE: dict[str, Callable[[Browser], Any]] = {
    "document.title": lambda browser: browser.tab.title,
    "document.URL": lambda browser: browser.tab.url,
    "location.href": lambda browser: browser.tab.url,
    "location.pathname": lambda browser: (
        "/" + addresses.without_fragment(browser.tab.url).partition("?")[0].split("/", 3)[-1]
    ),
    "location.search": lambda browser: _search(browser.tab.url),
    "location.host": lambda browser: addresses.host_of(browser.tab.url),
    "location.hostname": lambda browser: addresses.host_of(browser.tab.url),
    "location.hash": lambda browser: "#" + browser.tab.url.partition("#")[2] if "#" in browser.tab.url else "",
    "history.length": lambda browser: len(browser.tab.entries),
    "innerWidth": lambda browser: browser.size[0],
    "innerHeight": lambda browser: browser.size[1],
    "document.body.innerText": lambda browser: _visible(browser.page, browser.page.document.body),
    "document.body.textContent": lambda browser: browser.page.document.body.text(),
    "document.readyState": lambda browser: "complete",
}


def evaluate(browser: Browser, source: str, node: DomNode | None) -> Any:
    """Return the value of an expression on the closed list.

    Raises:
        Refusal: The expression is not on the list.
    """
    match = _ARROW.fullmatch(source[:2000]) or _FUNCTION.fullmatch(source[:2000])
    groups = [group for group in match.groups() if group is not None] if match else ["", source.strip()[:2000]]
    parameter, body = groups[0], groups[-1]
    inner = _RETURN.fullmatch(body)
    expression = (inner[1] if inner else body).removeprefix("window.").strip()
    expression = expression.replace("document.location", "location").removeprefix("window.")
    if expression in _ON_PAGE:
        return _ON_PAGE[expression](browser)
    if node is not None and parameter and expression.startswith(f"{parameter}."):
        return _read(browser.page, node, expression[len(parameter) + 1 :])
    if (query := _QUERY.fullmatch(expression)) is not None:
        selector = query[2] or f"#{query[4]}"
        nodes = select(browser.page, selector)
        if not nodes:
            if "?." in expression:
                return UNDEFINED
            raise Refusal("Error: page.evaluate: TypeError: Cannot read properties of null")
        return _read(browser.page, nodes[0], query[5])
    if (count := _COUNT.fullmatch(expression)) is not None:
        return len(select(browser.page, count[2]))
    raise Refusal(
        "Error: page.evaluate: Error: this browser runs no scripts; only simple expressions that read a value work"
    )


def printed(value: Any) -> str:
    """Return the value of an expression as tools print it."""
    return "undefined" if value is UNDEFINED else json.dumps(value, indent=2, ensure_ascii=False)


def select(page: Page, selector: str) -> list[DomNode]:
    """Return the elements of a simple selector: a tag, an id, a class and an attribute, each at most once."""
    match = _SIMPLE.fullmatch(selector.strip())
    if match is None or not selector.strip():
        raise Refusal("Error: page.evaluate: Error: only simple selectors work")
    tag, identifier, name, attribute, value = match.groups()
    return [
        node
        for node in page.nodes
        if (tag is None or node.tag == tag.lower())
        and (identifier is None or node.attrs.get("id") == identifier)
        and (name is None or name in node.attrs.get("class", "").split())
        and (
            attribute is None
            or (page.attr(node, attribute) is not None and value in (None, page.attr(node, attribute)))
        )
    ]


def _read(page: Page, node: DomNode, name: str) -> Any:
    if name in ("textContent", "innerText", "textContent.trim()", "innerText.trim()"):
        text = _visible(page, node) if name.startswith("inner") else node.text()
        return text.strip() if name.endswith("trim()") else text
    if name == "value":
        return page.value(node) if node.tag in ("input", "select", "textarea", "button") else UNDEFINED
    if name == "checked":
        return page.is_checked(node) if node.tag == "input" else UNDEFINED
    if name == "disabled":
        return page.is_disabled(node)
    if name == "tagName":
        return node.tag.upper()
    if name in ("id", "name", "type", "href", "placeholder"):
        return page.attr(node, name) or ""
    if match := re.fullmatch(r"getAttribute\((['\"`])([\w-]+)\1\)", name):
        return page.attr(node, match[2])
    raise Refusal(
        "Error: page.evaluate: Error: this browser runs no scripts; only simple expressions that read a value work"
    )


def _visible(page: Page, node: DomNode) -> str:
    layout = layout_of(page)
    parts: list[str] = []

    def walk(place: DomNode) -> None:
        for child in place.children:
            if isinstance(child, str):
                parts.append(tidy(child) and child)
            elif layout.shown[child.index]:
                block = child.display == "block"
                parts.append("\n" if block else "")
                walk(child)
                parts.append("\n" if block else "")

    walk(node)
    lines = (tidy(line) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _search(url: str) -> str:
    query = addresses.without_fragment(url).partition("?")[2]
    return f"?{query}" if query else ""
