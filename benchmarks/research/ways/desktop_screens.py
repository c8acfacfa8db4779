"""What ways of the desktop read off a screen, and how they type into a terminal."""

from __future__ import annotations

import re

from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.desktop.tasks.actions import click, double, enter, icon

DOCUMENTS = "/home/user/Documents"
TERMINAL = click("push-button 'Terminal'")
SHELL = re.compile(r"\S+@\S+:\S*\$ ")


def nodes(screen: str) -> list[ScreenNode]:
    """Return the elements of a screen."""
    return read_screen("desktop", screen)


def names(screen: str, role: str) -> list[str]:
    """Return the names of the elements of a role, in their order."""
    return [node.name for node in nodes(screen) if node.role == role]


def content(screen: str, role: str = "text") -> str:
    """Return what stands in the first element of a role, such as the editor's text.

    Raises:
        LookupError: There is no such element.
    """
    for node in nodes(screen):
        if node.role == role:
            return node.text.replace("\\n", "\n").replace("\\t", "\t")
    raise LookupError(f"no {role} on the screen")


def cells(screen: str) -> dict[str, str]:
    """Return the texts of the cells of a table by their names."""
    return {node.name: node.text for node in nodes(screen) if node.role == "table-cell"}


def row_of(screen: str, text: str) -> int:
    """Return the number of the row whose first cell has a text.

    Raises:
        LookupError: There is none.
    """
    for name, shown in cells(screen).items():
        if shown == text and name.startswith("A"):
            return int(name[1:])
    raise LookupError(f"no row of {text}")


def rows(screen: str, last: str) -> list[list[str]]:
    """Return the filled rows of a table up to a column."""
    shown = cells(screen)
    numbers = sorted({int(name[1:]) for name, text in shown.items() if name[0] == "A" and text})
    columns = [chr(code) for code in range(ord("A"), ord(last) + 1)]
    return [[shown.get(f"{column}{number}", "") for column in columns] for number in numbers]


def printed(screen: str) -> str:
    """Return what the last command of a terminal has printed."""
    shown = SHELL.split(content(screen, "terminal"))
    return shown[-2].partition("\n")[2] if len(shown) > 1 else ""


def run(command: str) -> str:
    """Return the action that types a command into a terminal."""
    return enter(command)


def opened(name: str) -> ActionStream:
    """Open a document of the folder that is shown; returns what is shown then."""
    return (yield double(icon(name)))
