"""The terminal: the shell of the terminal engine over the files of the desktop."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.commands import start_program
from agentworld_gym.domains.desktop.engine.filesystem import HOME, absolute
from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, Window
from agentworld_gym.domains.desktop.engine.programs.terminal.shared_shell import SharedShell, commands_of
from agentworld_gym.domains.desktop.engine.short_paths import full, short
from agentworld_gym.domains.desktop.engine.widgets import METRICS
from agentworld_gym.kit.gui import Field, Message, Widget, column

MAX_LINES = 500
MAX_LINE = 400
_RESOURCE = "shell"


class Terminal(Program):
    """A terminal window. All of them share one shell; each has its own folder and history."""

    id = "terminal"
    name = "Terminal"
    commands = ("gnome-terminal", "x-terminal-emulator", "xterm", "konsole")
    size = (840, 560)
    tools = ""

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Return a terminal in a folder."""
        folder = absolute(arguments[0]) if arguments else HOME
        data: dict[str, Any] = {
            "cwd": folder if desktop.files.is_folder(folder) else HOME,
            "lines": [],
            "input": Field(),
            "pending": "",
            "tail": "",
            "history": [],
            "recalled": 0,
            "status": 0,
            "up": 0,
        }
        return desktop.window(data, _title(data["cwd"]))

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the visible lines, the last one with the prompt."""
        data = window["data"]
        lines = [*data["lines"], _prompt(data) + data["input"].value]
        rows = _rows(window)
        end = max(len(lines) - data["up"], min(rows, len(lines)))
        screen = Widget(
            "terminal",
            "Terminal",
            "\n".join(lines[max(0, end - rows) : end]),
            key="terminal",
            flags=("focusable",),
            on={"scroll": ("scroll",), "right": ("menu", "edit")},
            grow=1,
        )
        return column(screen)

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return the folder, the printed lines, the command line, and how far the lines are scrolled back."""
        data = window["data"]
        told = {"folder": short(data["cwd"]), "lines": list(data["lines"]), "typed": data["input"].value}
        told |= {key: data[key] for key in ("pending", "tail", "up")}
        return {key: part for key, part in told.items() if part}

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of a terminal, and its title."""
        folder = full(shown["folder"])
        data = {"cwd": folder, "lines": list(shown.get("lines", ())), "input": Field(shown.get("typed", ""))}
        data |= {key: shown.get(key, "") for key in ("pending", "tail")}
        data |= {"history": [], "recalled": 0, "status": 0, "up": int(shown.get("up", 0))}
        return data, _title(folder)

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Scroll, copy or paste."""
        data = window["data"]
        if message[0] == "scroll":
            data["up"] = min(max(data["up"] - 3 * message[1], 0), len(data["lines"]))
        elif message[0] == "copy":
            desktop.clipboard = "\n".join(data["lines"][-_rows(window) :])
        elif message[0] == "paste":
            self._paste(desktop, window)
        elif message[0] == "window":
            desktop.launch(self.id, data["cwd"])

    def type(self, desktop: DesktopServices, window: Window, text: str) -> bool:
        """Type characters into the command line."""
        window["data"]["input"].insert(text)
        window["data"]["up"] = 0
        return True

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on the keys of the command line."""
        data = window["data"]
        field: Field = data["input"]
        if combo in ("enter", "shift+enter"):
            self._enter(desktop, window)
        elif combo in ("up", "down"):
            self._recall(data, -1 if combo == "up" else 1)
        elif combo == "tab":
            _complete(desktop, data)
        elif combo == "ctrl+c":
            _print(data, f"{_prompt(data)}{field.value}^C")
            field.set("")
            data["pending"] = ""
        elif combo == "ctrl+l":
            data["lines"] = []
        elif combo == "ctrl+u":
            field.anchor = 0
            field.insert("")
        elif combo == "ctrl+d" and not field.value:
            desktop.close(window)
        elif combo == "ctrl+shift+v":
            self._paste(desktop, window)
        elif combo == "ctrl+shift+c":
            self.update(desktop, window, ("copy",))
        elif combo in ("ctrl+shift+n", "ctrl+shift+t"):
            desktop.launch(self.id, data["cwd"])
        elif combo in ("ctrl+shift+q", "ctrl+shift+w"):
            desktop.close(window)
        elif combo in ("shift+pageup", "shift+pagedown"):
            self.update(desktop, window, ("scroll", -6 if combo == "shift+pageup" else 6))
        elif combo in ("ctrl+a", "ctrl+e"):
            field.press("home" if combo == "ctrl+a" else "end")
        else:
            return field.press(combo)
        return True

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the menu at the pointer."""
        return (
            MenuEntry("Copy", ("copy",)),
            MenuEntry("Paste", ("paste",), bool(desktop.clipboard)),
            MenuEntry("New Window", ("window",)),
        )

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """Return the method `run`, which `subprocess` uses; it belongs to no helper object."""
        return {"run": run}

    def _paste(self, desktop: DesktopServices, window: Window) -> None:
        lines = desktop.clipboard.split("\n")[:50]
        for number, line in enumerate(lines):
            window["data"]["input"].insert(line)
            if number + 1 < len(lines):
                self._enter(desktop, window)

    def _recall(self, data: dict[str, Any], step: int) -> None:
        data["recalled"] = min(max(data["recalled"] + step, 0), len(data["history"]))
        history = [*data["history"], ""]
        data["input"].set(history[data["recalled"]])

    def _enter(self, desktop: DesktopServices, window: Window) -> None:
        data = window["data"]
        typed = data["input"].value
        _print(data, _prompt(data) + typed)
        data["input"].set("")
        data["up"] = 0
        if typed.strip():
            data["history"] = [*data["history"], typed][-100:]
        data["recalled"] = len(data["history"])
        script = data["pending"] + typed + "\n"
        data["pending"] = data["tail"] = ""
        if not script.strip():
            return
        commands = commands_of(script)
        if commands is None:
            data["pending"] = script if len(script) < 10_000 else ""
            return
        words = commands[0] if len(commands) == 1 else []
        if words in (["exit"], ["logout"]):
            desktop.close(window)
        elif words == ["clear"]:
            data["lines"] = []
        elif not (words and start_program(desktop, words[0], words[1:], data["cwd"])):
            data["status"], out, data["cwd"] = _shell(desktop).run(desktop, script, data["cwd"], data["status"])
            printed, _, data["tail"] = out.rpartition("\n")
            if "\n" in out:
                _print(data, printed)
            data["tail"] = data["tail"][:MAX_LINE]
            window["title"] = _title(data["cwd"])


