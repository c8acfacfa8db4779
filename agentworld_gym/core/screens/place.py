"""Where a drawing of a screen shows something to act on."""

from __future__ import annotations

from dataclasses import dataclass

from agentworld_gym.core.screens.node import Box, ScreenNode


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a drawing that a person can point at.

    >>> Place(Box(0, 0, 40, 20), ScreenNode("button", "Save", handle="e3")).node.label
    'Save'
    """

    box: Box
    """Where it is, in pixels of the drawing at scale 1."""

    node: ScreenNode
    """The element that is drawn there."""

    writes: bool = False
    """Whether a text can be written into it."""

    options: tuple[str, ...] = ()
    """What can be chosen in it, where it is a list that opens."""

    action: str | None = None
    """The action of a click, where no gesture on an element says it, as on the buttons of a browser's own dialog."""


def place_at(places: list[Place], x: int, y: int) -> Place | None:
    """Return the smallest place at a point; of equal ones the last, which lies on top. None where there is none.

    >>> window, button = (Place(Box(0, 0, side, side), ScreenNode("x")) for side in (90, 10))
    >>> place_at([window, button], 5, 5) == button, place_at([window, button], 95, 5)
    (True, None)
    """
    there = [place for place in places if _holds(place.box, x, y)]
    return min(reversed(there), key=lambda place: place.box.width * place.box.height, default=None)


def _holds(box: Box, x: int, y: int) -> bool:
    return box.x <= x < box.x + box.width and box.y <= y < box.y + box.height
