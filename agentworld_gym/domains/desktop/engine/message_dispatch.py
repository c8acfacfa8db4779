"""Dispatch of messages to the desktop shell, a dialog, a menu, or the program of a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine import desktop_shell, file_chooser
from agentworld_gym.domains.desktop.engine.desktop import SHELL, Desktop
from agentworld_gym.domains.desktop.engine.filesystem import error_reason
from agentworld_gym.domains.desktop.engine.program import MenuEntry, Window
from agentworld_gym.domains.desktop.engine.screen import ScreenSurface
from agentworld_gym.kit.gui import Message


def dispatch(desktop: Desktop, surface: ScreenSurface, message: Message, place: tuple[int, int]) -> None:
    """Give a message to its receiver; `place` is the point at which a menu opens."""
    if not message:
        return
    if surface.dialog is not None:
        window = desktop.find(surface.number)
        if window is not None:
            to_dialog(desktop, window, surface.dialog, message)
    elif message[0] == "popup/choose":
        choose(desktop, message[1])
    else:
        to_owner(desktop, surface.number, message, place)


def to_owner(desktop: Desktop, number: int, message: Message, place: tuple[int, int]) -> None:
    """Give a message to the shell or to a window."""
    window = desktop.find(number)
    name = str(message[0])
    if name == "menu":
        open_menu(desktop, window, message, place)
    elif name.startswith("shell/") or number == SHELL:
        desktop_shell.update(desktop, message)
    elif window is None:
        return
    elif name.startswith("window/"):
        desktop_shell.manage_window(desktop, window, message)
    else:
        to_program(desktop, window, message)


def to_program(desktop: Desktop, window: Window, message: Message) -> None:
    """Give a message to the program of a window."""
    desktop.touch(window)
    try:
        desktop.programs[window["program"]].update(desktop, window, message)
    except OSError as error:
        desktop.dialog(window, "The operation could not be completed", f"{error_reason(error)}.")


def open_menu(desktop: Desktop, window: Window | None, message: Message, place: tuple[int, int]) -> None:
    """Open the menu that a message names."""
    menu = message[1:]
    entries = menu_entries(desktop, window, menu)
    desktop.popup(window["id"] if window is not None else SHELL, entries, *place, menu)


def menu_entries(desktop: Desktop, window: Window | None, menu: Message) -> Sequence[MenuEntry]:
    """Return the entries of a menu of a window, or of the shell, by its name and what it is about."""
    name, arguments = menu[0], tuple(menu[1:])
    if window is None:
        return desktop_shell.menu(desktop, name, arguments)
    if name == "window":
        return desktop_shell.window_menu(window)
    return desktop.programs[window["program"]].menu(desktop, window, name, arguments)


def choose(desktop: Desktop, index: int) -> None:
    """Choose an entry of the open menu."""
    popup = desktop.model["popup"]
    desktop.model["popup"] = None
    if popup is not None and 0 <= index < len(popup["entries"]):
        message = popup["entries"][index].message
        if message:
            to_owner(desktop, popup["window"], message, (popup["x"], popup["y"]))


def to_dialog(desktop: Desktop, window: Window, dialog: dict[str, Any], message: Message) -> None:
    """Give a message to a dialog; the dialog's answer goes to the program."""
    if all(dialog is not other for other in window["dialogs"]):
        return
    name = message[0]
    dialog["version"] += 1
    if name.startswith("chooser/"):
        path = file_chooser.update(desktop.files, dialog, message)
        if path is not None:
            _end(desktop, window, dialog)
            to_program(desktop, window, (*dialog["message"], path))
        return
    buttons = dialog["buttons"]
    if name == "dialog/press":
        pressed = message[1]
    elif name == "dialog/default" and dialog["kind"] == "chooser":
        to_dialog(desktop, window, dialog, ("chooser/accept",))
        return
    elif name == "dialog/default":
        pressed = buttons[-1][0]
    else:
        names = [button[0] for button in buttons]
        if dialog["kind"] != "chooser" and "cancel" not in names and len(names) != 1:
            return
        pressed = "cancel" if dialog["kind"] == "chooser" or "cancel" in names else names[0]
    _end(desktop, window, dialog)
    if dialog["message"] and dialog["kind"] != "chooser":
        values = tuple(field.value for field in dialog["entries"].values())
        to_owner(desktop, window["id"], (*dialog["message"], pressed, values), (0, 0))


def _end(desktop: Desktop, window: Window, dialog: dict[str, Any]) -> None:
    window["dialogs"][:] = [other for other in window["dialogs"] if other is not dialog]
    desktop.touch(window)
