"""Writes the trees of BrowserGym as snapshots of Playwright's tools, as far as they tell."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.web.engine.accessibility.snapshot import yaml_key, yaml_value
from agentworld_gym.domains.web.screen_texts import location, read

_ERROR = re.compile(r"(?m)^Error of the last action: (.*)$")
_ROLES = {"image": "img", "Details": "group", "DisclosureTriangle": "generic"}
_BARE = frozenset(("LabelText", "DescriptionList"))
"""The elements of which a snapshot shows the content alone."""

_STATES = {
    "focused": "active",
    "checked='true'": "checked",
    "selected=True": "selected",
    "expanded=True": "expanded",
    "disabled=True": "disabled",
}
_CELLS = frozenset(("cell", "gridcell"))
_NAMED_BY_CONTENT = _CELLS | {"row"}
"""The roles that a snapshot names only where they hold nothing but their name."""


def as_snapshot(shown: str) -> str:
    r"""Write what BrowserGym shows as Playwright's tools would; a text without a tree stays as it is.

    Addresses of links, placeholders, levels of headings and elements without a meaning of their own are left out. After
    an action that failed, Playwright's tools show the error and no page. A text with a result stays as it is.

    >>> print(as_snapshot("URL: http://a.example/\n\nRootWebArea 'Tea'\n\t[2] paragraph ''\n\t\tStaticText 'Hot'"))
    ### Page
    - Page URL: http://a.example/
    - Page Title: Tea
    ### Snapshot
    ```yaml
    - generic [ref=e1]:
      - paragraph [ref=e2]: Hot
    ```
    """
    root, *nodes = read(shown) or [ScreenNode("")]
    if root.role != "RootWebArea":
        return shown
    url, title = location(shown)
    head = shown.partition("\n\n")[0]
    if "\nResult of the last action: " in head:
        return shown
    if error := _ERROR.search(head):
        return f"### Error\nError: {error[1]}"
    active = " [active]" if "focused" in root.flags else ""
    lines = _lines(nodes, 1)
    page = ["### Page", f"- Page URL: {url}", *([f"- Page Title: {title}"] if title else []), "### Snapshot"]
    return "\n".join([*page, "```yaml", f"- generic{active} [ref=e1]{':' if lines else ''}", *lines, "```"])


def _lines(nodes: Sequence[ScreenNode], depth: int) -> list[str]:
    """Return the lines of some elements and of what they hold."""
    lines: list[str] = []
    indent, place = "  " * depth, 0
    while place < len(nodes):
        node = nodes[place]
        place += 1
        start = place
        while place < len(nodes) and nodes[place].depth > node.depth:
            place += 1
        inside = nodes[start:place]
        if node.role == "StaticText":
            lines.append(f"{indent}- text: {yaml_value(node.name)}")
        elif node.role in _BARE:
            lines += _lines(inside, depth)
        else:
            lines += _element(node, inside, depth)
    return lines


def _element(node: ScreenNode, inside: Sequence[ScreenNode], depth: int) -> list[str]:
    name = "" if node.role in _NAMED_BY_CONTENT and inside else node.name
    parts = [_ROLES.get(node.role, node.role)]
    parts += [json.dumps(name, ensure_ascii=False)] if name else []
    parts += [f"[{_STATES[flag]}]" for flag in node.flags if flag in _STATES]
    parts += [f"[ref={node.handle}]"] if node.role != "option" else []
    parts += ["[cursor=pointer]"] if "clickable" in node.flags else []
    head = f"{'  ' * depth}- {yaml_key(' '.join(parts))}"
    if len(inside) == 1 and inside[0].role == "StaticText":
        return [f"{head}: {yaml_value(inside[0].name)}"]
    if node.text and node.role != "combobox":
        return [f"{head}: {yaml_value(node.text)}"]
    lines = _lines(_with_texts(node, inside) if node.role in _CELLS else inside, depth + 1)
    return [f"{head}:" if lines or node.role == "link" else head, *lines]


def _with_texts(cell: ScreenNode, inside: Sequence[ScreenNode]) -> list[ScreenNode]:
    """Return what a cell holds with the texts that only its name tells: what stands there between other elements."""
    filled: list[ScreenNode] = []
    place = 0
    for node in inside:
        found = cell.name.find(node.name, place) if node.name and node.depth == cell.depth + 1 else -1
        if found >= 0:
            filled += _text(cell, cell.name[place:found])
            place = found + len(node.name)
        filled.append(node)
    return [*filled, *(_text(cell, cell.name[place:]) if place else ())]


def _text(cell: ScreenNode, text: str) -> list[ScreenNode]:
    return [ScreenNode("StaticText", text.strip(), depth=cell.depth + 1)] if text.strip() else []
