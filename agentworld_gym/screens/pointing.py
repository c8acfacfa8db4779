"""Finds the lines of a screen that an action points at, by reference, index or position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentworld_gym.screens import GRAPHICAL, read_screen
from agentworld_gym.screens.node import Node

_POSITION = re.compile(r"(?:\(|coordinates=\[)\s*(?:x\s*=\s*)?(-?[0-9]{1,5})\s*,\s*(?:y\s*=\s*)?(-?[0-9]{1,5})\b")
MOST = 4
"""How many lines are named at most."""


def pointed_lines(domain: str, parsed: Any, observation: str) -> list[int]:
    """Return the numbers of the lines, counted from 0, of the elements that an action names, in the action's order.

    Args:
        domain: The id of the domain.
        parsed: The action as its parser read it.
        observation: The screen.

    >>> row = "push-button\\tSave\\t\\"\\"\\t\\t\\t(10, 10)\\t(20, 20)"
    >>> pointed_lines("desktop", "pyautogui.click(20, 20)", f"tag\\tname\\n{row}")
    [1]
    >>> pointed_lines("web", {"name": "browser_click", "arguments": {"ref": "e4"}}, "### Snapshot\\n- link [ref=e4]")
    [1]
    """
    if domain not in GRAPHICAL:
        return []
    nodes = read_screen(domain, observation)
    handles = {str(node.handle): node.line for node in nodes if node.handle is not None}
    lines: list[int] = []
    for target in _targets(domain, parsed):
        line = handles.get(target) if isinstance(target, str) else _at(nodes, *target)
        if line is not None and line not in lines:
            lines.append(line)
    return lines[:MOST]


def _targets(domain: str, parsed: Any) -> Iterator[str | tuple[int, int]]:
    """Return what an action points at: references and indices as text, positions as pairs."""
    if domain == "desktop":
        for x, y in _POSITION.findall(parsed if isinstance(parsed, str) else ""):
            yield int(x), int(y)
    elif domain == "android" and isinstance(parsed, dict):
        if "index" in parsed:
            yield str(parsed["index"])
        elif all(isinstance(parsed.get(key), int) for key in "xy"):
            yield parsed["x"], parsed["y"]
    elif domain == "web" and isinstance(parsed, dict):
        yield from _texts(parsed.get("arguments"))


def _texts(value: Any) -> Iterator[str]:
    """Return all short texts in some arguments, each of which may be a reference."""
    if isinstance(value, str) and len(value) <= 12:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _at(nodes: Sequence[Node], x: int, y: int) -> int | None:
    """Return the line of the smallest element at a position; of equal ones that of the last, which lies on top."""
    smallest: tuple[int, int] | None = None
    for node in nodes:
        box = node.box
        if box is None or not (box.x <= x < box.x + box.width and box.y <= y < box.y + box.height):
            continue
        area = box.width * box.height
        if smallest is None or area <= smallest[0]:
            smallest = area, node.line
    return None if smallest is None else smallest[1]
