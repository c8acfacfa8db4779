"""The lines of AndroidWorld: index, class, attributes, bounds and flags of an element, divided by bars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from agentworld_gym.domains.android.engine.elements import DisplayElement, quoted
from agentworld_gym.domains.android.engine.phone import Phone

_FLAGS = ("clickable", "long_clickable", "scrollable", "focused", "checked", "selected", "editable")


def write(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Return no text before the elements, and the line of each."""
    return "", [_line(index, element) for index, element in enumerate(elements)]


def _line(index: int, element: DisplayElement) -> str:
    widget, left, top, right, bottom, _ = element
    line = f"[{index:2}] | {widget.role} |"
    start = len(line)
    if widget.text:
        line += f' text="{quoted(widget.text)}"'
    if widget.description:
        # The description of a field is the hint that it shows while it is empty.
        line += f' {"desc" if widget.field is None else "hint"}="{quoted(widget.description)}"'
    if len(line) > start:
        line += " |"
    return f"{line} bounds=[{left},{top}][{right},{bottom}]{_flag_list(element.flags)}"


@lru_cache(maxsize=512)
def _flag_list(flags: tuple[str, ...]) -> str:
    told = ", ".join([flag for flag in flags if flag in _FLAGS])
    return f" | {told}" if told else ""
