"""The gestures of a phone as AndroidWorld's JSON actions, which all ways of writing them stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.actions.toolset import UnreadableAction
from agentworld_gym.core.screens.node import ScreenNode

WIDTH, HEIGHT = 1080, 2400
FAR = 600
"""How far a swipe goes, in pixels, where an action names its direction alone."""

OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
BUTTONS = {"back": "navigate_back", "home": "navigate_home", "enter": "keyboard_enter"}
"""The buttons of the system, each with the action that presses it."""

_STEPS = {"up": (0, -FAR), "down": (0, FAR), "left": (-FAR, 0), "right": (FAR, 0)}
Point = tuple[int, int]


def pressed(button: str) -> dict[str, Any]:
    """Return the action that presses a button of the system.

    Raises:
        UnreadableAction: There is no such button.
    """
    name = BUTTONS.get(button.strip().lower())
    if name is None:
        raise UnreadableAction(f"{button!r} is not one of {', '.join(BUTTONS)}")
    return {"action_type": name}


def swiped(start: Point, end: Point) -> dict[str, Any]:
    """Return the action that moves the finger from one point to another; where it stays, it holds.

    >>> swiped((540, 1800), (560, 600))
    {'action_type': 'swipe', 'direction': 'up', 'x': 540, 'y': 1800}
    """
    across, down = end[0] - start[0], end[1] - start[1]
    at = {"x": start[0], "y": start[1]}
    if not across and not down:
        return {"action_type": "long_press", **at}
    if abs(across) > abs(down):
        return {"action_type": "swipe", "direction": "right" if across > 0 else "left", **at}
    return {"action_type": "swipe", "direction": "down" if down > 0 else "up", **at}


def swipe_end(start: Point, direction: str) -> Point:
    """Return the point on the screen to which a swipe goes."""
    x, y = _STEPS[direction]
    return min(max(start[0] + x, 0), WIDTH - 1), min(max(start[1] + y, 0), HEIGHT - 1)


def point_of(value: Any, name: str) -> Point:
    """Return a pair of numbers as a point, on whole pixels.

    Raises:
        UnreadableAction: The value is something else.
    """
    numbers = value if isinstance(value, list | tuple) else ()
    if len(numbers) != 2 or not all(type(number) in (int, float) for number in numbers):
        raise UnreadableAction(f"'{name}' must be two numbers, [x, y]")
    return round(numbers[0]), round(numbers[1])


def node_of(parsed: Mapping[str, Any], nodes: Sequence[ScreenNode]) -> ScreenNode | None:
    """Return the element that an action names: by its index, or the smallest one around its point."""
    if "index" in parsed:
        return next((node for node in nodes if node.handle == parsed["index"]), None)
    if "x" not in parsed or "y" not in parsed:
        return None
    x, y = parsed["x"], parsed["y"]
    around = [
        node
        for node in nodes
        if (box := node.box) is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height
    ]
    return min(around, key=lambda node: node.box.width * node.box.height if node.box else 0, default=None)


def place_of(parsed: Mapping[str, Any], nodes: Sequence[ScreenNode]) -> Point | None:
    """Return the point that an action names, or the middle of the element that it names; None where there is none."""
    if "x" in parsed and "y" in parsed:
        return parsed["x"], parsed["y"]
    node = node_of(parsed, nodes)
    return None if node is None or node.box is None else node.box.centre
