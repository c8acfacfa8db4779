"""The notification shade: quick settings and notifications, pulled down from the top."""

from __future__ import annotations

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.domains.android.engine.widgets import button, buttons, item, label
from agentworld_gym.kit.gui import Message, Widget, column, grid, row

TILES = (
    ("wifi", "Wi-Fi"),
    ("bluetooth", "Bluetooth"),
    ("dnd", "Do Not Disturb"),
    ("flashlight", "Flashlight"),
    ("airplane", "Airplane mode"),
    ("auto_rotate", "Auto-rotate"),
    ("battery_saver", "Battery Saver"),
    ("dark_theme", "Dark theme"),
)
"""The settings that have a tile, with the labels."""


class ShadeApp(App):
    """The notification shade."""

    id = "shade"
    title = "Notification shade"
    package = "com.android.systemui"
    first = "shade"
    icon = False

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return time and date, the tiles, the brightness, then the notifications."""
        rows = phone.model["notifications"]
        top = row(
            widgets.gap(widgets.MARGIN),
            Widget(widgets.CLOCK, text=phone.time_text(phone.clock), width=260, height=96),
            label(phone.date_text(phone.clock), width=340, height=96),
            Widget(shown=False, grow=1),
            widgets.icon("Open settings", ("shade/settings",)),
            height=widgets.BAR,
        )
        tiles = grid(2, [_tile(phone, key, text) for key, text in TILES], padding=(widgets.MARGIN, 0), gap=18)
        bright = row(
            widgets.gap(widgets.MARGIN), widgets.slider(phone, "brightness", "Display brightness"), widgets.gap(48)
        )
        notes = [
            item(
                row_["title"],
                ("shade/open", row_["id"]),
                detail=row_["text"],
                trailing=(widgets.icon(f"Dismiss {row_['title']}", ("shade/dismiss", row_["id"])),),
            )
            for row_ in rows
        ]
        end = buttons(button("Clear all", ("shade/clear",))) if rows else widgets.header("No notifications")
        # The display may not hold all notifications; the tiles stay in place.
        return column(
            widgets.gap(60), top, tiles, widgets.gap(18), bright, widgets.scrolling(*notes, end, key="notifications"),
            widgets.gap(widgets.GESTURE), role="android.widget.FrameLayout", description="Notification shade",
            on={"down": ("system/dismiss",)},
        )  # fmt: skip

    def update(self, phone: Phone, message: Message) -> None:
        """Flip a tile, open or remove a notification."""
        name = message[0].partition("/")[2]
        if name == "tile":
            phone.switch(message[1], not phone.settings[message[1]])
        elif name == "settings":
            phone.launch("settings", fresh=True)
        elif name == "clear":
            phone.model["notifications"].clear()
        elif name == "dismiss":
            phone.cancel(message[1])
        elif name == "open":
            notification = next((row for row in phone.model["notifications"] if row["id"] == message[1]), None)
            if notification is not None:
                phone.cancel(message[1])
                phone.launch(notification["app"], fresh=True)
                phone.send(notification["message"])


def _tile(phone: Phone, key: str, text: str) -> Widget:
    on = bool(phone.settings[key])
    return Widget(
        widgets.SWITCH,
        text=text,
        description="On" if on else "Off",
        on={"click": ("shade/tile", key)},
        flags=("focusable", "checkable", *(("checked",) if on else ())),
        height=186,
    )


APP = ShadeApp()
