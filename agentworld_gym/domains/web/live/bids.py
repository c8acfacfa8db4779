"""The observation of BrowserGym, written from what Playwright's tools show of a page in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.web.actions import bid
from agentworld_gym.domains.web.screen_texts import read

_ROLES = {"img": "image"}
_FLAGS = {"cursor=pointer": "clickable", "active": "focused", "disabled": "disabled=True"}
_CHECKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_EDITED = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "slider"})
_SELECTED = frozenset({"option", "tab"})
_BY_CONTENT = frozenset({"button", "cell", "columnheader", "gridcell", "heading", "link", "row", "rowheader", "tab"})
"""The roles whose name is their content, where a snapshot leaves it out."""


def observation(answer: str, snapshot: str, tabs: Sequence[tuple[str, str]], tab: int) -> str:
    """Return what an agent of BrowserGym sees: URL, tabs, focus, the error or result of the last action, and the tree.

    Args:
        answer: The answer to the last action, as Playwright's tools give it.
        snapshot: The snapshot of the page; an empty one where a dialog is open.
        tabs: The title and the address of each tab.
        tab: Which of them is shown.
    """
    nodes = read(f"### Snapshot\n{snapshot}") if snapshot else []
    title, url = tabs[tab]
    lines = [f"URL: {url}"]
    if len(tabs) > 1:
        lines.append("Open tabs:")
        lines += [
            f"  {place}: {name} ({address}){', active' if place == tab else ''}"
            for place, (name, address) in enumerate(tabs)
        ]
    focused = next((node for node in nodes if "active" in node.flags and node.depth), None)
    if focused is not None:
        lines.append(f"Focused element: {bid(focused.handle)}")
    if errors := _section(answer, "Error"):
        lines.append(f"Error of the last action: {errors[0].removeprefix('Error: ')}")
    elif results := _section(answer, "Result"):
        lines.append(f"Result of the last action: {' '.join(results)}")
    shown = _section(answer, "Modal state")
    if not shown:
        shown = [f"RootWebArea {title!r}{'' if focused else ', focused'}", *_lines(nodes)]
    return "\n".join([*lines, "", *shown])


def _section(answer: str, title: str) -> list[str]:
    """Return the lines of one section of an answer."""
    _, found, rest = f"\n{answer}".partition(f"\n### {title}\n")
    return rest.partition("\n### ")[0].split("\n") if found else []


def _lines(nodes: Sequence[ScreenNode]) -> Iterator[str]:
    """Yield the lines of a tree. Elements without a meaning of their own are left out, and what they hold moves up."""
    left_out: list[int] = []
    for place, node in enumerate(nodes):
        while left_out and left_out[-1] >= node.depth:
            left_out.pop()
        flags = list(_flags(node))
        if node.role in ("generic", "rowgroup") and not flags:
            left_out.append(node.depth)
            if node.text:
                yield "\t" * (node.depth + 2 - len(left_out)) + f"StaticText {node.text!r}"
            continue
        indent = "\t" * (node.depth + 1 - len(left_out))
        if node.role == "text":
            yield f"{indent}StaticText {node.text!r}"
            continue
        handle = f"[{bid(node.handle)}] " if node.handle else ""
        name = node.name or (_content(nodes, place) if node.role in _BY_CONTENT else "")
        line = f"{handle}{_ROLES.get(node.role, node.role)} {name!r}"
        text = node.text if node.text != name else ""
        if node.role in _EDITED:
            line, text = f"{line} value={text or _chosen(nodes, place)!r}", ""
        yield indent + ", ".join([line, *flags])
        if text:
            yield f"{indent}\tStaticText {text!r}"


def _inside(nodes: Sequence[ScreenNode], place: int) -> Iterator[ScreenNode]:
    for node in nodes[place + 1 :]:
        if node.depth <= nodes[place].depth:
            return
        yield node


def _content(nodes: Sequence[ScreenNode], place: int) -> str:
    """Return the words that an element holds."""
    parts = [nodes[place].text, *(node.name or node.text for node in _inside(nodes, place))]
    return " ".join(filter(None, parts))


def _chosen(nodes: Sequence[ScreenNode], place: int) -> str:
    """Return what is chosen in a list."""
    chosen = (node for node in _inside(nodes, place) if node.role == "option" and "selected" in node.flags)
    return " ".join(node.name or node.text for node in chosen)


def _flags(node: ScreenNode) -> Iterator[str]:
    yield from (name for flag, name in _FLAGS.items() if flag in node.flags and node.depth)
    if node.role in _CHECKED:
        yield f"checked={'true' if 'checked' in node.flags else 'false'!r}"
    if node.role in _SELECTED:
        yield f"selected={'selected' in node.flags}"
    if "expanded" in node.flags:
        yield "expanded=True"
