"""Desktops for tests, driven by locators."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.engines import Controls
from agentworld_gym.core.screens import ScreenNode, read_screen, resolve_if_shown
from agentworld_gym.domains.desktop.engine import DesktopMachine

DOCUMENTS = "/home/user/Documents"
STATE: dict[str, Any] = {
    "files": {
        f"{DOCUMENTS}/todo.txt": "Milk\nBread",
        f"{DOCUMENTS}/minutes.txt": "Agenda\nDecisions\nAgenda again",
        f"{DOCUMENTS}/offer.pdf": "Offer 4711",
        f"{DOCUMENTS}/locked.txt": {"content": "sealed", "mode": "444"},
        f"{DOCUMENTS}/.secret": "x",
    },
    "folders": [f"{DOCUMENTS}/Archive"],
    "open": [{"program": "files", "arguments": [DOCUMENTS]}],
}


class Desktop:
    """A machine, and what is on its screen."""

    def __init__(self, machine: DesktopMachine) -> None:
        self.machine = machine

    def __call__(self, *actions: str) -> str:
        """Act, with locators; every one must be on the screen."""
        for action in actions:
            resolved = resolve_if_shown(action, self.nodes)
            assert resolved is not None, f"{action} is not on the screen:\n{self.machine.observation}"
            self.machine.act(resolved)
        return self.machine.observation

    @property
    def nodes(self) -> list[ScreenNode]:
        return read_screen("desktop", self.machine.observation)

    @property
    def problem(self) -> str:
        """The last line of the traceback."""
        return self.machine.problem.rpartition("\n")[2]

    def names(self, role: str) -> list[str]:
        """The names of all elements of a role."""
        return [node.name for node in self.nodes if node.role == role]

    def text(self, role: str) -> str:
        """The text of the first element of a role."""
        return next(node.text for node in self.nodes if node.role == role)

    def has(self, locator: str) -> bool:
        """Whether a locator finds something."""
        return resolve_if_shown("@{" + locator + "}", self.nodes) is not None

    def file(self, path: str) -> Any:
        """What a file holds."""
        return self.machine.state().get(f"files{path}")


def desktop(state: dict[str, Any] | None = None, controls: dict[str, float] | None = None, **more: Any) -> Desktop:
    """A desktop with some documents and a window of their folder."""
    made = {**STATE, **(state or {}), **more}
    return Desktop(DesktopMachine.start(made, 0, Controls(controls or {}, seed=1)))
