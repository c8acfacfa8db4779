"""Where a message goes: the shell, a dialog, a menu, or the program of a window."""

from __future__ import annotations

from typing import Any

from agentworld_gym.engines.desktop import desktop_shell, file_chooser
from agentworld_gym.engines.desktop.desktop import SHELL, Desk
from agentworld_gym.engines.desktop.filesystem import reason
from agentworld_gym.engines.desktop.program import Window
from agentworld_gym.engines.desktop.screen import Surface
from agentworld_gym.engines.gui import Message


def deliver(desk: Desk, surface: Surface, message: Message, place: tuple[int, int]) -> None:
    """Give a message to whom it is for; `place` is where a menu opens."""
    if not message:
        return
    if surface.dialog is not None:
        window = desk.find(surface.number)
        if window is not None:
            to_dialog(desk, window, surface.dialog, message)
    elif message[0] == "popup/choose":
        choose(desk, message[1])
    else:
        to_owner(desk, surface.number, message, place)


def to_owner(desk: Desk, number: int, message: Message, place: tuple[int, int]) -> None:
    """Give a message to the shell or to a window."""
    window = desk.find(number)
    name = str(message[0])
    if name == "menu":
        open_menu(desk, window, message, place)
    elif name.startswith("shell/") or number == SHELL:
        desktop_shell.update(desk, message)
    elif window is None:
        return
    elif name.startswith("window/"):
        desktop_shell.manage(desk, window, message)
    else:
        to_program(desk, window, message)


def to_program(desk: Desk, window: Window, message: Message) -> None:
    """Give a message to the program of a window."""
    desk.touch(window)
    try:
        desk.programs[window["program"]].update(desk, window, message)
    except OSError as error:
        desk.dialog(window, "The operation could not be completed", f"{reason(error)}.")


def open_menu(desk: Desk, window: Window | None, message: Message, place: tuple[int, int]) -> None:
    """Open the menu that a message names."""
    name, arguments = message[1], tuple(message[2:])
    if window is None:
        entries = desktop_shell.menu(desk, name, arguments)
    elif name == "window":
        entries = desktop_shell.window_menu(window)
    else:
        entries = desk.programs[window["program"]].menu(desk, window, name, arguments)
    desk.popup(window["id"] if window is not None else SHELL, entries, *place)


def choose(desk: Desk, index: int) -> None:
    """Choose a line of the open menu."""
    popup = desk.model["popup"]
    desk.model["popup"] = None
    if popup is not None and 0 <= index < len(popup["entries"]):
        message = popup["entries"][index].message
        if message:
            to_owner(desk, popup["window"], message, (popup["x"], popup["y"]))


def to_dialog(desk: Desk, window: Window, dialog: dict[str, Any], message: Message) -> None:
    """Give a message to a dialog; its answer goes to the program."""
    if all(dialog is not other for other in window["dialogs"]):
        return
    name = message[0]
    dialog["version"] += 1
    if name.startswith("chooser/"):
        path = file_chooser.update(desk, dialog, message)
        if path is not None:
            _end(desk, window, dialog)
            to_program(desk, window, (*dialog["message"], path))
        return
    buttons = dialog["buttons"]
    if name == "dialog/press":
        pressed = message[1]
    elif name == "dialog/default" and dialog["kind"] == "chooser":
        to_dialog(desk, window, dialog, ("chooser/accept",))
        return
    elif name == "dialog/default":
        pressed = buttons[-1][0]
    else:
        names = [button[0] for button in buttons]
        if dialog["kind"] != "chooser" and "cancel" not in names and len(names) != 1:
            return
        pressed = "cancel" if dialog["kind"] == "chooser" or "cancel" in names else names[0]
    _end(desk, window, dialog)
    if dialog["message"] and dialog["kind"] != "chooser":
        values = tuple(field.value for field in dialog["entries"].values())
        to_owner(desk, window["id"], (*dialog["message"], pressed, values), (0, 0))


def _end(desk: Desk, window: Window, dialog: dict[str, Any]) -> None:
    window["dialogs"][:] = [other for other in window["dialogs"] if other is not dialog]
    desk.touch(window)
