"""The settings: panels of switches, choices and sliders over one table of values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, Window
from agentworld_gym.domains.desktop.engine.programs.settings.panels import Defaults, PanelLine, panel_named, panels
from agentworld_gym.domains.desktop.engine.widgets import button, combo, entry, item, label, spacer, toggle
from agentworld_gym.kit.gui import Field, Message, Widget, column, row, scroll

_SIDE = 230
_LINE = 46
MAX_ENTRY = 80
"""The largest number of characters of an entered name."""


class Settings(Program):
    """The settings, modelled on GNOME's."""

    id = "settings"
    name = "Settings"
    commands = ("gnome-control-center",)
    size = (980, 700)
    fields = frozenset({"Search"})
    watches = frozenset({"settings"})
    settings = Defaults()

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return the window with a panel, which may be open already."""
        name = panel_named(arguments[0]) if arguments else ""
        for window in desktop.windows(self.id):
            if name:
                _show(desktop, window, name)
                desktop.touch(window)
            return window
        window = desktop.window({"panel": "", "search": Field(), "fields": {}}, "")
        _show(desktop, window, name or next(iter(panels())))
        return window

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the list of panels, and the controls of the selected one."""
        data = window["data"]
        height = (WORK[3] if window["maximized"] else window["box"][3]) - TITLE
        query = data["search"].value.lower()
        names = [
            item(name, ("panel", name), selected=name == data["panel"], key=f"panel {name}", height=36)
            for name, controls in panels().items()
            if query in name.lower() or any(query in control.label.lower() for control in controls)
        ]
        lines = [_line(desktop, data, control) for control in panels()[data["panel"]]]
        title = label(data["panel"], role="heading", height=_LINE)
        return row(
            column(
                entry("Search", data["search"], changed=("search",), height=34),
                scroll("panels", *names),
                width=_SIDE,
                padding=(6, 6),
                gap=6,
                height=height,
            ),
            scroll("controls", title, *lines, padding=(24, 10), gap=4, height=height),
        )

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return the panel, the search, and the texts of entries that differ from their settings."""
        data = window["data"]
        told: dict[str, Any] = {"panel": data["panel"]}
        if data["search"].value:
            told["search"] = data["search"].value
        texts = data["fields"].items()
        entered = {name: field.value for name, field in texts if field.value != str(desktop.setting(name))}
        return told | ({"entered": entered} if entered else {})

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of the settings' window, and its title."""
        panel, entered = shown["panel"], shown.get("entered", {})
        names = [control.setting for control in panels()[panel] if control.kind == "entry"]
        fields = {name: Field(entered.get(name, str(desktop.setting(name)))) for name in names}
        return {"panel": panel, "search": Field(shown.get("search", "")), "fields": fields}, panel

    def fields_of(self, data: Mapping[str, Any]) -> Collection[str]:
        """Return the keys of the search and of the entries of the panel."""
        return {*self.fields, *data["fields"]}

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Show a panel, or change a setting."""
        name, *arguments = message
        if name == "panel":
            _show(desktop, window, arguments[0])
        elif name == "set":
            setting, value = arguments
            desktop.change_setting(window, setting, value)
        elif name == "slide":
            setting, x, _, width, _ = arguments
            desktop.change_setting(window, setting, min(max(round(20 * x / max(width, 1)) * 5, 0), 100))
        elif name == "step":
            setting, by = arguments
            desktop.change_setting(window, setting, min(max(_whole(desktop.setting(setting)) + by, 0), 100))
        elif name == "entered":
            (setting,) = arguments
            field = window["data"]["fields"][setting]
            value = field.value.strip()[:MAX_ENTRY]
            if not value or not desktop.change_setting(window, setting, value):
                field.set(str(desktop.setting(setting)))

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the choices of a combo box."""
        control = next((one for one in panels()[window["data"]["panel"]] if one.setting == name), None)
        if control is None:
            return ()
        chosen = desktop.setting(name)
        return [MenuEntry(choice, ("set", name, choice), checked=choice == chosen) for choice in control.choices]

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Go to the search on Ctrl+F; move a focused slider with the arrow keys."""
        if combo == "ctrl+f":
            desktop.focus(window, "Search")
            return True
        if combo == "ctrl+q":
            desktop.close(window)
            return True
        focus = window["focus"]
        if combo in ("left", "right") and focus.startswith("slider "):
            by = 5 if combo == "right" else -5
            self.update(desktop, window, ("step", focus.removeprefix("slider "), by))
            return True
        return False


def _whole(value: Scalar) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _show(desktop: DesktopServices, window: Window, name: str) -> None:
    if name not in panels():
        return
    data = window["data"]
    data["panel"] = name
    data["fields"] = {
        control.setting: Field(str(desktop.setting(control.setting)))
        for control in panels()[name]
        if control.kind == "entry"
    }
    window["title"] = name
    window["scroll"]["controls"] = 0
    desktop.focus(window, f"panel {name}")


def _line(desktop: DesktopServices, data: Mapping[str, Any], control: PanelLine) -> Widget:
    """Return one control with its label; it is disabled while the switch that it needs is off."""
    value = desktop.setting(control.setting) if control.setting else control.text
    able = not control.needs or bool(desktop.setting(control.needs))
    caption = label(control.label, height=_LINE)
    kind = control.kind
    if kind == "heading":
        return label(control.label, role="heading", height=_LINE)
    if kind == "label":
        return row(caption, spacer(), label(str(value), height=_LINE), height=_LINE)
    if kind == "radio":
        choices = [
            toggle(
                choice,
                choice == value,
                ("set", control.setting, choice),
                f"{control.setting} {choice}",
                role="radio-button",
                height=34,
            )
            for choice in control.choices
        ]
        return column(caption, *choices)
    widget: Widget
    if kind == "switch":
        widget = toggle(
            control.label, bool(value), ("set", control.setting, not value), control.setting, role="switch", width=60
        )
    elif kind == "combo":
        widget = combo(control.label, str(value), ("menu", control.setting), control.setting, width=260)
    elif kind == "slider":
        widget = Widget(
            "slider",
            control.label,
            str(value),
            key=f"slider {control.setting}",
            on={"point": ("slide", control.setting)},
            flags=("focusable",),
            width=240,
        )
        minus = button("Decrease " + control.label, ("step", control.setting, -5), width=34, height=34)
        plus = button("Increase " + control.label, ("step", control.setting, 5), width=34, height=34)
        if able:
            return row(caption, spacer(), minus, widget, plus, height=_LINE, gap=6)
    else:
        widget = entry(
            control.label,
            data["fields"][control.setting],
            control.setting,
            enter=("entered", control.setting),
            width=260,
        )
    if not able:
        widget.flags, widget.on, widget.field = ("disabled",), {}, None
    return row(caption, spacer(), widget, height=_LINE)
