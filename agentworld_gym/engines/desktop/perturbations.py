"""What the controls of the domain do to a desktop as a whole; the others strike where their thing happens."""

from __future__ import annotations

from agentworld_gym.engines.desktop.desktop import Desktop
from agentworld_gym.engines.desktop.geometry import kept
from agentworld_gym.engines.desktop.shell_data import shell_data

_SHIFTS = ((-120, 60), (140, 80), (-160, -50), (90, 120), (200, -40))


def prepare(desktop: Desktop) -> None:
    """Take the right to change them away from a share of the files, folders and settings that are told."""
    controls = desktop.controls
    _turn(desktop)
    if not controls.strength("permission-denied"):
        return
    for path in (*desktop.given.files, *desktop.given.folders):
        if controls.strikes("permission-denied", path):
            node = desktop.files.node(path)
            desktop.files.nodes[path] = node._replace(mode=node.mode & ~0o222)
    desktop.model["locked"] = {
        name for name in desktop.model["settings"] if controls.strikes("permission-denied", "settings", name)
    }


def before(desktop: Desktop) -> None:
    """What happens between the last table and the action: a window moves."""
    action, window = desktop.model["action"], desktop.active
    if window is None or not desktop.controls.strikes("stale-element", action):
        return
    draw = desktop.controls.draw("stale-element shift", action)
    across, down = _SHIFTS[int(draw * len(_SHIFTS))]
    x, y, w, h = window["box"]
    if window["maximized"]:
        window["maximized"] = False
    window["box"] = kept([x + across, y + down, w, h])


def after(desktop: Desktop) -> None:
    """What happens once the code has run: lists are turned, a dialog opens by itself."""
    _turn(desktop)
    action, window = desktop.model["action"], desktop.active
    if window is None or window["dialogs"] or not desktop.controls.strikes("unexpected-dialog", action):
        return
    dialogs = shell_data().dialogs
    text = dialogs[int(desktop.controls.draw("unexpected-dialog text", action) * len(dialogs))]
    desktop.dialog(window, text.title, text.text, tuple(text.buttons.items()))


def _turn(desktop: Desktop) -> None:
    """Turn menus and lists of files; kept in the model, so that what is shown is what is hit, in forks too."""
    action = desktop.model["action"]
    if desktop.controls.strikes("reordered-menu", action):
        desktop.model["turn"] = desktop.controls.draw("reordered-menu turn", action)
