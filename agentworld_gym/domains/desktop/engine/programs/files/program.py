"""The file manager, with a folder in each window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agentworld_gym.domains.desktop.engine.file_chooser import stem
from agentworld_gym.domains.desktop.engine.filesystem import HOME, TRASH, absolute
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, Window
from agentworld_gym.domains.desktop.engine.programs.files import structured_state, view
from agentworld_gym.domains.desktop.engine.programs.files.listing import kind_of, listed_paths, parent, title_of
from agentworld_gym.domains.desktop.engine.programs.files.menus import menu
from agentworld_gym.kit.gui import Field, Message, Widget

RENAME = "File name"
_MAX_HISTORY = 30


class FileManager(Program):
    """The file manager."""

    id = "files"
    name = "Files"
    commands = ("nautilus",)
    size = (1080, 720)
    fields = frozenset({"search", "location"})
    watches = frozenset(("files",))

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return a window of a folder; for a file, its folder with the file selected."""
        path = absolute(arguments[0]) if arguments else HOME
        selected: list[str] = []
        if path != TRASH and not desktop.files.is_folder(path):
            if desktop.files.exists(path):
                selected, path = [path], parent(path)
            else:
                path = HOME
        data: dict[str, Any] = {
            "folder": path,
            "selected": selected,
            "back": [],
            "forward": [],
            "view": "icons",
            "sort": "name",
            "descending": False,
            "hidden": False,
            "search": None,
            "location": None,
        }
        return desktop.window(data, title_of(path))

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the toolbar, the places and the folder."""
        return view.view(desktop, window)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return what the view reads of the window."""
        return structured_state.visible_state(window)

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of the folder's window, and its title."""
        return structured_state.restored(shown)

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Change the window or the files as a message says."""
        name, *rest = message
        data = window["data"]
        if name == "go":
            self._go(desktop, window, rest[0])
        elif name == "select":
            data["selected"] = [rest[0]] if rest[0] else []
            window["focus"] = ""
        elif name == "toggle":
            chosen = data["selected"]
            data["selected"] = [p for p in chosen if p != rest[0]] if rest[0] in chosen else [*chosen, rest[0]]
        elif name == "extend":
            self._extend(desktop, window, rest[0])
        elif name == "open":
            self._open(desktop, window, rest)
        elif name == "drag":
            if rest[1] == "drop" and rest[2] != parent(rest[0]):
                moved = data["selected"] if rest[0] in data["selected"] else [rest[0]]
                transfer(desktop, window, [path for path in moved if path != rest[2]], rest[2], True)
        elif name in ("back", "forward"):
            self._history(desktop, window, name)
        elif name == "find":
            self._find(desktop, window)
        elif name == "sort":
            data["descending"] = not data["descending"] if data["sort"] == rest[0] else False
            data["sort"] = rest[0]
        elif name == "arrange":
            data["sort"], data["descending"] = rest
        elif name == "show":
            data["view"] = rest[0]
        elif name == "hidden":
            data["hidden"] = not data["hidden"]
        elif name == "located":
            path = absolute(data["location"].value)
            if desktop.files.is_folder(path):
                self._go(desktop, window, path)
        elif name == "searched":
            data["selected"] = []
        elif name == "open-with":
            if all(desktop.files.exists(path) for path in rest[1]):
                desktop.launch(rest[0], *rest[1])
        else:
            self._command(desktop, window, name, rest)

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on the shortcuts of a folder window."""
        data = window["data"]
        if combo == "esc":
            data["search"] = data["location"] = None
            data["selected"] = [] if not window["focus"] else data["selected"]
            window["focus"] = ""
            return True
        if window["focus"] in ("search", "location") and combo not in _ALWAYS:
            return False
        if combo in ("left", "right", "up", "down", "home", "end"):
            self._step(desktop, window, combo)
            return True
        if combo == "enter" and data["selected"] and not window["focus"]:
            self._open(desktop, window, list(data["selected"]))
            return True
        if combo in ("ctrl+w", "ctrl+q"):
            desktop.close(window)
            return True
        command = _KEYS.get(combo)
        if command is None:
            return False
        self.update(desktop, window, command)
        return True

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Start a search with the typed text."""
        if window["data"]["search"] is None:
            self._find(desktop, window)
        window["data"]["search"].insert(text)
        return True

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the menu of the toolbar, or of something in the folder."""
        return menu(desktop, window, name, arguments)

    def _go(self, desktop: DesktopServices, window: Window, path: str, remember: bool = True) -> None:
        data = window["data"]
        if path not in (TRASH, "recent") and not desktop.files.is_folder(path):
            desktop.dialog(window, "Unable to find the folder", f"“{path}” could not be found. Perhaps it was deleted.")
            return
        if remember and path != data["folder"]:
            data["back"] = [*data["back"], data["folder"]][-_MAX_HISTORY:]
            data["forward"] = []
        data.update(folder=path, selected=[], search=None, location=None)
        window["scroll"].clear()
        window["focus"] = ""
        window["title"] = title_of(path)

    def _history(self, desktop: DesktopServices, window: Window, name: str) -> None:
        data = window["data"]
        if data[name]:
            other = "forward" if name == "back" else "back"
            path = data[name].pop()
            data[other].append(data["folder"])
            self._go(desktop, window, path, remember=False)

    def _find(self, desktop: DesktopServices, window: Window) -> None:
        data = window["data"]
        data["search"] = None if data["search"] is not None else Field()
        data["selected"] = []
        window["focus"] = "search" if data["search"] is not None else ""

    def _open(self, desktop: DesktopServices, window: Window, paths: list[Any]) -> None:
        if window["data"]["folder"] == TRASH:
            desktop.dialog(window, "This file cannot be opened", "Restore it from the trash to open it.")
            return
        folders = [path for path in paths if desktop.files.is_folder(path)]
        if len(paths) == 1 and folders:
            self._go(desktop, window, paths[0])
            return
        for path in paths[:10]:
            if desktop.files.exists(path):
                desktop.open_file(path)

    def _step(self, desktop: DesktopServices, window: Window, combo: str) -> None:
        data = window["data"]
        paths = listed_paths(desktop, window)
        if not paths:
            return
        last = data["selected"][-1] if data["selected"] else None
        wide = view.columns(window) if data["view"] == "icons" else 1
        if last not in paths:
            place = len(paths) - 1 if combo == "end" else 0
        else:
            step = {"left": -1, "right": 1, "up": -wide, "down": wide}.get(combo)
            place = paths.index(last) + step if step is not None else 0 if combo == "home" else len(paths) - 1
        if 0 <= place < len(paths):
            data["selected"] = [paths[place]]

    def _extend(self, desktop: DesktopServices, window: Window, path: str) -> None:
        data, paths = window["data"], listed_paths(desktop, window)
        start = data["selected"][-1] if data["selected"] else path
        if path in paths and start in paths:
            low, high = sorted((paths.index(start), paths.index(path)))
            data["selected"] = paths[low : high + 1]

    def _command(self, desktop: DesktopServices, window: Window, name: str, rest: list[Any]) -> None:
        data = window["data"]
        chosen: list[str] = [path for path in data["selected"] if desktop.files.exists(path)]
        folder = data["folder"] if desktop.files.is_folder(data["folder"]) else HOME
        if name == "all":
            data["selected"] = listed_paths(desktop, window)
        elif name == "window":
            desktop.launch("files", folder)
        elif name == "up":
            self._go(desktop, window, parent(folder))
        elif name == "locate":
            data["location"] = Field(folder)
            data["location"].select_all()
            window["focus"] = "location"
        elif name in ("copy", "cut"):
            if chosen:
                desktop.copy_files(chosen, name == "cut")
        elif name == "paste":
            paths, cut = desktop.copied_files
            transfer(desktop, window, list(paths), rest[0] if rest else folder, cut)
            if cut:
                desktop.clipboard = ""
        elif name == "rename" and len(chosen) == 1:
            self._ask_name(desktop, window, "Rename", ("renamed", chosen[0]), chosen[0].rpartition("/")[2])
        elif name == "renamed":
            self._rename(desktop, window, *rest)
        elif name == "new-folder":
            desktop.dialog(
                window,
                "New Folder",
                buttons=(("cancel", "Cancel"), ("create", "Create")),
                message=("created", folder),
                entries={"Folder name": ""},
            )
        elif name == "created":
            self._create(desktop, window, *rest)
        elif name == "new-document":
            path = desktop.files.free(f"{folder.rstrip('/')}/Untitled Document")
            if desktop.attempt(window, "The document could not be made", lambda: desktop.files.write(path, "")):
                data["selected"] = [path]
        elif name == "trash":
            self._each(desktop, window, "The item could not be moved to the trash", chosen, desktop.files.trash)
        elif name == "restore":
            self._each(desktop, window, "The item could not be restored", chosen, desktop.files.restore)
        elif name == "delete" and chosen:
            names = f"“{chosen[0].rpartition('/')[2]}”" if len(chosen) == 1 else f"the {len(chosen)} selected items"
            desktop.dialog(
                window,
                f"Are you sure you want to permanently delete {names}?",
                "If you delete an item, it will be permanently lost.",
                (("cancel", "Cancel"), ("delete", "Delete")),
                ("deleted", tuple(chosen)),
            )
        elif name == "empty":
            desktop.dialog(
                window,
                "Empty all items from Trash?",
                "All items in the Trash will be permanently deleted.",
                (("cancel", "Cancel"), ("delete", "Empty Trash")),
                ("deleted", tuple(f"{TRASH}/{n}" for n in _names(desktop, TRASH))),
            )
        elif name == "deleted" and rest[1] == "delete":
            self._each(desktop, window, "Error while deleting", rest[0], desktop.files.erase)
        elif name in ("move-to", "copy-to") and chosen:
            title = "Select Move Destination" if name == "move-to" else "Select Copy Destination"
            desktop.choose_file(window, title, ("moved", name == "move-to", tuple(chosen)), "folder", folder)
        elif name == "moved":
            transfer(desktop, window, list(rest[1]), rest[2], rest[0])
        elif name == "conflict":
            resolve(desktop, window, *rest)
        elif name == "permitted" and rest[1] == "permit":
            mode = desktop.files.node(rest[0]).mode
            desktop.attempt(
                window, "The permissions could not be changed", lambda: desktop.files.chmod(rest[0], mode ^ 0o200)
            )
        elif name == "properties":
            self._properties(desktop, window, chosen[0] if chosen else folder)

    def _each(
        self,
        desktop: DesktopServices,
        window: Window,
        title: str,
        paths: Sequence[str],
        change: Callable[[str], object],
    ) -> None:
        """Do something with one file after the other, as far as that is possible."""
        for path in paths:
            if not desktop.attempt(window, title, partial(change, path)):
                break
        window["data"]["selected"] = []

    def _ask_name(self, desktop: DesktopServices, window: Window, button: str, message: Message, name: str) -> None:
        desktop.dialog(
            window,
            f"{button} “{name}”",
            buttons=(("cancel", "Cancel"), ("ok", button)),
            message=message,
            entries={RENAME: name},
        )
        field = window["dialogs"][-1]["entries"].get(RENAME)
        if field is not None:
            field.anchor, field.cursor = 0, stem(name)

    def _rename(self, desktop: DesktopServices, window: Window, path: str, button: str, texts: tuple[str, ...]) -> None:
        name = texts[0].strip()
        if button != "ok" or name == path.rpartition("/")[2]:
            return
        target = f"{parent(path).rstrip('/')}/{name}"
        if not _is_name(desktop, window, name, target):
            return
        if desktop.attempt(
            window, f"The item could not be renamed to “{name}”", lambda: desktop.files.move(path, target)
        ):
            window["data"]["selected"] = [target]

    def _create(
        self, desktop: DesktopServices, window: Window, folder: str, button: str, texts: tuple[str, ...]
    ) -> None:
        name = texts[0].strip()
        path = f"{folder.rstrip('/')}/{name}"
        if (
            button == "create"
            and _is_name(desktop, window, name, path)
            and desktop.attempt(window, "The folder could not be created", lambda: desktop.files.make_folder(path))
        ):
            window["data"]["selected"] = [path]

    def _properties(self, desktop: DesktopServices, window: Window, path: str) -> None:
        node = desktop.files.node(path)
        changed = datetime.fromtimestamp(node.modified, UTC)
        size = f"{node.size} bytes" if node.content is not None else f"{len(desktop.files.names(path))} items"
        access = "Read and write" if node.mode & 0o200 else "Read-only"
        other = "Make Read-Only" if node.mode & 0o200 else "Make Writable"
        buttons = (("permit", other), ("cancel", "Close"))
        lines = (
            f"Name: {path.rpartition('/')[2] or '/'}",
            f"Type: {kind_of(desktop, path)}",
            f"Size: {size}",
            f"Parent Folder: {parent(path)}",
            f"Modified: {changed:%Y-%m-%d %H:%M}",
            f"Access: {access}",
        )
        desktop.dialog(window, f"{path.rpartition('/')[2]} Properties", "\n".join(lines), buttons, ("permitted", path))


