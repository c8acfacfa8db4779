"""Widgets, the elements of a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentworld_gym.kit.gui.text_field import Field

Message = tuple[Any, ...]
"""A message to a model: a name such as `contacts/open`, and what it is about."""

Arrangement = Literal["column", "row", "grid", "layers"]


@dataclass(slots=True, eq=False)
class Widget:
    """One element of a screen."""

    role: str = ""
    """What the screen's representation calls it, such as `push-button` or `android.widget.Switch`."""
    name: str = ""
    """Its accessible name."""
    text: str = ""
    """The text that it shows."""
    description: str = ""
    """Its accessible description."""
    key: str = ""
    """Its identity from one view to the next, which a widget needs that takes the focus or scrolls."""
    on: Mapping[str, Message] = field(default_factory=dict)
    """The messages of inputs (`click`, `double`, `long`, `right`, `enter`, `changed`, …)."""
    field: Field | None = None
    """The text field that takes typed text; None if it takes none."""
    flags: tuple[str, ...] = ()
    """States that are printed as they stand. With `disabled` among them it takes no input."""
    children: tuple[Widget, ...] = ()
    """The widgets inside it."""
    arrangement: Arrangement = "column"
    """How its children lie: below each other, side by side, in a grid, or on top of each other."""
    columns: int = 1
    """The number of columns of a grid."""
    scrolls: bool = False
    """Whether its content scrolls."""
    modal: bool = False
    """Whether it keeps all input from the widgets below it."""
    shown: bool = True
    """Whether it is printed; False for a widget that only arranges others."""
    width: int | None = None
    """Its width in pixels; None for as much as its content needs."""
    height: int | None = None
    """Its height in pixels; None for as much as its content needs."""
    grow: int = 0
    """Its share of the space that is left over along its container's direction."""
    fill: bool = True
    """Whether a widget without a size fills its container across that direction."""
    at: tuple[int, int] = (0, 0)
    """Its place within a container of layers."""
    padding: tuple[int, int] = (0, 0)
    """The space at its left and right, and at its top and bottom."""
    gap: int = 0
    """The space between its children."""
    lines: int = 1
    """The number of lines of its text."""
    x: int = 0
    """The left edge of its box, which `place` sets like the other three."""
    y: int = 0
    """The upper edge of its box."""
    w: int = 0
    """The width of its box."""
    h: int = 0
    """The height of its box."""
    extent: int = 0
    """The height of its content, if it scrolls."""
    offset: int = 0
    """How far its content is scrolled."""

    @property
    def enabled(self) -> bool:
        """Whether the widget takes input."""
        return "disabled" not in self.flags


def row(*children: Widget, **options: Any) -> Widget:
    """Return a container with children from left to right, which is printed only if it has a role."""
    return _container("row", children, options)


def column(*children: Widget, **options: Any) -> Widget:
    """Return a container with children from top to bottom, which is printed only if it has a role."""
    return _container("column", children, options)


def grid(columns: int, children: Iterable[Widget], **options: Any) -> Widget:
    """Return a container with children line by line in equal columns, which is printed only if it has a role."""
    return _container("grid", children, {**options, "columns": columns})


def layers(*children: Widget, **options: Any) -> Widget:
    """Return a container with children on top of each other, each at its `at`; the last one lies on top."""
    return _container("layers", children, options)


def scroll(key: str, *children: Widget, **options: Any) -> Widget:
    """Return a column that scrolls within its box; `key` names it in the scroll offsets of `place`."""
    return _container("column", children, {"grow": 1, **options, "key": key, "scrolls": True})


def _container(arrangement: Arrangement, children: Iterable[Widget], options: Mapping[str, Any]) -> Widget:
    return Widget(children=tuple(children), arrangement=arrangement, **{"shown": "role" in options, **options})
