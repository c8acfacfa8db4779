"""The programs and sites that a model may never have seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.unseen_names import UnseenNames
from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.domains.web.api import from_address_bar, host_of, hosts_of

if TYPE_CHECKING:
    from agentworld_gym.domains.desktop.engine.program import Program

_ADDRESS = re.compile(r"https?://[^\s'\"\\)]+")
_CLICK = re.compile(r"\b(?:click|(doubleClick))\(\s*(?:x\s*=\s*)?(\d+)\s*,\s*(?:y\s*=\s*)?(\d+)")


class UnseenPrograms(UnseenNames):
    """The programs of a desktop, and the sites of its browser.

    >>> "Calculator" in UnseenPrograms().known_apps()
    True
    """

    def sites(self, task: Task) -> Iterable[str]:
        """Return the hosts of the sites that a task states."""
        return hosts_of(task.state)

    def apps(self, task: Task) -> Sequence[str]:
        """Return the names of all programs."""
        return self.known_apps()

    def known_apps(self) -> Sequence[str]:
        """Return the names of all programs."""
        return tuple(program.name for program in _programs())

    def hidden(self, task: Task) -> frozenset[str]:
        """Return the programs that are neither on the dock nor open, such as one for a kind of files."""
        from agentworld_gym.domains.desktop.engine.shell_data import shell_data

        stated = task.state.get("open", ())
        open_ones = {window.get("program") for window in stated if isinstance(window, Mapping)}
        shown = {*shell_data().dock, *open_ones}
        return frozenset(program.name for program in _programs() if program.id not in shown)

    def hosts(self, action: Any, shown: str) -> Iterable[str]:
        """Return the hosts of the addresses in the code."""
        found = _ADDRESS.findall(action) if isinstance(action, str) else ()
        return [host_of(from_address_bar(url)) for url in found]

    def opens(self, action: Any, app: str, shown: str) -> bool:
        """Return whether the code runs a program's command, or clicks on its icon or on one of its files."""
        if not isinstance(action, str):
            return False
        if any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", action) for word in _commands(app)):
            return True
        clicks = [(bool(twice), int(x), int(y)) for twice, x, y in _CLICK.findall(action)]
        return any(
            _holds(node, x, y) and (_is_icon(node, app) or (twice and _is_file_of(node, app)))
            for node in (read_screen("desktop", shown) if clicks else ())
            for twice, x, y in clicks
        )


def _holds(node: ScreenNode, x: int, y: int) -> bool:
    box = node.box
    return box is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def _is_icon(node: ScreenNode, app: str) -> bool:
    """Whether an element is the icon of a program on the dock."""
    on_dock = node.role == "push-button" and node.box is not None and node.box.x == 0
    return app in (node.label, node.description) and on_dock


def _is_file_of(node: ScreenNode, app: str) -> bool:
    """Whether an element is a file that a program opens."""
    opener = next((one for one in _programs() if one.types and node.label.lower().endswith(one.types)), None)
    return node.role == "icon" and opener is not None and opener.name == app


def _programs() -> Collection[Program]:
    from agentworld_gym.domains.desktop.engine.programs import programs

    return programs().values()


def _commands(name: str) -> tuple[str, ...]:
    """Return the commands of a program, and its helper object."""
    [program] = (program for program in _programs() if program.name == name)
    return (*program.commands, *filter(None, [program.tools]))
