"""Widgets, the elements of a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentworld_gym.engines.gui.text_field import Field

Message = tuple[Any, ...]
"""A message to a model: a name such as `contacts/open`, and what it is about."""

Arrangement = Literal["column", "row", "grid", "layers"]


@dataclass(slots=True, eq=False)
class Widget:
    """One element of a screen. `place` sets its box (`x`, `y`, `w`, `h`).

    `role` is what the representation calls it (`push-button`, `android.widget.Switch`). `key` is its identity from one
    view to the next, needed by what takes the focus or scrolls. `on` maps an input (`click`, `double`, `long`, `right`,
    `enter`, `changed`, …) to a message. A `field` takes typed text. `flags` are printed as they stand; `disabled` among
    them takes no input. A `modal` widget keeps all input from what lies below it. `shown` is False for what only
    arranges others and is not printed.

    `width` and `height` are pixels; None is as much as its content needs. `grow` is its share of what is left over
    along its container's direction; across it, a widget without a size fills the container where `fill` is set.
    `at` is the place within a container of layers.
    """

    role: str = ""
    name: str = ""
    text: str = ""
    description: str = ""
    key: str = ""
    on: Mapping[str, Message] = field(default_factory=dict)
    field: Field | None = None
    flags: tuple[str, ...] = ()
    children: tuple[Widget, ...] = ()
    arrangement: Arrangement = "column"
    columns: int = 1
    scrolls: bool = False
    modal: bool = False
    shown: bool = True
    width: int | None = None
    height: int | None = None
    grow: int = 0
    fill: bool = True
    at: tuple[int, int] = (0, 0)
    padding: tuple[int, int] = (0, 0)
    gap: int = 0
    lines: int = 1
    x: int = 0
    y: int = 0
    w: int = 0
    h: int = 0
    extent: int = 0
    offset: int = 0

    @property
    def enabled(self) -> bool:
        """Whether it takes input."""
        return "disabled" not in self.flags


def row(*children: Widget, **options: Any) -> Widget:
    """Children from left to right; not printed unless it is given a role."""
    return _container("row", children, options)


def column(*children: Widget, **options: Any) -> Widget:
    """Children from top to bottom; not printed unless it is given a role."""
    return _container("column", children, options)


def grid(columns: int, children: Iterable[Widget], **options: Any) -> Widget:
    """Children line by line in columns of equal width; not printed unless it is given a role."""
    return _container("grid", children, {**options, "columns": columns})


def layers(*children: Widget, **options: Any) -> Widget:
    """Children one above the other, each at its `at`; the last one lies on top."""
    return _container("layers", children, options)


def scroll(key: str, *children: Widget, **options: Any) -> Widget:
    """A column that shows as much as its box holds; `key` names it in the scroll offsets given to `place`."""
    return _container("column", children, {"grow": 1, **options, "key": key, "scrolls": True})


def _container(arrangement: Arrangement, children: Iterable[Widget], options: Mapping[str, Any]) -> Widget:
    return Widget(children=tuple(children), arrangement=arrangement, **{"shown": "role" in options, **options})
