"""Rectangles on the screen of the desktop, in pixels."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 1920, 1080
BAR = 27
DOCK = 70
WORK = (DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR)
"""The rectangle that a maximised window fills."""
TITLE = 47
"""The height of a title bar."""
CASCADE = 40
STEPS = 8

Rect = tuple[int, int, int, int]


def new_window_box(size: tuple[int, int], taken: Sequence[Sequence[int]]) -> list[int]:
    """Return where another window opens: in the middle, or beside the windows that are there."""
    corners = {(box[0], box[1]) for box in taken}
    places = [cascaded(size, step) for step in range(STEPS)]
    return next((box for box in places if (box[0], box[1]) not in corners), places[0])


def cascaded(size: tuple[int, int], step: int) -> list[int]:
    """Return a place where a window may open: in the middle, or some steps to the right and down."""
    w, h = min(size[0], WORK[2]), min(size[1], WORK[3])
    x, y = (WIDTH - w) // 2, min(160, HEIGHT - h)
    return reachable([x + step * CASCADE, y + step * CASCADE, w, h])


def reachable(box: list[int]) -> list[int]:
    """Return a box moved so far that its title bar can be reached."""
    x, y, w, h = box
    return [min(max(x, DOCK), WIDTH - 200), min(max(y, BAR), HEIGHT - TITLE), w, h]


def inside(rect: Rect, x: int, y: int) -> bool:
    """Return whether a point lies in a rectangle."""
    return rect[0] <= x < rect[0] + rect[2] and rect[1] <= y < rect[1] + rect[3]


def covers(upper: Rect, lower: Rect) -> bool:
    """Return whether one rectangle hides another one wholly."""
    return (
        upper[0] <= lower[0]
        and upper[1] <= lower[1]
        and upper[0] + upper[2] >= lower[0] + lower[2]
        and upper[1] + upper[3] >= lower[1] + lower[3]
    )


def overlap(one: Rect, other: Rect) -> bool:
    """Return whether two rectangles share a point."""
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
