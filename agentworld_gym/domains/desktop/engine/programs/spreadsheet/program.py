"""The spreadsheet, with a document in each window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import (
    document,
    editing,
    file_formats,
    saving,
    selection,
    structured_state,
    view,
)
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.calc_tools import METHODS
from agentworld_gym.kit.gui import Field, Message, Widget

_SHORTCUTS: Mapping[str, Message] = {
    "ctrl+s": ("save",),
    "ctrl+shift+s": ("save as",),
    "ctrl+o": ("open",),
    "ctrl+n": ("new",),
    "ctrl+w": ("close",),
    "ctrl+q": ("close",),
    "ctrl+f": ("find",),
    "ctrl+h": ("find",),
    "ctrl+pagedown": ("next sheet", 1),
    "ctrl+pageup": ("next sheet", -1),
}
_GRID_SHORTCUTS: Mapping[str, Message] = {
    "ctrl+z": ("undo",),
    "ctrl+y": ("redo",),
    "ctrl+shift+z": ("redo",),
    "ctrl+c": ("copy",),
    "ctrl+x": ("cut",),
    "ctrl+v": ("paste",),
    "ctrl+a": ("select all",),
    "ctrl+b": ("bold",),
    "ctrl+d": ("fill down",),
    "ctrl+shift+l": ("filter",),
    "delete": ("clear",),
    "backspace": ("clear",),
    "f2": ("edit",),
}


class Spreadsheet(Program):
    """The spreadsheet, modelled on LibreOffice Calc."""

    id = "spreadsheet"
    name = "LibreOffice Calc"
    commands = ("libreoffice", "localc", "soffice")
    types = saving.TYPES
    size = (1080, 720)
    fields = frozenset({selection.LINE, "Name Box"})
    tools = "CalcTools"
    derived = frozenset({"_values"})

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return a window of the document of a path, or of an empty document."""
        path = arguments[0] if arguments else ""
        if path:
            for window in desktop.windows(self.id):
                if window["data"]["path"] == path:
                    return window
        problem, sheets = "", {"Sheet1": file_formats.empty_sheet()}
        if path:
            try:
                sheets = file_formats.read(desktop.files.read(path), saving.ending(path))
            except OSError:
                problem, path = f"{path} does not exist or cannot be read.", ""
        book = document.new_document(sheets)
        book.update(path=path, editing="", top=0, left=0, entry_column=None, copied=None, search="")
        book.update(edit=Field(), name_box=Field())
        window = desktop.window(book, "")
        window["focus"] = "grid"
        selection.settle(window)
        if problem:
            desktop.dialog(window, "LibreOffice Calc", problem)
        return window

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return menu bar, toolbars, grid, sheet tabs and status bar."""
        return view.view(window)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return what the view reads of the document."""
        return structured_state.visible_state(desktop.files, window)

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of the document's window, and its title."""
        return structured_state.restored(desktop.files, shown)

    def focus_of(self, shown: Mapping[str, Any]) -> str:
        """Return the key of the input line while a text is typed."""
        return selection.LINE if "typed" in shown else ""

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Act on a message. Text that is being typed is entered first, unless the message is about it."""
        name, *arguments = message
        handler = _HANDLERS.get(str(name))
        if handler is None:
            return
        if window["data"]["editing"] and name not in _WHILE_EDITING:
            selection.commit(window["data"])
        handler(desktop, window, *arguments)
        selection.settle(window)

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on shortcuts, and on the keys of the grid or of the text that is being typed."""
        if combo in _SHORTCUTS:
            self.update(desktop, window, _SHORTCUTS[combo])
            return True
        if window["focus"] == selection.LINE or window["data"]["editing"]:
            return selection.editing_key(desktop, window, combo)
        if window["focus"] == "grid":
            if combo in _GRID_SHORTCUTS:
                self.update(desktop, window, _GRID_SHORTCUTS[combo])
                return True
            return selection.grid_key(desktop, window, combo)
        if combo == "esc":
            window["focus"] = "grid"
            selection.settle(window)
            return True
        return False

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Replace the content of the current cell with the typed text."""
        if window["focus"] != "grid":
            return False
        book = window["data"]
        book["edit"].set("")
        book["edit"].insert(text)
        book["editing"] = "type"
        desktop.focus(window, selection.LINE)
        return True

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the entries of a menu; that of a cell, a header or a tab selects it first."""
        book = window["data"]
        if name in ("cell", "row", "column", "tab"):
            selection.commit(book)
            if name == "tab":
                selection.sheet(desktop, window, *arguments)
            elif name != "cell":
                selection.head(desktop, window, name, *arguments)
            elif not document.is_selected(book, *arguments):
                selection.go(book, *arguments)
            selection.settle(window)
            desktop.touch(window)
        return view.menu_entries(book, name, arguments)

    def closing(self, desktop: DesktopServices, window: Window) -> bool:
        """Ask what to do with unsaved changes."""
        book = window["data"]
        selection.commit(book)
        selection.settle(window)
        if not book["unsaved"]:
            return True
        desktop.dialog(
            window,
            "Save Document?",
            f"Save changes to document “{selection.title(book)}” before closing?\n"
            "Your changes will be lost if you don't save them.",
            (("discard", "Don't Save"), ("cancel", "Cancel"), ("save", "Save")),
            ("closing",),
        )
        return False

    def unsaved(self, desktop: DesktopServices, window: Window) -> bool:
        """Return whether the document was changed since it was saved, and differs from its file."""
        return saving.differs(desktop, window["data"])

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """Return the methods of `CalcTools`."""
        return {name: _settled(method) for name, method in METHODS.items()}


def _settled(method: Callable[..., tuple[Window, Any]]) -> Callable[..., Any]:
    def call(desktop: DesktopServices, *arguments: Any, **named: Any) -> Any:
        window, result = method(desktop, *arguments, **named)
        selection.settle(window)
        desktop.touch(window)
        return result

    return call


_WHILE_EDITING = frozenset(("select", "changed", "at", "go"))
_HANDLERS: Mapping[str, Callable[..., None]] = {
    "add sheet": editing.add_sheet,
    "at": selection.at,
    "bold": editing.bold,
    "changed": selection.changed,
    "clear": editing.clear,
    "close": saving.close,
    "closing": saving.closing,
    "copy": editing.copy,
    "copy sheet": editing.copy_sheet,
    "cut": editing.cut,
    "delete": editing.delete,
    "delete sheet": editing.delete_sheet,
    "deleted": editing.deleted,
    "drag": selection.drag,
    "edit": selection.edit,
    "extend": selection.extend,
    "fill down": editing.fill_down,
    "filter": editing.toggle_filter,
    "find": editing.find,
    "format": editing.set_format,
    "format chosen": saving.format_chosen,
    "found": editing.found,
    "function": editing.function,
    "go": selection.name_box,
    "head": selection.head,
    "head to": selection.head_to,
    "insert": editing.insert,
    "new": saving.new,
    "next sheet": selection.next_sheet,
    "only": editing.only,
    "open": saving.open_document,
    "opened": saving.load_document,
    "paste": editing.paste,
    "redo": editing.redo,
    "rename sheet": editing.rename_sheet,
    "renamed": editing.renamed,
    "save": saving.save,
    "save as": saving.save_as,
    "save to": saving.save_to,
    "scroll": selection.scroll,
    "select": selection.select,
    "select all": editing.select_all,
    "sheet": selection.sheet,
    "sort": editing.sort,
    "sort column": editing.sort_column,
    "undo": editing.undo,
}
