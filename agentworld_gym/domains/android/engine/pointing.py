"""What an action points at on a display: a point, the widgets below it, and the list that it scrolls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.display import Display
from agentworld_gym.domains.android.engine.elements import DisplayElement
from agentworld_gym.kit.gui import Message, Widget, handler

GESTURES = {"long_press": "long", "double_tap": "double"}
"""The gestures of actions that are no clicks."""
_SHARE = (3, 4)
"""The share of its height by which a list is scrolled."""


class Target(NamedTuple):
    """The target of an action: a point, and the element if the action names one by its index."""

    x: int
    y: int
    element: DisplayElement | None = None


def target_of(display: Display, action: Mapping[str, Any], shift: int = 0) -> Target | None:
    """Return the target of an action; None where it names none that is on the display.

    Args:
        display: The display.
        action: The action.
        shift: How much the indices of the action are too high.
    """
    index, x, y = action.get("index"), action.get("x"), action.get("y")
    if isinstance(index, int | float) and not isinstance(index, bool):
        if not _is_whole(index, len(display.elements) + shift):
            return None
        place = int(index) - shift
        if place < 0:
            return None
        element = display.elements[place]
        return Target(*element.centre, element)
    if _is_whole(x, widgets.WIDTH) and _is_whole(y, widgets.HEIGHT):
        return Target(int(x), int(y))
    return None


def touched(display: Display, target: Target) -> list[Widget]:
    """Return the widgets at a target, innermost first; an element that was named and lies elsewhere comes before."""
    path = display.at(target.x, target.y)
    if target.element is not None and target.element.widget not in path:
        return [target.element.widget, *path]
    return path


def aim_of(display: Display, action: Mapping[str, Any]) -> tuple[Widget, Message] | None:
    """Return the widget that an action touches, and the message behind it; None where there is none."""
    target = target_of(display, action)
    kind = str(action.get("action_type"))
    return None if target is None else handler(touched(display, target), GESTURES.get(kind, "click"))


def words_on(widget: Widget) -> Iterator[str]:
    """Yield the texts of a widget and of what lies inside it, and which of that is checked."""
    yield from filter(None, (widget.text or widget.description,))
    for child in widget.children:
        yield from words_on(child)
        yield from (flag for flag in child.flags if flag == "checked")


def scrolled(display: Display, target: Target) -> Widget | None:
    """Return the widget that a scroll at a target moves: the innermost one that scrolls, or else the largest.

    The result is None where nothing scrolls, or all of its content is shown.
    """
    area = next((widget for widget in touched(display, target) if widget.scrolls), None)
    if area is None and target.element is None:
        area = _largest(display)
    return area if area is not None and area.extent > area.h else None


def step_of(area: Widget) -> int:
    """Return by how many pixels one scroll moves the content of a widget."""
    return area.h * _SHARE[0] // _SHARE[1]


def _largest(display: Display) -> Widget | None:
    """Return the largest widget that scrolls; of equal ones, the first."""
    areas = [element for element in display.elements if element.widget.scrolls]
    if not areas:
        return None
    return max(areas, key=lambda area: (area.right - area.left) * (area.bottom - area.top)).widget


def _is_whole(value: object, limit: int) -> TypeGuard[int | float]:
    """Return whether a value is a whole number from 0 to below a limit; a float may stand for one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < limit and value == int(value)
