"""The desktop as a model: files, windows, dialogs, settings, clipboard, clock, and what programs do with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.desktop.engine import file_chooser, geometry
from agentworld_gym.domains.desktop.engine.filesystem import MAX_TIME, FileSystem, clean, error_reason
from agentworld_gym.domains.desktop.engine.program import MenuEntry, Program, Resource, Window
from agentworld_gym.domains.desktop.engine.state import DesktopState
from agentworld_gym.kit.gui import Field, Message, copied

MAX_WINDOWS = 24
MAX_DIALOGS = 6
NOTICE_SECONDS = 6.0
SHELL = 0
"""The number that stands for the desktop shell where a message or a menu belongs to no window."""


class Desktop:
    """One desktop. Everything that changes lies in `model` (plain data), `files` and `resources`."""

    def __init__(
        self,
        initial_state: DesktopState,
        seed: int,
        controls: Controls,
        hidden: Mapping[str, Any],
        programs: Mapping[str, Program],
    ) -> None:
        self.initial_state, self.seed, self.controls = initial_state, seed, controls
        self.hidden, self.programs = hidden, programs
        self.files = FileSystem(initial_state.seconds)
        self.resources: dict[str, Resource] = {}
        self.model: dict[str, Any] = {
            "serial": 0,
            "action": 0,
            "windows": [],
            "settings": {},
            "clipboard": {"text": initial_state.clipboard, "paths": (), "cut": False},
            "popup": None,
            "overview": None,
            "notices": [],
            "pointer": [960, 540],
            "pressed": {},
            "held": [],
            "switch": 0,
            "selected": "",
            "recent": [],
            "changes": 0,
            "locked": set(),
            "turn": 0.0,
            "scrolled": set(),
            "calls": 0,
        }
        self._opening = ""

    def fork(self) -> Desktop:
        """Return an exact copy."""
        twin = object.__new__(Desktop)
        twin.initial_state, twin.seed, twin.controls = self.initial_state, self.seed, self.controls
        twin.hidden, twin.programs, twin._opening = self.hidden, self.programs, self._opening
        twin.files = self.files.copy()
        twin.resources = {name: resource.fork() for name, resource in self.resources.items()}
        twin.model = copied(self.model)
        return twin

    @property
    def action(self) -> int:
        """The number of the agent's action that is being carried out."""
        return int(self.model["action"])

    @property
    def now(self) -> datetime:
        """The time of the desktop's clock."""
        return datetime.fromtimestamp(self.files.now, UTC)

    def advance(self, seconds: float) -> bool:
        """Let time pass, and return whether that shows: the clock's minute changes, or a notification disappears."""
        before = self.files.now // 60
        self.files.now = min(self.files.now + seconds, MAX_TIME)
        notices = self.model["notices"]
        count = len(notices)
        if notices:
            notices[:] = [notice for notice in notices if notice["until"] > self.files.now]
        return self.files.now // 60 != before or len(notices) != count

    @property
    def clipboard(self) -> str:
        """The text in the clipboard; for copied files, their paths."""
        board = self.model["clipboard"]
        return "\n".join(board["paths"]) or str(board["text"])

    @clipboard.setter
    def clipboard(self, text: str) -> None:
        self.model["clipboard"] = {"text": clean(text), "paths": (), "cut": False}

    @property
    def copied_files(self) -> tuple[tuple[str, ...], bool]:
        """The files in the clipboard, and whether they are to be moved."""
        board = self.model["clipboard"]
        return board["paths"], board["cut"]

    def copy_files(self, paths: Sequence[str], cut: bool = False) -> None:
        """Put files into the clipboard."""
        self.model["clipboard"] = {"text": "", "paths": tuple(paths), "cut": cut}

    @property
    def recent(self) -> list[str]:
        """The files that were opened, the latest first."""
        return list(self.model["recent"])

    def setting(self, name: str) -> Scalar:
        """Return the value of a setting; None where there is no such setting."""
        value: Scalar = self.model["settings"].get(name)
        return value

    def change_setting(self, window: Window, name: str, value: Scalar) -> bool:
        """Change a setting, and return True; where that is not permitted, open a dialog and return False."""
        if self.model["settings"].get(name) == value:
            return True
        if name in self.model["locked"]:
            self.dialog(
                window,
                "Permission denied",
                "This setting is locked. Unlock it and change it again.",
                (("cancel", "Cancel"), ("unlock", "Unlock")),
                ("shell/unlock", name),
            )
            return False
        self.model["settings"][name] = clean(value) if isinstance(value, str) else value
        self.model["changes"] += 1
        return True

    @property
    def settings_version(self) -> int:
        """The number of changes of settings so far."""
        count: int = self.model["changes"]
        return count

    @property
    def stack(self) -> list[Window]:
        """All windows, the one in front last."""
        windows: list[Window] = self.model["windows"]
        return windows

    @property
    def front(self) -> list[Window]:
        """The windows that are on the screen, the one in front first."""
        action = self.model["action"]
        return [w for w in reversed(self.stack) if not w["minimized"] and w["ready"] <= action]

    @property
    def active(self) -> Window | None:
        """The window that receives the keys."""
        front = self.front
        return front[0] if front else None

    def windows(self, program: str) -> list[Window]:
        """Return the windows of a program, the one in front first."""
        return [window for window in reversed(self.stack) if window["program"] == program]

    def find(self, number: int) -> Window | None:
        """Return the window with a number; None if it was closed."""
        return next((window for window in self.stack if window["id"] == number), None)

    def serial(self) -> int:
        """Return a number that nothing had before."""
        self.model["serial"] += 1
        number: int = self.model["serial"]
        return number

    def window(self, data: dict[str, Any], title: str) -> Window:
        """Return another window of the program that is being started."""
        program = self.programs[self._opening]
        number = self.serial()
        return Window(
            id=number,
            program=program.id,
            title=title,
            box=geometry.new_window_box(program.size, [w["box"] for w in self.stack]),
            maximized=program.maximized,
            minimized=False,
            focus="",
            scroll={},
            dialogs=[],
            ready=self.ready(number),
            version=0,
            data=data,
        )

    def ready(self, number: int) -> int:
        """Return the number of the action at which something that is opened at this action becomes usable."""
        action: int = self.model["action"]
        return action + 1 if self.controls.strikes("slow-loading", action, number) else action

    def launch(self, program: str, *arguments: str) -> Window | None:
        """Start a program, or open another window of it."""
        opener = self.programs.get(program)
        if opener is None:
            return None
        if len(self.stack) >= MAX_WINDOWS:
            self.notify("Out of memory", f"{opener.name} could not be started. Close some windows first.")
            return None
        before, self._opening = self._opening, program
        try:
            window = opener.open(self, arguments)
        finally:
            self._opening = before
        if window is None:
            return None
        if all(window is not other for other in self.stack):
            self.stack.append(window)
        self.raise_window(window)
        return window

    def raise_window(self, window: Window) -> None:
        """Bring a window to the front."""
        self.model["overview"] = self.model["popup"] = None
        window["minimized"] = False
        stack = self.stack
        if stack[-1] is not window:
            stack[:] = [other for other in stack if other is not window] + [window]

    def open_file(self, path: str) -> Window | None:
        """Open a file or a folder with the program for its type; open a dialog where there is none."""
        if not self.files.is_folder(path):
            recent = self.model["recent"]
            recent[:] = [path, *(other for other in recent if other != path)][:20]
        opener = self.opener(path)
        if opener is not None:
            return self.launch(opener, path)
        active = self.active
        if active is not None:
            name = path.rpartition("/")[2]
            ending = name.rpartition(".")[2] if "." in name else "unknown"
            self.dialog(
                active,
                "Could Not Display “" + name + "”",
                f"There is no app installed for “{ending}” files.",
            )
        return None

    def opener(self, path: str) -> str | None:
        """Return the id of the program that opens a file or a folder; None if there is none."""
        if self.files.is_folder(path):
            return "files"
        lower = path.lower()
        for program in self.programs.values():
            if lower.endswith(program.types) and program.types:
                return program.id
        name = lower.rpartition("/")[2]
        return "editor" if "." not in name.lstrip(".") and "editor" in self.programs else None

    def close(self, window: Window, ask: bool = True) -> None:
        """Close a window. With `ask`, its program may refuse or ask the user first."""
        if ask and (window["dialogs"] or not self.programs[window["program"]].closing(self, window)):
            self.touch(window)
            return
        self.stack[:] = [other for other in self.stack if other is not window]
        popup = self.model["popup"]
        if popup is not None and popup["window"] == window["id"]:
            self.model["popup"] = None

    def focus(self, window: Window, key: str) -> None:
        """Give the focus of a window to a widget."""
        if window["focus"] != key:
            window["focus"] = key
            self.touch(window)

    def touch(self, window: Window) -> None:
        """Note that a window's data changed, so that it is drawn again."""
        window["version"] += 1

    def dialog(
        self,
        window: Window,
        title: str,
        text: str = "",
        buttons: Sequence[tuple[str, str]] = (("ok", "OK"),),
        message: Message = (),
        entries: Mapping[str, str] | None = None,
    ) -> None:
        """Open a dialog over a window; see `DesktopServices.dialog`."""
        fields = {label: Field(value) for label, value in (entries or {}).items()}
        for field in fields.values():
            field.select_all()
        self.add_dialog(window, title, text, tuple(map(tuple, buttons)), message, fields, "message")

    def add_dialog(
        self,
        window: Window,
        title: str,
        text: str,
        buttons: tuple[tuple[str, ...], ...],
        message: Message,
        entries: dict[str, Field],
        kind: str,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Open a dialog of any kind."""
        dialogs = window["dialogs"]
        if len(dialogs) >= MAX_DIALOGS:
            return
        number = self.serial()
        dialogs.append(
            {
                "id": number,
                "kind": kind,
                "title": clean(title),
                "text": clean(text),
                "buttons": buttons,
                "message": message,
                "entries": entries,
                "focus": next(iter(entries), ""),
                "ready": self.ready(number),
                "data": data or {},
                "scroll": {},
                "version": 0,
            }
        )
        self.touch(window)

    def shown_dialog(self, window: Window) -> dict[str, Any] | None:
        """Return the dialog that receives a window's input; None if there is none."""
        action = self.model["action"]
        dialogs = [dialog for dialog in window["dialogs"] if dialog["ready"] <= action]
        return dialogs[-1] if dialogs else None

    def choose_file(
        self,
        window: Window,
        title: str,
        message: Message,
        mode: str = "open",
        path: str = "",
        types: Sequence[str] = (),
    ) -> None:
        """Open a file chooser dialog; see `DesktopServices.choose_file`."""
        entries, data = file_chooser.new_dialog(self.files, mode, path, tuple(types))
        self.add_dialog(window, title, "", (), message, entries, "chooser", data)

    def attempt(self, window: Window, title: str, change: Callable[[], Any]) -> bool:
        """Change files, and return True; where that fails, open a dialog with the reason and return False."""
        try:
            change()
        except OSError as error:
            self.dialog(window, title, f"{error_reason(error)}.")
            return False
        return True

    def write_file(self, window: Window, path: str, text: str) -> bool:
        """Write a text into a file, and return True; where that fails, open a dialog and return False."""
        name = path.rpartition("/")[2]
        return self.attempt(window, f"Could not save the file “{name}”", lambda: self.files.write(path, text))

    def notify(self, title: str, text: str = "") -> None:
        """Show a notification below the top bar."""
        if not self.setting("notifications/do-not-disturb"):
            notices = self.model["notices"]
            notices.append(
                {
                    "id": self.serial(),
                    "title": clean(title)[:120],
                    "text": clean(text)[:200],
                    "until": self.files.now + NOTICE_SECONDS,
                }
            )
            del notices[:-3]

    def popup(self, number: int, entries: Sequence[MenuEntry], x: int, y: int, menu: Message) -> None:
        """Open a menu at a point.

        `number` is that of the window it belongs to; `SHELL` stands for the desktop shell. `menu` is the name of the
        menu, and what it is about.
        """
        enabled = tuple(entry for entry in entries if entry.enabled)
        if enabled:
            ordered = self.ordered(enabled)
            self.model["popup"] = {
                "window": number,
                "entries": tuple(ordered),
                "x": x,
                "y": y,
                "index": -1,
                "menu": menu,
            }

    def ordered(self, items: Sequence[Any]) -> list[Any]:
        """Return the entries of a list, in another order where the control `reordered-menu` has struck."""
        turn = self.model["turn"]
        if not turn or len(items) < 2:
            return list(items)
        mixed = list(items)
        Random(str(turn)).shuffle(mixed)
        return mixed if mixed != list(items) else mixed[::-1]
