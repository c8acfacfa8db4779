"""The text editor, with one document in each window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME, absolute
from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, Window
from agentworld_gym.domains.desktop.engine.programs.editor import structured_state
from agentworld_gym.domains.desktop.engine.programs.editor.document import (
    UNTITLED,
    folder_of,
    is_changed,
    name_of,
    remember,
    title_of,
)
from agentworld_gym.domains.desktop.engine.programs.editor.writer_tools import METHODS
from agentworld_gym.domains.desktop.engine.widgets import FOCUSABLE, METRICS, button, entry, label, spacer
from agentworld_gym.kit.gui import Field, Message, Widget, column, row

_BAR = 46
_STATUS = 30
_CLOSE = (("discard", "Close without Saving"), ("cancel", "Cancel"), ("save", "Save"))


class TextEditor(Program):
    """The text editor."""

    id = "editor"
    name = "Text Editor"
    commands = ("gedit", "gnome-text-editor", "xed", "libreoffice-writer")
    types = tuple(
        [
            ".txt",
            ".md",
            ".log",
            ".py",
            ".sh",
            ".json",
            ".yaml",
            ".yml",
            ".toml",
            ".ini",
            ".conf",
            ".cfg",
            ".xml",
            ".html",
            ".css",
            ".js",
            ".odt",
            ".desktop",
            ".sql",
        ]
    )
    size = (900, 680)
    fields = frozenset({"text", "find", "replace"})
    first_field = "text"
    tools = "WriterTools"

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return the window of a document, which may be open already."""
        path = absolute(arguments[0]) if arguments else ""
        for window in desktop.windows(self.id):
            if path and window["data"]["path"] == path:
                return window
        text = ""
        if path and desktop.files.exists(path):
            try:
                text = desktop.files.read(path)
            except OSError as error:
                desktop.notify(f"Could not open the file “{path}”", f"{error.strerror}.")
                return None
        data: dict[str, Any] = {
            "path": path,
            "text": Field(text, cursor=0, multiline=True),
            "saved": text,
            "last": text,
            "top": 0,
            "undo": [],
            "redo": [],
            "find": None,
            "replace": None,
            "found": "",
        }
        window = desktop.window(data, title_of(data))
        window["focus"] = "text"
        return window

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the toolbar, the search bar and the visible lines."""
        data = window["data"]
        field: Field = data["text"]
        lines = field.value.split("\n")
        rows = visible_rows(window)
        top = min(data["top"], max(len(lines) - 1, 0))
        before = field.value[: field.cursor]
        number, place = before.count("\n") + 1, len(before) - before.rfind("\n")
        text = Widget(
            "text",
            name_of(data),
            "\n".join(lines[top : top + rows]),
            key="text",
            field=field,
            flags=FOCUSABLE,
            on={"changed": ("changed",), "moved": ("moved",), "scroll": ("scroll",), "right": ("menu", "edit")},
            offset=top,
            grow=1,
        )
        bar = row(
            button("Open", ("open",), height=34),
            button("New", ("new",), height=34),
            spacer(),
            button("Save", ("save",), height=34),
            button("Open Menu", ("menu", "main"), width=36, height=34),
            height=_BAR,
            gap=6,
            padding=(12, 0),
        )
        status = row(label(f"Ln {number}, Col {place}", height=_STATUS), height=_STATUS, padding=(12, 0))
        return column(bar, *_search(data), text, status)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return what the view reads of the document."""
        return structured_state.visible_state(desktop.files, window)

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of the document's window, and its title."""
        return structured_state.restored(desktop.files, shown)

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Change the document as a message says."""
        name, *rest = message
        data = window["data"]
        field: Field = data["text"]
        if name == "changed":
            remember(data)
        elif name == "scroll":
            data["top"] = min(max(data["top"] + 3 * rest[0], 0), max(field.value.count("\n"), 0))
            return
        elif name in ("undo", "redo"):
            self._undo(data, name)
        elif name in ("find", "replace"):
            self._search(window, name == "replace")
        elif name in ("next", "previous"):
            self._find(data, name == "previous")
        elif name == "replace-one":
            if field.selected and field.selected == data["find"].value:
                field.insert(data["replace"].value)
                remember(data)
            self._find(data, False)
        elif name == "replace-all":
            query = data["find"].value
            if query:
                count = field.value.count(query)
                cursor = field.cursor
                field.set(field.value.replace(query, data["replace"].value)[:200_000])
                field.place(cursor)
                remember(data)
                data["found"] = f"{count} replaced" if count else "Text not found"
        elif name in ("cut", "copy", "paste", "all"):
            self._edit(desktop, data, name)
        elif name != "moved":
            self._file(desktop, window, name, rest)
        window["title"] = title_of(data)
        if name not in ("find", "replace"):
            self._reveal(window)

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on the shortcuts of the editor."""
        data = window["data"]
        if combo == "esc" and data["find"] is not None:
            data["find"] = data["replace"] = None
            window["focus"] = "text"
            return True
        if combo == "tab" and window["focus"] == "text":
            data["text"].insert("\t")
            self.update(desktop, window, ("changed",))
            return True
        if combo in ("pageup", "pagedown") and window["focus"] == "text":
            rows = visible_rows(window)
            for _ in range(rows - 1):
                data["text"].press("up" if combo == "pageup" else "down")
            self._reveal(window)
            return True
        if combo in ("ctrl+w", "ctrl+q"):
            desktop.close(window)
            return True
        command = _KEYS.get(combo)
        if command is None:
            return False
        self.update(desktop, window, command)
        return True

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the menus of the toolbar and of the text."""
        data = window["data"]
        if name == "edit":
            selected = bool(data["text"].selected)
            return (
                MenuEntry("Undo", ("undo",), bool(data["undo"])),
                MenuEntry("Redo", ("redo",), bool(data["redo"])),
                MenuEntry("Cut", ("cut",), selected),
                MenuEntry("Copy", ("copy",), selected),
                MenuEntry("Paste", ("paste",), bool(desktop.clipboard)),
                MenuEntry("Select All", ("all",)),
            )
        return (
            MenuEntry("Save As…", ("save-as",)),
            MenuEntry("Find…", ("find",)),
            MenuEntry("Find and Replace…", ("replace",)),
            MenuEntry("Undo", ("undo",), bool(data["undo"])),
            MenuEntry("Redo", ("redo",), bool(data["redo"])),
            MenuEntry("Reload", ("reload",), bool(data["path"])),
            MenuEntry("Close", ("window/close",)),
        )

    def unsaved(self, desktop: DesktopServices, window: Window) -> bool:
        """Return whether the document differs from its file."""
        return is_changed(window["data"])

    def closing(self, desktop: DesktopServices, window: Window) -> bool:
        """Ask what to do with unsaved changes."""
        data = window["data"]
        if not is_changed(data):
            return True
        desktop.dialog(
            window,
            f"Save changes to document “{name_of(data)}” before closing?",
            "If you don’t save, changes will be permanently lost.",
            _CLOSE,
            ("closed",),
        )
        return False

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """Return the methods of `WriterTools`."""
        return METHODS

    def _file(self, desktop: DesktopServices, window: Window, name: str, rest: list[Any]) -> None:
        data = window["data"]
        if name == "new":
            desktop.launch(self.id)
        elif name == "open":
            desktop.choose_file(window, "Open", ("opened",), "open", folder_of(data))
        elif name == "opened":
            desktop.launch(self.id, rest[0])
        elif name == "save" and data["path"]:
            self._save(desktop, window, data["path"])
        elif name in ("save", "save-as"):
            desktop.choose_file(
                window, "Save As", ("saved-as", ""), "save", data["path"] or f"{HOME}/Documents/{UNTITLED}"
            )
        elif name == "saved-as":
            if self._save(desktop, window, rest[1]) and rest[0] == "close":
                desktop.close(window)
        elif name == "reload" and desktop.files.exists(data["path"]):
            data["text"].set(desktop.files.read(data["path"]))
            data["text"].place(0)
            remember(data)
            data["saved"] = data["text"].value
        elif name == "closed" and rest[0] == "discard":
            desktop.close(window, ask=False)
        elif name == "closed" and rest[0] == "save":
            if not data["path"]:
                desktop.choose_file(window, "Save As", ("saved-as", "close"), "save", f"{HOME}/Documents/{UNTITLED}")
            elif self._save(desktop, window, data["path"]):
                desktop.close(window)

    def _save(self, desktop: DesktopServices, window: Window, path: str) -> bool:
        data = window["data"]
        if not desktop.write_file(window, path, data["text"].value):
            return False
        data["path"], data["saved"] = path, data["text"].value
        return True

    def _undo(self, data: dict[str, Any], name: str) -> None:
        other = "redo" if name == "undo" else "undo"
        if data[name]:
            text, cursor = data[name].pop()
            field: Field = data["text"]
            data[other].append((field.value, cursor + len(field.value) - len(text)))
            # A file may be longer than the text that can be typed.
            field.value = text
            field.place(cursor)
            data["last"] = text

    def _search(self, window: Window, replacing: bool) -> None:
        data = window["data"]
        if data["find"] is None:
            data["find"] = Field(data["text"].selected.split("\n")[0][:200])
        data["find"].select_all()
        data["replace"] = data["replace"] or Field() if replacing else None
        data["found"] = ""
        window["focus"] = "find"

    def _find(self, data: dict[str, Any], backwards: bool) -> None:
        if data["find"] is None or not data["find"].value:
            return
        field: Field = data["text"]
        text, query = field.value.lower(), data["find"].value.lower()
        start, end = field.selection
        place = text.rfind(query, 0, max(start, 0)) if backwards else text.find(query, end)
        if place < 0:
            place = text.rfind(query) if backwards else text.find(query)
        data["found"] = "" if place >= 0 else "Text not found"
        if place >= 0:
            field.anchor, field.cursor = place, place + len(query)

    def _edit(self, desktop: DesktopServices, data: dict[str, Any], name: str) -> None:
        field: Field = data["text"]
        if name == "all":
            field.select_all()
            return
        if name != "paste" and field.selected:
            desktop.clipboard = field.selected
        if name != "copy":
            field.insert(desktop.clipboard if name == "paste" else "")
            remember(data)

    def _reveal(self, window: Window) -> None:
        """Scroll so far that the cursor is visible."""
        data = window["data"]
        line = data["text"].value.count("\n", 0, data["text"].cursor)
        rows = visible_rows(window)
        data["top"] = min(max(data["top"], line - rows + 1), line)


def visible_rows(window: Window) -> int:
    """Return the number of lines of text that a window shows."""
    high = WORK[3] if window["maximized"] else window["box"][3]
    bars = sum(1 for name in ("find", "replace") if window["data"][name] is not None)
    return max(1, (high - TITLE - _BAR * (1 + bars) - _STATUS - 2 * METRICS.margin[1]) // METRICS.line)


def _search(data: dict[str, Any]) -> list[Widget]:
    if data["find"] is None:
        return []
    lines = [
        row(
            entry("Find", data["find"], "find", enter=("next",), width=360, height=34, fill=False),
            button("Previous", ("previous",), height=34),
            button("Next", ("next",), height=34),
            *([label(data["found"], height=34)] if data["found"] else []),
            height=_BAR,
            gap=6,
            padding=(12, 0),
        )
    ]
    if data["replace"] is not None:
        lines.append(
            row(
                entry(
                    "Replace with", data["replace"], "replace", enter=("replace-one",), width=360, height=34, fill=False
                ),
                button("Replace", ("replace-one",), height=34),
                button("Replace All", ("replace-all",), height=34),
                height=_BAR,
                gap=6,
                padding=(12, 0),
            )
        )
    return lines


_KEYS: dict[str, Message] = {
    "ctrl+s": ("save",),
    "ctrl+shift+s": ("save-as",),
    "ctrl+o": ("open",),
    "ctrl+n": ("new",),
    "ctrl+t": ("new",),
    "ctrl+z": ("undo",),
    "ctrl+shift+z": ("redo",),
    "ctrl+y": ("redo",),
    "ctrl+f": ("find",),
    "ctrl+h": ("replace",),
    "ctrl+g": ("next",),
    "ctrl+shift+g": ("previous",),
}
