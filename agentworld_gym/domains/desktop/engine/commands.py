"""The commands that start programs: their executables, `xdg-open`, `gio`, `pkill` and `killall`."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.domains.desktop.engine.filesystem import absolute
from agentworld_gym.domains.desktop.engine.program import DesktopServices

_OFFICE = frozenset(("libreoffice", "soffice"))


def start_program(desktop: DesktopServices, command: str, words: Sequence[str], folder: str) -> bool:
    """Start a program by its command, and return whether a command of that name exists.

    Args:
        desktop: The desktop.
        command: The name or the path of the command.
        words: The arguments; options are ignored.
        folder: The folder in which relative paths begin.

    Raises:
        FileNotFoundError: `xdg-open` names a file that does not exist.
    """
    command = command.rpartition("/")[2]
    arguments = [word for word in words if word and not word.startswith("-") and word != "&"]
    if command in ("xdg-open", "gio"):
        _open(desktop, arguments[1:] if command == "gio" else arguments, folder)
        return True
    if command in ("pkill", "killall"):
        _kill(desktop, set(arguments))
        return True
    if command in _OFFICE and arguments:
        # One command starts all office programs; the type of the document says which.
        opener = desktop.opener(absolute(arguments[0], folder))
        if opener in ("editor", "spreadsheet"):
            desktop.launch(opener, absolute(arguments[0], folder))
            return True
    for program in desktop.programs.values():
        if command in program.commands:
            desktop.launch(program.id, *program.targets(arguments, folder))
            return True
    return False


def _open(desktop: DesktopServices, targets: list[str], folder: str) -> None:
    if targets and "://" in targets[0] and not targets[0].startswith("file://"):
        desktop.launch("browser", targets[0])
    elif targets:
        path = absolute(targets[0], folder)
        desktop.files.node(path)
        desktop.open_file(path)


def _kill(desktop: DesktopServices, names: set[str]) -> None:
    for program in desktop.programs.values():
        if program.id in names or names & set(program.commands):
            for window in desktop.windows(program.id):
                desktop.close(window, ask=False)
