"""The elements of the display: widgets with their visible part, and what a screen in any dialect says of them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.core.engines import Kind
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.kit.gui import Widget

TOAST = "android.widget.Toast"
_FLAGS = (
    "clickable",
    "long_clickable",
    "scrollable",
    "checkable",
    "focusable",
    "focused",
    "checked",
    "selected",
    "editable",
    "password",
)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": " "})


class DisplayElement(NamedTuple):
    """A widget on the display, with the corners of its visible part."""

    widget: Widget
    left: int
    top: int
    right: int
    bottom: int
    depth: int = 0
    """The number of elements around it."""

    @property
    def centre(self) -> tuple[int, int]:
        """The point at which a touch hits it."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that are set, in one order. What is disabled takes no touch."""
        widget = self.widget
        takes = widget.enabled
        scrolls = widget.scrolls and widget.extent > widget.h
        return _flags(widget.flags, takes and "click" in widget.on, takes and "long" in widget.on, scrolls)


def toast(text: str) -> DisplayElement:
    """Return a short message. It is shown like an element, but every touch passes through it."""
    return DisplayElement(Widget(TOAST, text=text), 140, 2000, 940, 2110)


def quoted(text: str) -> str:
    """Return a text as an element's line shows it, without line breaks."""
    return text if text.isalnum() else text.translate(_ESCAPES)


def kind(widget: Widget) -> Kind:
    """Return the kind of content of a widget's text."""
    return "metadata" if widget.role in (widgets.CLOCK, widgets.CHRONOMETER) else "deterministic"


@lru_cache(maxsize=512)
def _flags(flags: tuple[str, ...], click: bool, long: bool, scrolls: bool) -> tuple[str, ...]:
    on = {*flags}
    on |= {name for name, set_ in (("clickable", click), ("long_clickable", long), ("scrollable", scrolls)) if set_}
    return tuple(name for name in _FLAGS if name in on)
