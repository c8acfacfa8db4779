"""The widgets of screens in the sizes of the phone. All sizes are pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Field, Message, Metrics, Widget, column, layers, row, scroll

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

WIDTH, HEIGHT = 1080, 2400
STATUS, BAR, TABS, KEYBOARD, GESTURE = 128, 128, 186, 790, 63
"""The heights of the status bar, the app bar, tabs at the bottom, the keyboard, and the strip for gestures."""
ROW, LINE, MARGIN = 168, 58, 48
METRICS = Metrics(char=22, line=LINE)
BACK: Message = ("system/back",)
MENU_WIDTH = 588
T = TypeVar("T")

TEXT, IMAGE, BUTTON, ICON = (
    "android.widget.TextView",
    "android.widget.ImageView",
    "android.widget.Button",
    "android.widget.ImageButton",
)
GROUP, LIST, EDIT = "android.view.ViewGroup", "androidx.recyclerview.widget.RecyclerView", "android.widget.EditText"
SWITCH, CHECK, RADIO = "android.widget.Switch", "android.widget.CheckBox", "android.widget.RadioButton"
CLOCK, CHRONOMETER = "android.widget.TextClock", "android.widget.Chronometer"
"""The two classes whose texts depend on the moment: the time of day, and a stopwatch or timer."""


def page(bar: Widget, *body: Widget, floating: Widget | None = None, bottom: Widget | None = None) -> Widget:
    """Return a full screen: status bar, app bar, content, and perhaps a floating button and tabs at the bottom."""
    ends = (bottom, gap(GESTURE)) if bottom is not None else (gap(GESTURE),)
    whole = column(gap(STATUS), bar, *body, *ends)
    if floating is None:
        return whole
    lift = GESTURE + (TABS if bottom is not None else 0)
    corner = column(Widget(shown=False, grow=1), row(Widget(shown=False, grow=1), floating, gap(60)), gap(60 + lift))
    return layers(whole, corner)


def gap(height: int, width: int | None = None) -> Widget:
    """Return empty space; in a row, `height` is its width."""
    return Widget(shown=False, height=height, width=height if width is None else width)


def bar(title: str, *actions: Widget, back: bool = True, up: str = "Navigate up") -> Widget:
    """Return the app bar: an arrow back, the title, and icons at its right end."""
    start = (icon(up, BACK),) if back else (gap(MARGIN),)
    return row(*start, label(title, grow=1, height=BAR), *actions, height=BAR)


def icon(description: str, message: Message, *flags: str, text: str = "") -> Widget:
    """Return a small picture that can be touched; `description` names it."""
    return Widget(
        ICON,
        text=text,
        description=description,
        on={"click": message},
        flags=("focusable", *flags),
        width=126,
        height=BAR,
    )


def more(*entries: tuple[str, Message]) -> Widget:
    """Return the icon with three dots, which opens a menu of entries (label and message)."""
    return icon("More options", ("system/menu", entries))


def label(text: str, **options: Any) -> Widget:
    """Return a text of one line."""
    return Widget(TEXT, text=text, **{"height": LINE, **options})


def paragraph(text: str, width: int = WIDTH, role: str = TEXT, **options: Any) -> Widget:
    """Return a text over as many lines as it needs, inside margins."""
    inner = width - 2 * MARGIN
    lines = sum(max(1, -(-len(line) * METRICS.char // inner)) for line in text.split("\n")) if text else 1
    body = Widget(role, text=text, height=lines * LINE, grow=1, **options)
    return row(gap(MARGIN), body, gap(MARGIN), height=lines * LINE + 32)


def header(text: str) -> Widget:
    """Return the title of a section."""
    return row(gap(MARGIN), label(text, grow=1), height=96)


def item(
    title: str,
    message: Message | None = None,
    *,
    detail: str = "",
    hold: Message | None = None,
    leading: Widget | None = None,
    trailing: Sequence[Widget] = (),
    description: str = "",
    flags: Sequence[str] = (),
    height: int = ROW,
) -> Widget:
    """Return a row of a list: a title, a line of detail below it, pictures or buttons at its ends.

    A touch sends `message`, and a long touch sends `hold`.
    """
    on: dict[str, Message] = {}
    if message is not None:
        on["click"] = message
    if hold is not None:
        on["long"] = hold
    texts = (label(title), label(detail)) if detail else (label(title),)
    if "disabled" in flags:
        for text in texts:
            text.flags = ("disabled",)
    middle = column(*texts, grow=1, fill=False)
    start = (gap(MARGIN),) if leading is None else (gap(MARGIN), leading, gap(36))
    return row(
        *start,
        middle,
        *trailing,
        gap(60 if trailing else MARGIN),
        role=GROUP,
        description=description,
        on=on,
        flags=("focusable", *flags) if on else tuple(flags),
        height=height,
    )


def avatar(description: str = "") -> Widget:
    """Return a round picture at the start of a row, which is printed only where it has a description."""
    return Widget(IMAGE, description=description, shown=bool(description), width=105, height=105)


def switch(checked: bool, message: Message | None, description: str = "", enabled: bool = True) -> Widget:
    """Return a switch. Without a message it only shows a state, and the row around it is touched."""
    flags = ("checkable", *(("checked",) if checked else ()), *(() if enabled else ("disabled",)))
    return Widget(
        SWITCH,
        description=description,
        on={} if message is None else {"click": message},
        flags=("focusable", *flags) if message is not None else flags,
        width=156,
        height=144,
    )


def switch_item(title: str, checked: bool, message: Message, detail: str = "", enabled: bool = True) -> Widget:
    """Return a row with a switch at its end, which is touched as a whole."""
    flags = () if enabled else ("disabled",)
    return item(title, message, detail=detail, trailing=(switch(checked, None, title, enabled),), flags=flags)


def slider(phone: Phone, key: str, description: str) -> Widget:
    """Return a slider for a setting from 0 to 100: a touch sets it, and a scroll sideways moves it by 10."""
    value = int(phone.settings[key])
    return Widget(
        "android.widget.SeekBar",
        text=f"{value}%",
        description=description,
        on={
            "slide": ("system/set", key),
            "click": ("system/nothing",),
            "left": ("system/set", key, max(value - 10, 0)),
            "right": ("system/set", key, min(value + 10, 100)),
        },
        flags=("focusable",),
        grow=1,
        height=126,
    )


def check_item(title: str, checked: bool, message: Message, detail: str = "") -> Widget:
    """Return a row with a check box."""
    flags = ("checkable", "checked") if checked else ("checkable",)
    box = Widget(CHECK, description=title, flags=flags, width=126, height=126)
    return item(title, message, detail=detail, leading=box)


def radio_item(title: str, chosen: bool, message: Message) -> Widget:
    """Return a row with a radio button."""
    flags = ("checkable", "checked") if chosen else ("checkable",)
    return Widget(RADIO, text=title, on={"click": message}, flags=("focusable", *flags), height=132)


def button(text: str, message: Message, enabled: bool = True, **options: Any) -> Widget:
    """Return a button with a text."""
    flags = ("focusable",) if enabled else ("focusable", "disabled")
    width = METRICS.char * len(text) + 96
    return Widget(BUTTON, text=text, on={"click": message}, flags=flags, **{"width": width, "height": 126, **options})


def buttons(*entries: Widget) -> Widget:
    """Return buttons in a line, at the right end."""
    return row(Widget(shown=False, grow=1), *entries, gap(MARGIN), height=150, gap=12)


def floating(description: str, message: Message, text: str = "") -> Widget:
    """Return the round button above the content."""
    width = 168 if not text else METRICS.char * len(text) + 120
    return Widget(
        ICON if not text else BUTTON, text=text, description=description, on={"click": message}, flags=("focusable",),
        width=width, height=168,
    )  # fmt: skip


def tabs(entries: Sequence[tuple[str, Message]], selected: int) -> Widget:
    """Return tabs that share the width, each with a label and a message."""
    return row(
        *(
            Widget(
                TEXT,
                text=text,
                on={"click": message},
                flags=("selected",) if number == selected else (),
                grow=1,
                height=TABS,
            )
            for number, (text, message) in enumerate(entries)
        ),
        height=TABS,
    )


def chip(text: str, message: Message, selected: bool = False) -> Widget:
    """Return a small rounded label that can be touched."""
    flags = ("focusable", "checkable", *(("checked", "selected") if selected else ()))
    return Widget(CHECK, text=text, on={"click": message}, flags=flags, width=METRICS.char * len(text) + 84, height=110)


def entry(
    screen: Screen,
    key: str,
    hint: str,
    *,
    initial: str = "",
    multiline: bool = False,
    digits: bool = False,
    password: bool = False,
    enter: Message | None = None,
    changed: Message | None = None,
    replace: bool = False,
    height: int = ROW,
    **options: Any,
) -> Widget:
    """Return a text field, which starts with its `initial` text when it is first shown.

    `hint` names its purpose: it is the content description, and the text while the field is empty. `enter` is the
    message of the keyboard's action key, which else goes to the next field, closes the keyboard, or in a field of
    several lines breaks the line. `changed` is sent after every change of the text. With `replace`, typed text replaces
    the present one.
    """
    field = screen["fields"].get(key)
    if field is None:
        field = screen["fields"][key] = Field(initial)
    field.multiline = multiline
    on: dict[str, Message] = {"click": ("system/focus", key)}
    if enter is not None:
        on["enter"] = enter
    if changed is not None:
        on["changed"] = changed
    kinds = [name for name, on_ in (("password", password), ("digits", digits), ("replace", replace)) if on_]
    flags = ("focusable", "editable", *kinds, *(("focused",) if screen["focus"] == key else ()))
    text = "•" * len(field.value) if password else field.value
    return Widget(
        EDIT,
        text=text or hint,
        description=hint,
        key=key,
        field=field,
        on=on,
        flags=flags,
        **{"height": height, **options},
    )


def listing(
    screen: Screen,
    items: Sequence[T],
    build: Callable[[T], Widget],
    *,
    height: int = ROW,
    key: str = "list",
    end: int = 0,
) -> Widget:
    """Return a list that scrolls, with rows of one height. Only the rows near the visible part are built.

    `end` is the room below the last row, so that no floating button covers it.
    """
    count = len(items)
    offset = max(0, min(screen["scroll"].get(key, 0), count * height + end))
    first = max(0, min(offset // height, count - HEIGHT // height - 1))
    last = min(count, first + HEIGHT // height + 2)
    rows = [build(entry) for entry in items[first:last]]
    for widget in rows:
        widget.height = height
    above = (gap(first * height),) if first else ()
    below = (count - last) * height + end
    return scrolling(*above, *rows, *((gap(below),) if below else ()), key=key)


def scrolling(*children: Widget, key: str = "list", **options: Any) -> Widget:
    """Return widgets below each other, in a part of the screen that scrolls."""
    return scroll(key, *children, **{"role": LIST, **options})


def empty(text: str) -> Widget:
    """Return the text of a list without entries."""
    return column(gap(400), row(Widget(shown=False, grow=1), label(text), Widget(shown=False, grow=1)), grow=1)


def deleted_screen(text: str) -> Widget:
    """Return a screen whose subject was deleted elsewhere."""
    return page(bar(""), empty(text))


def panel(title: str, *children: Widget, width: int = 936) -> Widget:
    """Return the body of a dialog: a title (unless it is empty) above the content; see `Phone.push` with `over`."""
    head = (row(gap(MARGIN), label(title, grow=1), height=132),) if title else (gap(24),)
    return column(*head, *children, gap(24), width=width)
