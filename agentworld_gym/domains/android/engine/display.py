"""The display: boxes of widgets, the numbered elements and their lines, and what lies under a point."""

from __future__ import annotations

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.dialects import DEFAULT, WRITERS
from agentworld_gym.domains.android.engine.elements import DisplayElement, toast
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.kit.gui import Message, Widget, layers, place

FRAME = "android.widget.FrameLayout"
_KEYBOARD_TOP = widgets.HEIGHT - widgets.KEYBOARD - widgets.GESTURE


class Display:
    """What a phone shows: the tree of widgets with their boxes, and the elements in the order of their indices."""

    __slots__ = ("elements", "root", "text")

    def __init__(self, phone: Phone) -> None:
        self.root = composed(phone)
        self.elements = _elements(self.root)
        self.text = self.text_in(phone, DEFAULT)

    def text_in(self, phone: Phone, dialect: str) -> str:
        """Return the screen in a dialect."""
        message = phone.model["toast"]
        head, lines = WRITERS[dialect](phone, [*self.elements, toast(message)] if message else self.elements)
        return head + "\n".join(lines)

    def at(self, x: int, y: int) -> list[Widget]:
        """Return the widgets under a point, innermost first."""
        return under(self.root, x, y) or []


def composed(phone: Phone) -> Widget:
    """Return the display as one placed tree: a screen or the dialog over it, then a snackbar, then the keyboard."""
    screen = phone.screen
    phone.viewing = screen
    if screen.get("loading") and phone.controls.strength("slow-loading"):
        body = _loading()
    else:
        body = phone.apps[screen["app"]].view(phone, screen)
    phone.viewing = None
    keyboard = bool(screen["focus"])
    # The strip for gestures at the end of a page lies below the edge of the keyboard.
    high = _KEYBOARD_TOP + widgets.GESTURE if keyboard else widgets.HEIGHT
    if screen["over"]:
        return _over(screen, body, _KEYBOARD_TOP if keyboard else widgets.HEIGHT - widgets.GESTURE, keyboard)
    body.width, body.height = widgets.WIDTH, high
    if (snack := phone.model["snack"]) is not None:
        body = layers(body, _snackbar(high - 480, *snack), width=widgets.WIDTH, height=high)
    whole = layers(body, _keyboard(body, screen)) if keyboard else body
    return _placed(whole, screen)


