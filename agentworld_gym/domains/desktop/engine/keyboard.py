"""The keyboard: what keys, shortcuts and typed text do to the focused widget."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.domains.desktop.engine import desktop_shell
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import clean
from agentworld_gym.domains.desktop.engine.message_dispatch import choose, dispatch, to_dialog
from agentworld_gym.domains.desktop.engine.mouse import focus
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.screen import RenderedScreen, ScreenSurface
from agentworld_gym.kit.gui import Field, Widget, find, focusables

MODIFIERS = ("ctrl", "alt", "shift", "super")
_NAMED = [
    "enter",
    "tab",
    "esc",
    "space",
    "backspace",
    "delete",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "insert",
    "printscreen",
    "menu",
    "capslock",
]
KEYS = frozenset((*MODIFIERS, *_NAMED, *(f"f{number}" for number in range(1, 13))))
_ALIASES = {
    "return": "enter",
    "\n": "enter",
    "\r": "enter",
    "\t": "tab",
    "escape": "esc",
    "del": "delete",
    "pgup": "pageup",
    "pgdn": "pagedown",
    " ": "space",
    "control": "ctrl",
    "option": "alt",
    "prntscrn": "printscreen",
    "apps": "menu",
    **{f"{name}{side}": name for name in ("ctrl", "alt", "shift") for side in ("left", "right")},
    **dict.fromkeys(("win", "winleft", "winright", "command", "meta"), "super"),
    **{f"num{digit}": str(digit) for digit in range(10)},
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "decimal": "."},
}
_UPPER = dict(zip("`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?', strict=True))
_PIECES = re.compile(r"[\n\r\t]|[^\n\r\t]+")
_WORD_LEFT = re.compile(r"\w+\W*$|\W+$")
_WORD_RIGHT = re.compile(r"\w+|\W+\w*")


def key_name(name: str) -> str | None:
    """Return a key by its name in `pyautogui`; None if that has no such key.

    >>> key_name("Return"), key_name("winleft"), key_name("a"), key_name("hyper")
    ('enter', 'super', 'a', None)
    """
    if len(name) == 1 and name not in _ALIASES:
        return name if name.isprintable() else None
    lower = name.lower()
    lower = _ALIASES.get(lower, lower)
    return lower if lower in KEYS or len(lower) == 1 else None


class Keyboard:
    """The keyboard of one desktop."""

    def __init__(self, desktop: Desktop, screen: RenderedScreen) -> None:
        self.desktop, self.screen = desktop, screen

    @property
    def held(self) -> tuple[str, ...]:
        """The modifiers that are held down."""
        return tuple(self.desktop.model["held"])

    def down(self, key: str) -> None:
        """Press a key and hold it."""
        held = self.desktop.model["held"]
        if key not in MODIFIERS:
            self.press(key)
        elif key not in held:
            held.append(key)
            if key == "super":
                self.desktop.model["switch"] = -1

    def up(self, key: str) -> None:
        """Release a key."""
        held, model = self.desktop.model["held"], self.desktop.model
        if key in held:
            held.remove(key)
            if key == "super" and model["switch"] == -1:
                model["switch"] = 0
                desktop_shell.toggle_overview(self.desktop)
            elif key == "alt" and model["switch"] > 0:
                self._switch()

    def press(self, key: str) -> None:
        """Press and release a key, with the modifiers that are held down."""
        if key in MODIFIERS:
            self.down(key)
            self.up(key)
            return
        held = self.desktop.model["held"]
        if self.desktop.model["switch"] == -1:
            self.desktop.model["switch"] = 0
        if len(key) == 1 and not any(name in held for name in ("ctrl", "alt", "super")):
            self.type(_UPPER.get(key, key.upper()) if "shift" in held else key)
            return
        key = key.lower() if len(key) == 1 else key
        self._combo("+".join([name for name in MODIFIERS if name in held] + [key]))

    def write(self, text: str) -> None:
        """Type a text; its line breaks and tabs are keys."""
        for piece in _PIECES.findall(clean(text)):
            if piece in "\n\r\t":
                self.press("tab" if piece == "\t" else "enter")
            elif any(name in self.held for name in ("ctrl", "alt", "super")):
                for key in piece[:20]:
                    self.press(key)
            else:
                self.type("".join(c for c in piece if c.isprintable()) if not piece.isprintable() else piece)

    def type(self, text: str) -> None:
        """Type printable characters into the focused widget."""
        if not text or self.desktop.model["popup"] is not None:
            return
        overview = self.desktop.model["overview"]
        if overview is not None:
            overview["query"].insert(text[:200])
            return
        window, surface = self._target()
        if window is None or surface is None:
            return
        widget = self._focused(window, surface)
        if widget is not None and widget.field is not None:
            widget.field.insert(text)
            self._changed(window, surface, widget)
        elif surface.dialog is None:
            self.desktop.touch(window)
            program = self.desktop.programs[window["program"]]
            if text != " " or not program.key(self.desktop, window, "space"):
                if text == " " and widget is not None and "click" in widget.on:
                    dispatch(self.desktop, surface, widget.on["click"], (widget.x, widget.y + widget.h))
                else:
                    program.type(self.desktop, window, text)

    def _combo(self, combo: str) -> None:
        desktop = self.desktop
        if self._shortcut(combo):
            return
        if desktop.model["popup"] is not None:
            self._in_menu(combo)
            return
        overview = desktop.model["overview"]
        if overview is not None:
            if combo == "esc":
                desktop_shell.toggle_overview(desktop)
            elif combo == "enter":
                desktop_shell.update(desktop, ("shell/first",))
            else:
                edit(desktop, overview["query"], combo)
            return
        window, surface = self._target()
        if window is None or surface is None:
            return
        if surface.dialog is not None:
            self._in_dialog(window, surface, combo)
            return
        desktop.touch(window)
        try:
            if desktop.programs[window["program"]].key(desktop, window, combo):
                return
        except OSError as error:
            desktop.dialog(window, "The operation could not be completed", f"{error.strerror}.")
            return
        self._in_surface(window, self.screen.window(window), combo)

    def _target(self) -> tuple[Window | None, ScreenSurface | None]:
        """Return the window that receives the keys, and its surface or that of its dialog."""
        window = self.desktop.active
        if window is None:
            return None, None
        dialog = self.desktop.shown_dialog(window)
        return window, self.screen.window(window) if dialog is None else self.screen.dialog(window, dialog)

    def _focused(self, window: Window, surface: ScreenSurface) -> Widget | None:
        key = window["focus"] if surface.dialog is None else surface.dialog["focus"]
        return find(surface.root, key) if key else None

    def _in_dialog(self, window: Window, surface: ScreenSurface, combo: str) -> None:
        dialog = surface.dialog
        assert dialog is not None
        if combo == "esc":
            to_dialog(self.desktop, window, dialog, ("dialog/cancel",))
        elif combo == "enter" and not self._on_button(window, surface):
            to_dialog(self.desktop, window, dialog, ("dialog/default",))
        else:
            dialog["version"] += 1
            self._in_surface(window, surface, combo)

    def _on_button(self, window: Window, surface: ScreenSurface) -> bool:
        widget = self._focused(window, surface)
        return widget is not None and widget.field is None

    def _in_surface(self, window: Window, surface: ScreenSurface, combo: str) -> None:
        """Act on a key for the focused widget, after the program has declined it."""
        widget = self._focused(window, surface)
        if combo in ("tab", "shift+tab"):
            self._next(surface, widget, -1 if combo == "shift+tab" else 1)
        elif widget is None:
            return
        elif widget.field is None:
            if combo in ("enter", "space") and widget.enabled:
                message = widget.on.get("enter") or widget.on.get("click")
                if message:
                    dispatch(self.desktop, surface, message, (widget.x, widget.y + widget.h))
        elif combo == "enter" and "enter" in widget.on:
            dispatch(self.desktop, surface, widget.on["enter"], (widget.x, widget.y + widget.h))
        elif combo == "enter" and widget.field.multiline:
            widget.field.insert("\n")
            self._changed(window, surface, widget)
        else:
            before = widget.field.value
            if edit(self.desktop, widget.field, combo):
                if widget.field.value != before:
                    self._changed(window, surface, widget)
                elif "moved" in widget.on:
                    dispatch(self.desktop, surface, widget.on["moved"], (widget.x, widget.y))

    def _next(self, surface: ScreenSurface, widget: Widget | None, step: int) -> None:
        keys = [found.key for found in focusables(surface.root)]
        if keys:
            place = keys.index(widget.key) + step if widget is not None and widget.key in keys else 0
            focus(self.desktop, surface, keys[place % len(keys)])

    def _changed(self, window: Window, surface: ScreenSurface, widget: Widget) -> None:
        if surface.dialog is not None:
            surface.dialog["version"] += 1
        else:
            self.desktop.touch(window)
        for gesture in ("changed", "moved"):
            if gesture in widget.on:
                dispatch(self.desktop, surface, widget.on[gesture], (widget.x, widget.y + widget.h))

    def _in_menu(self, combo: str) -> None:
        popup = self.desktop.model["popup"]
        count = len(popup["entries"])
        if combo == "esc":
            self.desktop.model["popup"] = None
        elif combo in ("down", "up"):
            step = 1 if combo == "down" else -1
            popup["index"] = (popup["index"] + step) % count if popup["index"] >= 0 or step > 0 else count - 1
        elif combo in ("enter", "space") and popup["index"] >= 0:
            choose(self.desktop, popup["index"])

    def _shortcut(self, combo: str) -> bool:
        """Act on a shortcut of the desktop shell."""
        desktop, window = self.desktop, self.desktop.active
        if combo == "alt+tab" or combo == "alt+shift+tab":
            desktop.model["switch"] += 1 if combo == "alt+tab" else -1
            return True
        if combo == "super+a":
            desktop_shell.toggle_overview(desktop)
        elif combo == "ctrl+alt+t":
            desktop.launch("terminal")
        elif combo == "super+e":
            desktop.launch("files")
        elif combo == "super+d":
            for other in desktop.stack:
                other["minimized"] = True
        elif window is None:
            return False
        elif combo == "alt+f4" and (dialog := desktop.shown_dialog(window)) is not None:
            to_dialog(desktop, window, dialog, ("dialog/cancel",))
        elif combo in _WINDOW_KEYS:
            message: tuple[Any, ...] = _WINDOW_KEYS[combo]
            if (combo == "super+down" and not window["maximized"]) or (combo == "super+up" and window["maximized"]):
                return True
            desktop_shell.manage_window(desktop, window, message)
        else:
            return False
        return True

    def _switch(self) -> None:
        """Bring the window that alt+tab has reached to the front, once alt is released."""
        steps, self.desktop.model["switch"] = self.desktop.model["switch"], 0
        order = list(reversed(self.desktop.stack))
        if order:
            self.desktop.raise_window(order[steps % len(order)])


_WINDOW_KEYS: dict[str, tuple[Any, ...]] = {
    "alt+f4": ("window/close",),
    "super+up": ("window/maximize",),
    "super+down": ("window/maximize",),
    "alt+f10": ("window/maximize",),
    "super+h": ("window/minimize",),
    "super+left": ("window/half", "left"),
    "super+right": ("window/half", "right"),
}


def edit(desktop: Desktop, field: Field, combo: str) -> bool:
    """Act on an editing key in a text field, and return whether it did anything."""
    parts = combo.split("+")
    key, held = parts[-1] or "+", parts[:-1]
    if held in ([], ["shift"]):
        return field.press(key, bool(held))
    if held[0] != "ctrl" or "alt" in held or "super" in held:
        return False
    if key == "a":
        field.select_all()
    elif key in ("c", "x"):
        if not field.selected:
            return False
        desktop.clipboard = field.selected
        if key == "x":
            field.insert("")
    elif key == "v":
        field.insert(desktop.clipboard)
    elif key in ("home", "end"):
        field.place(0 if key == "home" else len(field.value), "shift" in held)
    elif key in ("left", "right", "backspace", "delete"):
        field.place(_word(field, key in ("left", "backspace")), "shift" in held or key in ("backspace", "delete"))
        if key in ("backspace", "delete"):
            field.insert("")
    else:
        return False
    return True


def _word(field: Field, left: bool) -> int:
    """Return where the word before or after the cursor ends."""
    if left:
        match = _WORD_LEFT.search(field.value[max(0, field.cursor - 200) : field.cursor])
        return field.cursor - (len(match[0]) if match else 0)
    match = _WORD_RIGHT.match(field.value, field.cursor)
    return match.end() if match else len(field.value)
