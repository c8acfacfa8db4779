"""The document viewer, which shows pictures and documents and does not change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import absolute
from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Program, Window
from agentworld_gym.domains.desktop.engine.short_paths import full, short
from agentworld_gym.domains.desktop.engine.widgets import METRICS, button, label, spacer
from agentworld_gym.kit.gui import Message, Widget, column, row

_BAR = 46
_ZOOM = 100
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg")


class Viewer(Program):
    """The document viewer."""

    id = "viewer"
    name = "Document Viewer"
    commands = ("evince", "eog", "shotwell")
    types = (".pdf", *_PICTURES)
    size = (900, 760)

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return a window of a file."""
        path = absolute(arguments[0]) if arguments else ""
        if not path or not desktop.files.exists(path) or desktop.files.is_folder(path):
            desktop.notify("Unable to open document", f"“{path}” could not be found." if path else "No file was named.")
            return None
        try:
            text = desktop.files.read(path)
        except OSError as error:
            desktop.notify("Unable to open document", f"{error.strerror}.")
            return None
        return desktop.window({"path": path, "text": text, "top": 0, "zoom": _ZOOM}, path.rpartition("/")[2])

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the toolbar and the page."""
        data = window["data"]
        bar = row(
            button("Zoom Out", ("zoom", -25), height=34),
            label(f"{data['zoom']}%", height=34),
            button("Zoom In", ("zoom", 25), height=34),
            spacer(),
            button("Edit", ("edit",), height=34, enabled=not data["path"].lower().endswith(_PICTURES)),
            height=_BAR,
            gap=6,
            padding=(12, 0),
        )
        high = WORK[3] if window["maximized"] else window["box"][3]
        rows = max(1, (high - TITLE - _BAR) // METRICS.line)
        lines = data["text"].split("\n")[data["top"] : data["top"] + rows]
        role = "image" if data["path"].lower().endswith(_PICTURES) else "paragraph"
        page = Widget(role, data["path"].rpartition("/")[2], "\n".join(lines), on={"scroll": ("scroll",)}, grow=1)
        return column(bar, page)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return the path, the first line, the size, and a text that differs from the file."""
        data = window["data"]
        told = {"path": short(data["path"]), **({"top": data["top"]} if data["top"] else {})}
        if data["zoom"] != _ZOOM:
            told["zoom"] = data["zoom"]
        if data["text"] != _text(desktop, data["path"]):
            told["text"] = data["text"].split("\n")
        return told

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of a viewer, and its title."""
        path = full(shown["path"])
        text = "\n".join(shown["text"]) if "text" in shown else _text(desktop, path)
        data = {"path": path, "text": text, "top": int(shown.get("top", 0)), "zoom": int(shown.get("zoom", _ZOOM))}
        return data, path.rpartition("/")[2]

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Scroll or zoom."""
        data = window["data"]
        if message[0] == "scroll":
            data["top"] = min(max(data["top"] + 3 * message[1], 0), data["text"].count("\n"))
        elif message[0] == "zoom":
            data["zoom"] = min(max(data["zoom"] + message[1], 25), 400)
        elif message[0] == "edit":
            desktop.launch("editor", data["path"])

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on the keys that turn pages and close the window."""
        if combo in ("pagedown", "pageup", "down", "up"):
            lines = {"pagedown": 8, "pageup": -8, "down": 1, "up": -1}[combo]
            self.update(desktop, window, ("scroll", lines))
        elif combo in ("ctrl+w", "ctrl+q"):
            desktop.close(window)
        else:
            return False
        return True


def _text(desktop: DesktopServices, path: str) -> str:
    """Return the text of a file; empty where there is none."""
    node = desktop.files.nodes.get(path)
    return "" if node is None or node.content is None else node.content
