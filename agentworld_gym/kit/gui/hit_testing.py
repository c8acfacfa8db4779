"""Hit testing and focus: which widget an input is for."""

from __future__ import annotations

from collections.abc import Iterator

from agentworld_gym.kit.gui.widget import Message, Widget


def hit(root: Widget, x: int, y: int) -> list[Widget]:
    """Return the widgets under a point, innermost first; empty where there is none.

    Of overlapping widgets the last one counts. Nothing below a modal widget is hit, nor anything that is scrolled away.
    """
    path = _under(root, x, y)
    return path if path is not None else []


def _under(widget: Widget, x: int, y: int) -> list[Widget] | None:
    if not (widget.x <= x < widget.x + widget.w and widget.y <= y < widget.y + widget.h):
        return None
    for child in reversed(widget.children):
        path = _under(child, x, y)
        if path is not None:
            path.append(widget)
            return path
        if child.modal:
            return [widget]
    return [widget]


def handler(path: list[Widget], gesture: str) -> tuple[Widget, Message] | None:
    """Return the innermost widget that has a message for an input, and the message.

    The result is None where no widget has one, or one on the way is disabled.
    """
    for widget in path:
        if not widget.enabled:
            return None
        message = widget.on.get(gesture)
        if message is not None:
            return widget, message
    return None


def scrollable(path: list[Widget]) -> Widget | None:
    """Return the innermost widget under a point that scrolls."""
    return next((widget for widget in path if widget.scrolls), None)


def visible(root: Widget) -> Iterator[Widget]:
    """Yield the printed widgets in the order of the tree, without those whose middle is scrolled away."""
    return _visible(root, root.y, root.y + root.h)


def _visible(widget: Widget, top: int, bottom: int) -> Iterator[Widget]:
    if widget.shown and (widget.children or top <= widget.y + widget.h // 2 < bottom):
        yield widget
    if widget.scrolls:
        top, bottom = max(top, widget.y), min(bottom, widget.y + widget.h)
    for child in widget.children:
        if child.y < bottom and child.y + child.h > top:
            yield from _visible(child, top, bottom)


def focusables(root: Widget) -> list[Widget]:
    """Return the widgets that can have the focus, in the order of the tree; within a modal widget, only its own."""
    widgets: list[Widget] = []
    _collect(root, widgets)
    return widgets


def _collect(widget: Widget, widgets: list[Widget]) -> None:
    if widget.modal:
        widgets.clear()
    if widget.key and widget.enabled and ("focusable" in widget.flags or widget.field is not None):
        widgets.append(widget)
    for child in widget.children:
        _collect(child, widgets)


def find(root: Widget, key: str) -> Widget | None:
    """Return the widget with a key; None if there is none."""
    if root.key == key:
        return root
    for child in root.children:
        match = find(child, key)
        if match is not None:
            return match
    return None


def centre(widget: Widget) -> tuple[int, int]:
    """Return the middle of a widget."""
    return widget.x + widget.w // 2, widget.y + widget.h // 2