def _names(desktop: DesktopServices, folder: str) -> tuple[str, ...]:
    return desktop.files.names(folder) if desktop.files.is_folder(folder) else ()


def _is_name(desktop: DesktopServices, window: Window, name: str, path: str) -> bool:
    """Return whether a name can be given; a dialog tells the reason where it cannot."""
    if not name or "/" in name or name in (".", ".."):
        desktop.dialog(window, "Invalid name", "Names cannot be empty, “.” or “..”, or contain “/”.")
    elif desktop.files.exists(path):
        desktop.dialog(window, "Name already used", f"A file with the name “{name}” already exists.")
    else:
        return True
    return False


_KEYS: dict[str, Message] = {
    "f2": ("rename",),
    "ctrl+a": ("all",),
    "ctrl+c": ("copy",),
    "ctrl+x": ("cut",),
    "ctrl+v": ("paste",),
    "ctrl+f": ("find",),
    "ctrl+h": ("hidden",),
    "ctrl+l": ("locate",),
    "ctrl+n": ("window",),
    "ctrl+1": ("show", "list"),
    "ctrl+2": ("show", "icons"),
    "ctrl+shift+n": ("new-folder",),
    "delete": ("trash",),
    "shift+delete": ("delete",),
    "backspace": ("up",),
    "alt+up": ("up",),
    "alt+left": ("back",),
    "alt+right": ("forward",),
    "alt+home": ("go", HOME),
    "alt+enter": ("properties",),
    "ctrl+i": ("properties",),
}
_ALWAYS = frozenset(("ctrl+f", "ctrl+h", "ctrl+l", "ctrl+n", "ctrl+w", "ctrl+q", "alt+up", "f2", "down", "up"))


