"""The faults of a desktop as a whole; others strike where their subject changes."""

from __future__ import annotations

from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.geometry import reachable
from agentworld_gym.domains.desktop.engine.shell_data import shell_data

_SHIFTS = ((-120, 60), (140, 80), (-160, -50), (90, 120), (200, -40))


def prepare(desktop: Desktop) -> None:
    """Make a share of the stated files, folders and settings read-only."""
    controls = desktop.controls
    _turn(desktop)
    if not controls.strength("permission-denied"):
        return
    for path in (*desktop.initial_state.files, *desktop.initial_state.folders):
        if controls.strikes("permission-denied", path):
            node = desktop.files.node(path)
            desktop.files.nodes[path] = node._replace(mode=node.mode & ~0o222)
    desktop.model["locked"] = {
        name for name in desktop.model["settings"] if controls.strikes("permission-denied", "settings", name)
    }


def before(desktop: Desktop) -> None:
    """Change the desktop between the last table and the action: a window moves."""
    action, window = desktop.model["action"], desktop.active
    if window is None or not desktop.controls.strikes("stale-element", action):
        return
    draw = desktop.controls.draw("stale-element shift", action)
    across, down = _SHIFTS[int(draw * len(_SHIFTS))]
    x, y, w, h = window["box"]
    if window["maximized"]:
        window["maximized"] = False
    window["box"] = reachable([x + across, y + down, w, h])


def after(desktop: Desktop) -> None:
    """Change the desktop after an action: lists are reordered, a dialog opens by itself."""
    _turn(desktop)
    action, window = desktop.model["action"], desktop.active
    if window is None or window["dialogs"] or not desktop.controls.strikes("unexpected-dialog", action):
        return
    dialogs = shell_data().dialogs
    text = dialogs[int(desktop.controls.draw("unexpected-dialog text", action) * len(dialogs))]
    desktop.dialog(window, text.title, text.text, tuple(text.buttons.items()))


def _turn(desktop: Desktop) -> None:
    """Reorder menus and lists of files. The order is kept in the model, so that forks show and hit the same entries."""
    action = desktop.model["action"]
    if desktop.controls.strikes("reordered-menu", action):
        desktop.model["turn"] = desktop.controls.draw("reordered-menu turn", action)
