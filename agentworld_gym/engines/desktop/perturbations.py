"""What the controls of the domain do to a desktop as a whole; the others strike where their thing happens."""

from __future__ import annotations

from agentworld_gym.engines.desktop.desktop import Desk
from agentworld_gym.engines.desktop.geometry import kept
from agentworld_gym.engines.desktop.shell_data import shell_data

_SHIFTS = ((-120, 60), (140, 80), (-160, -50), (90, 120), (200, -40))


def prepare(desk: Desk) -> None:
    """Take the right to change them away from a share of the files, folders and settings that are told."""
    controls = desk.controls
    _turn(desk)
    if not controls.strength("permission-denied"):
        return
    for path in (*desk.given.files, *desk.given.folders):
        if controls.strikes("permission-denied", path):
            node = desk.files.node(path)
            desk.files.nodes[path] = node._replace(mode=node.mode & ~0o222)
    desk.model["locked"] = {
        name for name in desk.model["settings"] if controls.strikes("permission-denied", "settings", name)
    }


def before(desk: Desk) -> None:
    """What happens between the last table and the action: a window moves."""
    action, window = desk.model["action"], desk.active
    if window is None or not desk.controls.strikes("stale-element", action):
        return
    draw = desk.controls.draw("stale-element shift", action)
    across, down = _SHIFTS[int(draw * len(_SHIFTS))]
    x, y, w, h = window["box"]
    if window["maximized"]:
        window["maximized"] = False
    window["box"] = kept([x + across, y + down, w, h])


def after(desk: Desk) -> None:
    """What happens once the code has run: lists are turned, a dialog opens by itself."""
    _turn(desk)
    action, window = desk.model["action"], desk.active
    if window is None or window["dialogs"] or not desk.controls.strikes("unexpected-dialog", action):
        return
    dialogs = shell_data().dialogs
    text = dialogs[int(desk.controls.draw("unexpected-dialog text", action) * len(dialogs))]
    desk.dialog(window, text.title, text.text, tuple(text.buttons.items()))


def _turn(desk: Desk) -> None:
    """Turn menus and lists of files; kept in the model, so that what is shown is what is hit, in forks too."""
    action = desk.model["action"]
    if desk.controls.strikes("reordered-menu", action):
        desk.model["turn"] = desk.controls.draw("reordered-menu turn", action)