def transfer(desktop: DesktopServices, window: Window, paths: list[str], folder: str, cut: bool) -> None:
    """Move or copy files into a folder, and ask before replacing one."""
    done = []
    for path in paths:
        name = path.rpartition("/")[2]
        target = f"{folder.rstrip('/')}/{name}"
        if not desktop.files.exists(path) or (cut and parent(path) == folder):
            continue
        if target == path:
            start = name[: stem(name)]
            target = desktop.files.free(f"{folder.rstrip('/')}/{start} (copy){name[len(start) :]}")
        elif desktop.files.exists(target):
            desktop.dialog(
                window,
                f"Replace file “{name}”?",
                "Another file with the same name already exists. Replacing it will overwrite its content.",
                (("cancel", "Skip"), ("rename", "Keep Both"), ("replace", "Replace")),
                ("conflict", path, target, cut),
            )
            continue
        if not _place(desktop, window, path, target, cut):
            break
        done.append(target)
    if folder == window["data"]["folder"]:
        window["data"]["selected"] = done


def resolve(desktop: DesktopServices, window: Window, path: str, target: str, cut: bool, button: str, _: Any) -> None:
    """Continue with one file after the question whether another one is to be replaced."""
    if button == "cancel" or not desktop.files.exists(path):
        return
    if button == "rename":
        target = desktop.files.free(target)
    elif desktop.files.exists(target) and not desktop.attempt(
        window, "The item could not be replaced", lambda: desktop.files.remove(target, tree=True)
    ):
        return
    _place(desktop, window, path, target, cut)


def _place(desktop: DesktopServices, window: Window, path: str, target: str, cut: bool) -> bool:
    change = desktop.files.move if cut else desktop.files.copy_to
    word = "moved" if cut else "copied"
    return desktop.attempt(window, f"“{path.rpartition('/')[2]}” could not be {word}", lambda: change(path, target))