def run(desktop: DesktopServices, line: str, folder: str) -> tuple[int, str]:
    """Run a command outside all windows; return its status and its output."""
    status, out, _ = _shell(desktop).run(desktop, line + "\n", folder, 0)
    return status, out


def _shell(desktop: DesktopServices) -> SharedShell:
    shell = desktop.resources.get(_RESOURCE)
    if not isinstance(shell, SharedShell):
        shell = desktop.resources[_RESOURCE] = SharedShell(desktop.seed)
    return shell


def _print(data: dict[str, Any], text: str) -> None:
    lines = [line[:MAX_LINE] for line in text.split("\n")]
    data["lines"] = [*data["lines"], *lines][-MAX_LINES:]


def _prompt(data: dict[str, Any]) -> str:
    return "> " if data["pending"] else f"{data['tail']}user@desktop:{short(data['cwd'])}$ "


def _title(folder: str) -> str:
    return f"user@desktop: {short(folder)}"


def _rows(window: Window) -> int:
    high = WORK[3] if window["maximized"] else window["box"][3]
    return max(1, (high - TITLE - 2 * METRICS.margin[1]) // METRICS.line)


def _complete(desktop: DesktopServices, data: dict[str, Any]) -> None:
    """Complete the path before the cursor as far as it is unambiguous."""
    field: Field = data["input"]
    before = field.value[: field.cursor]
    word = re.split(r"(?<!\\)[ '\"]", before)[-1]
    folder, _, start = word.rpartition("/")
    place = absolute(folder or ("/" if word.startswith("/") else "."), data["cwd"])
    if not desktop.files.is_folder(place):
        return
    start = start.replace("\\ ", " ")
    names = [
        name for name in desktop.files.names(place) if name.startswith(start) and (start or not name.startswith("."))
    ]
    if not names:
        return
    common = names[0]
    while not all(name.startswith(common) for name in names):
        common = common[:-1]
    ending = ""
    if len(names) == 1:
        ending = "/" if desktop.files.is_folder(f"{place.rstrip('/')}/{common}") else " "
    field.insert(common[len(start) :].replace(" ", "\\ ") + ending)
