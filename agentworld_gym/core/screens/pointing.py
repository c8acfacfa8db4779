"""Finds the lines of a screen that an action points at, by reference, index or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.screens.node import ScreenNode

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
    screen = screen_of(domain)
    if screen is None:
        return []
    nodes = screen.read(observation)
    handles = {str(node.handle): node.line for node in nodes if node.handle is not None}
    lines: list[int] = []
    for target in screen.targets(parsed):
        line = handles.get(target) if isinstance(target, str) else _at(nodes, *target)
        if line is not None and line not in lines:
            lines.append(line)
    return lines[:MOST]


def _at(nodes: Sequence[ScreenNode], x: int, y: int) -> int | None:
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
