"""Arithmetic of boxes."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.core.screens import Box, ScreenNode


def visible(nodes: Sequence[ScreenNode], width: int, height: int) -> list[ScreenNode]:
    """Return the nodes of which a screen of some size shows anything, without what reaches far beyond it."""
    on_screen = []
    for node in nodes:
        box = node.box
        if box is None or box.width < 1 or box.height < 1:
            continue
        left, top = max(box.x, -width), max(box.y, -height)
        right, bottom = min(box.x + box.width, 2 * width), min(box.y + box.height, 2 * height)
        if left < width and top < height and right > 0 and bottom > 0:
            on_screen.append(node._replace(box=Box(left, top, right - left, bottom - top)))
    return on_screen


def inset(box: Box, left: int, right: int) -> Box:
    """Return a box without some pixels at its sides."""
    return Box(box.x + left, box.y, max(box.width - left - right, 0), box.height)


def shrunk(box: Box, by: int) -> Box:
    """Return a box without some pixels all around."""
    return Box(box.x + by, box.y + by, max(box.width - 2 * by, 1), max(box.height - 2 * by, 1))


def middle(box: Box, side: int) -> Box:
    """Return a square in the middle of a box."""
    return Box(box.x + (box.width - side) // 2, box.y + (box.height - side) // 2, side, side)


def holds(outer: Box, inner: Box) -> bool:
    """Tell whether the centre of a box lies in another box.

    >>> holds(Box(0, 0, 10, 10), Box(5, 5, 8, 8)), holds(Box(0, 0, 10, 10), Box(6, 6, 8, 8))
    (True, False)
    """
    x, y = inner.centre
    return outer.x <= x < outer.x + outer.width and outer.y <= y < outer.y + outer.height


def union(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around several boxes."""
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.width for box in boxes), max(box.y + box.height for box in boxes)
    return Box(left, top, right - left, bottom - top)