def _over(screen: Screen, body: Widget, high: int, keyboard: bool) -> Widget:
    """Return a dialog in the middle of the room above the keyboard. A touch beside it closes it."""
    wide = body.width or widgets.WIDTH
    edge = 0 if wide == widgets.WIDTH else (widgets.WIDTH - wide) // 2
    place(body, 0, 0, wide, 0, widgets.METRICS, {})
    tall = min(body.height if body.height is not None else _natural(body), high - widgets.STATUS)
    if screen["name"] == "menu":
        body.at = (widgets.WIDTH - wide - 24, widgets.STATUS)
    else:
        body.at = (edge, widgets.STATUS + (high - widgets.STATUS - tall) // 2)
    body.width, body.height = wide, tall
    beside = "system/nothing" if screen.get("sticky") else "system/dismiss"
    scrim = Widget(shown=False, on={"click": (beside,)}, width=widgets.WIDTH, height=widgets.HEIGHT)
    shield = Widget(shown=False, on={"click": ("system/nothing",)}, width=wide, height=tall, at=body.at)
    keys = (_keyboard(body, screen),) if keyboard else ()
    return _placed(layers(scrim, shield, body, *keys), screen)


def _natural(body: Widget) -> int:
    """Return the height of a column that was placed without a limit."""
    last = body.children[-1] if body.children else body
    return last.y + last.h + body.padding[1]


def _placed(whole: Widget, screen: Screen) -> Widget:
    place(whole, 0, 0, widgets.WIDTH, widgets.HEIGHT, widgets.METRICS, screen["scroll"])
    if screen["reveal"]:
        screen["reveal"] = False
        if _reveal(whole, screen):
            place(whole, 0, 0, widgets.WIDTH, widgets.HEIGHT, widgets.METRICS, screen["scroll"])
    return whole


def _reveal(whole: Widget, screen: Screen) -> bool:
    """Scroll the focused field into view, and return whether anything has moved."""
    path = _path(whole, screen["focus"]) if screen["focus"] else None
    area = next((widget for widget in path or () if widget.scrolls), None)
    if path is None or area is None:
        return False
    field = path[0]
    below, above = field.y + field.h - area.y - area.h, area.y - field.y
    move = below if below > 0 else -above if above > 0 else 0
    screen["scroll"][area.key] = max(0, area.offset + move)
    return move != 0


def _path(widget: Widget, key: str) -> list[Widget] | None:
    """Return the widgets from the one with a key up to the root."""
    if widget.key == key:
        return [widget]
    for child in widget.children:
        path = _path(child, key)
        if path is not None:
            path.append(widget)
            return path
    return None


def _loading() -> Widget:
    wheel = Widget("android.widget.ProgressBar", description="Loading", width=168, height=168, at=(456, 1100))
    return layers(wheel)


def _snackbar(top: int, text: str, action: str, message: Message) -> Widget:
    texts = widgets.label(text, grow=1, height=126)
    button = widgets.button(action, message)
    return Widget(
        FRAME,
        children=(widgets.gap(40), texts, button),
        arrangement="row",
        width=780,
        height=126,
        at=(48, top),
        shown=False,
        on={"click": ("system/nothing",)},
    )


def _keyboard(body: Widget, screen: Screen) -> Widget:
    path = _path(body, screen["focus"])
    field = path[0] if path is not None else None
    if field is not None and field.field is not None and field.field.multiline:
        action = "Enter"
    elif field is not None and "search" in field.description.lower():
        action = "Search"
    elif field is not None and "enter" not in field.on and next_field(body, screen["focus"]):
        action = "Next"
    else:
        action = "Done"
    keys = [
        Widget(
            widgets.ICON,
            description=name,
            on={"click": ("system/key", key)},
            width=160,
            height=180,
            at=(908, at),
        )
        for name, key, at in (("Delete", "delete", 396), (action, "enter", 590))
    ]
    return Widget(
        FRAME,
        description="Keyboard",
        on={"none": ()},
        children=tuple(keys),
        arrangement="layers",
        width=widgets.WIDTH,
        height=widgets.HEIGHT - _KEYBOARD_TOP,
        at=(0, _KEYBOARD_TOP),
    )


def next_field(body: Widget, key: str) -> str:
    """Return the key of the text field after one, in the order of the tree; empty if it is the last."""
    keys = fields(body)
    at = keys.index(key) + 1 if key in keys else len(keys)
    return keys[at] if at < len(keys) else ""


def fields(widget: Widget) -> list[str]:
    """Return the keys of the text fields in a tree."""
    keys = [widget.key] if widget.field is not None and widget.enabled else []
    for child in widget.children:
        keys += fields(child)
    return keys


def under(widget: Widget, x: int, y: int) -> list[Widget] | None:
    """Return the widgets under a point, innermost first. A widget that only arranges others lets touches through."""
    if not (widget.x <= x < widget.x + widget.w and widget.y <= y < widget.y + widget.h):
        return None
    for child in reversed(widget.children):
        path = under(child, x, y)
        if path is not None:
            path.append(widget)
            return path
    return [widget] if widget.shown or widget.on else None


def _elements(root: Widget) -> list[DisplayElement]:
    elements: list[DisplayElement] = []
    _collect(root, 0, 0, widgets.WIDTH, widgets.HEIGHT, 0, elements)
    return elements


def _collect(
    widget: Widget, left: int, top: int, right: int, bottom: int, depth: int, elements: list[DisplayElement]
) -> None:
    x, y = widget.x, widget.y
    # Assignments replace max and min here, since this runs for every widget of every screen.
    if x > left:
        left = x
    if y > top:
        top = y
    if x + widget.w < right:
        right = x + widget.w
    if y + widget.h < bottom:
        bottom = y + widget.h
    if left >= right or top >= bottom:
        return
    if widget.shown and widget.role:
        elements.append(DisplayElement(widget, left, top, right, bottom, depth))
        depth += 1
    start = len(elements)
    layered = widget.arrangement == "layers"
    for child in widget.children:
        before = len(elements)
        _collect(child, left, top, right, bottom, depth, elements)
        if layered and before > start and len(elements) > before:
            _uncover(elements, start, before)


def _uncover(elements: list[DisplayElement], start: int, before: int) -> None:
    """Drop the elements whose middle lies below a layer on top of them, since a touch would not reach them."""
    covers = elements[before:]
    elements[start:before] = [
        element
        for element in elements[start:before]
        if not any(
            cover.left <= element.centre[0] < cover.right and cover.top <= element.centre[1] < cover.bottom
            for cover in covers
        )
    ]
