"""The widgets of all programs of the desktop, by their accessible roles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentworld_gym.kit.gui import Field, Message, Metrics, Widget, row

METRICS = Metrics(char=8, line=20, margin=(10, 7))
"""The size of all text: a button of four letters has 52 x 34 pixels."""

FOCUSABLE = ("focusable",)
DISABLED = ("disabled",)


def button(name: str, message: Message, key: str = "", enabled: bool = True, **options: Any) -> Widget:
    """Return a push button."""
    return Widget(
        options.pop("role", "push-button"),
        name,
        key=key or name,
        on={"click": message},
        flags=FOCUSABLE if enabled else DISABLED,
        fill=options.pop("fill", False),
        **options,
    )


def toggle(name: str, on: bool, message: Message, key: str = "", **options: Any) -> Widget:
    """Return a toggle button, or with `role` a `check-box`, `radio-button`, `switch` or `page-tab`."""
    role = options.pop("role", "toggle-button")
    states = () if not on else ("selected",) if role == "page-tab" else ("checked",)
    return Widget(
        role,
        name,
        key=key or name,
        on={"click": message},
        flags=("focusable", *states),
        fill=options.pop("fill", False),
        **options,
    )


def label(text: str, **options: Any) -> Widget:
    """Return a text that is only read."""
    return Widget(options.pop("role", "label"), text, text, fill=options.pop("fill", False), **options)


def entry(name: str, field: Field, key: str = "", enter: Message = (), changed: Message = (), **options: Any) -> Widget:
    """Return a text field of one line; `role="text", lines=n` and a field with `multiline` make a larger one."""
    on = {
        gesture: message
        for gesture, message in (("enter", enter), ("changed", changed), *options.pop("on", {}).items())
        if message
    }
    return Widget(
        options.pop("role", "entry"), name, field.value, key=key or name, field=field, flags=FOCUSABLE, on=on, **options
    )


def combo(name: str, value: str, menu: Message, key: str = "", **options: Any) -> Widget:
    """Return a combo box; `menu` is the message `("menu", name, ...)` that opens its choices."""
    return Widget(
        "combo-box",
        name,
        value,
        key=key or name,
        on={"click": menu},
        flags=FOCUSABLE,
        fill=options.pop("fill", False),
        **options,
    )


def item(name: str, message: Message, selected: bool = False, key: str = "", **options: Any) -> Widget:
    """Return an entry of a list. `on` adds messages for `double`, `right`, `drag` and `drop`."""
    return Widget(
        options.pop("role", "list-item"),
        name,
        key=key,
        on={"click": message, **options.pop("on", {})},
        flags=("selected",) if selected else (),
        **options,
    )


def menu_bar(names: Iterable[str], **options: Any) -> Widget:
    """Return a bar of menus; a click on one asks the program for `menu(name)`."""
    menus = (Widget("menu", name, key=f"menu {name}", on={"click": ("menu", name)}, fill=False) for name in names)
    return row(*menus, **{"height": 30, **options})


def spacer() -> Widget:
    """Return empty space that takes what is left over in its row or column."""
    return Widget(shown=False, grow=1)
