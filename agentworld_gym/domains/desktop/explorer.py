"""The explorer of desktops."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterator

from agentworld_gym.agents.policies.exploring.base import ScreenExplorer
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.node import ScreenNode

CLICKED = {
    "push-button": 1.0,
    "toggle-button": 0.7,
    "menu": 1.0,
    "menu-item": 6.0,
    "check-menu-item": 6.0,
    "list-item": 1.0,
    "icon": 1.0,
    "switch": 2.5,
    "radio-button": 1.5,
    "check-box": 2.0,
    "combo-box": 1.5,
    "slider": 1.5,
    "page-tab": 1.0,
    "link": 1.0,
    "table-cell": 0.5,
    "row-header": 0.1,
    "column-header": 0.2,
    "entry": 0.5,
    "text": 0.8,
    "terminal": 0.8,
    "label": 0.05,
}
"""How often an element of each role is clicked."""
OPENED = ("icon", "list-item", "table-cell")
WITH_MENU = ("icon", "text", "table-cell", "terminal", "entry")
TYPED = ("entry", "text", "terminal", "table-cell")
RARE = ("Close", "Minimize", "Maximize", "Restore Down")
FINAL = ("Power Off", "Log Out", "Restart", "Suspend", "Lock")
KEYS = ("enter", "tab", "escape", "up", "down", "left", "right", "delete", "backspace", "f2", "home", "end", "space")
SHORTCUTS = (
    ("ctrl", "s"),
    ("ctrl", "s"),
    ("ctrl", "a"),
    ("ctrl", "c"),
    ("ctrl", "v"),
    ("ctrl", "z"),
    ("ctrl", "f"),
    ("ctrl", "n"),
    ("ctrl", "l"),
    ("alt", "f4"),
    ("alt", "tab"),
    ("shift", "tab"),
)
COMMANDS = ("ls", "pwd", "ls -l", "ls Documents", "cat Documents/notes.txt", "date", "cd Documents", "cd ..", "whoami")
_HEIGHT_OF_TOP_BAR = 27
_WIDTH_OF_DOCK = 70
_WIDTH, _HEIGHT = 1920, 1080


class DesktopExplorer(ScreenExplorer):
    """An explorer that mostly uses the window in front, and errs at times."""

    openings = (
        "pyautogui.click(@{push-button {number}})",
        "pyautogui.click(@{push-button {number}})",
        "pyautogui.click(@{list-item {number}})",
        "pyautogui.click(@{list-item {number}})",
        "pyautogui.doubleClick(@{icon {number}})",
        "pyautogui.click(@{menu {number}})",
    )
    blind = "time.sleep(1)"

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        files = [str(path) for path in task.state.get("files", {})]
        self._files = [path for path in files if "/." not in path]
        self._programs = task.state.get("programs")
        """The programs of a live desktop; None on the grounded one."""

    def draft(self) -> str:
        """Draft one piece of code."""
        if any(node.role.endswith("menu-item") for node in self.nodes):
            return "pyautogui.press('escape')" if self.chance(0.12) else self.click()
        return self.weighted(_KINDS)(self)

    def click(self) -> str:
        """Click an element, mostly in its middle."""
        node = self.pick(self._shares(), self._window())
        return self.nothing() if node is None else f"pyautogui.click({self._point(node)})"

    def open(self) -> str:
        """Double-click an element."""
        node = self.pick(((node, share) for node, share in self._shares() if node.role in OPENED), "open")
        return self.click() if node is None else f"pyautogui.doubleClick({self._point(node)})"

    def context(self) -> str:
        """Right-click an element."""
        node = self.pick(((node, share) for node, share in self._shares() if node.role in WITH_MENU), "context")
        return self.click() if node is None else f"pyautogui.rightClick({self._point(node)})"

    def type(self) -> str:
        """Type a text where the focus is, or into a field that is clicked first."""
        focused = next((node for node in self.nodes if "focused" in node.description.split()), None)
        if focused is not None and self.chance(0.4):
            return self._writing(focused.role)
        fields = [(node, share) for node, share in self._shares() if node.role in TYPED]
        node = self.pick(fields, "type")
        if node is None:
            return self.click()
        lines = [f"pyautogui.click({self._point(node)})"]
        if node.role == "entry" or (node.role == "text" and self.chance(0.2)):
            lines.append("pyautogui.hotkey('ctrl', 'a')")
        return "\n".join((*lines, self._writing(node.role)))

    def key(self) -> str:
        """Press a key, at times several times, mostly where an element has the focus."""
        if not any("focused" in node.description or node.role == "dialog" for node in self.nodes) and self.chance(0.6):
            return self.click()
        key = self.rng.choice(KEYS)
        return f"pyautogui.press({key!r}, presses={self.rng.randint(2, 4)})" if self.chance(0.1) else press(key)

    def shortcut(self) -> str:
        """Press a combination of keys."""
        if not self._window():
            return self.click()
        return "pyautogui.hotkey({!r}, {!r})".format(*self.rng.choice(SHORTCUTS))

    def helper(self) -> str:
        """Use a helper object if its program is open; otherwise start a program."""
        if self._programs:
            program = self.rng.choice(self._programs)
            return f"subprocess.Popen({shlex.split(program) if isinstance(program, str) else [*program]!r})"
        cells = [node for node in self.nodes if node.role == "table-cell" and node.name.isalnum()]
        if cells:
            cell = self.rng.choice(cells).name
            return self.rng.choice(
                (
                    f"CalcTools.set_cell_values(new_values=[{self._number()!r}], range={cell!r})",
                    f"CalcTools.set_cell_values(new_values=[{self.words.word!r}], range={cell!r})",
                    "CalcTools.save()",
                )
            )
        if any(node.role == "push-button" and node.name == "Reload" for node in self.nodes):
            return self.rng.choice(("BrowserTools.back()", "BrowserTools.new_tab()", "BrowserTools.reload()"))
        programs = [["gnome-control-center"], ["gnome-terminal"], ["gnome-calculator"], ["nautilus", "/home/user"]]
        programs += [["gedit", path] for path in self._files if path.endswith((".txt", ".md", ".log"))]
        programs += [["libreoffice", "--calc", path] for path in self._files if path.endswith((".csv", ".ods"))]
        return f"subprocess.Popen({self.rng.choice(programs)!r})"

    def nothing(self) -> str:
        """Click a random point of the screen."""
        x, y = self.rng.randint(80, _WIDTH - 1), self.rng.randint(30, _HEIGHT - 1)
        return f"pyautogui.click({x}, {y})"

    def scroll(self) -> str:
        """Turn the wheel over an element."""
        node = self.pick(self._shares(), "scroll")
        lines = [] if node is None else [f"pyautogui.moveTo({self._point(node)})"]
        return "\n".join((*lines, f"pyautogui.scroll({self.rng.choice((-10, -5, -3, 3, 5))})"))

    def drag(self) -> str:
        """Drag from one element to another."""
        first, second = self.pick(self._shares(), "drag"), self.pick(self._shares(), "drag")
        if first is None or second is None:
            return self.nothing()
        return f"pyautogui.moveTo({self._point(first)})\npyautogui.dragTo({self._point(second)})"

    def wait(self) -> str:
        """Wait a moment."""
        return f"time.sleep({self.rng.choice((0.5, 1, 2))})"

    def wrong(self) -> str:
        """Draft code that raises, or that reaches nothing."""
        return self.rng.choice(
            (
                f"pyautogui.clik({self.rng.randint(1, 1900)}, {self.rng.randint(1, 1000)})",
                f"pyautogui.press({self.words.word!r})",
                f"open('/home/user/{self.words.word}.txt').read()",
                "pyautogui.click(",
                f"CalcTools.set_cell_values(new_values=[{self._number()!r}], range='ZZ')",
                f"subprocess.Popen([{self.words.word.lower()!r}])",
            )
        )

    def _writing(self, role: str) -> str:
        """Return code that types what suits an element, often with Enter."""
        if role == "terminal":
            commands = [f"cat {path}" for path in self._files] + list(COMMANDS)
            return f"pyautogui.write({self.rng.choice(commands)!r})\npyautogui.press('enter')"
        text = self._number() if role == "table-cell" and self.chance(0.6) else self.words.text
        if role == "table-cell" and self.chance(0.15):
            text = self.rng.choice(("=SUM(B2:B4)", "=B2*2", "=A2", "=MAX(B2:B9)"))
        ends = {"table-cell": 0.85, "entry": 0.6, "text": 0.15}
        enter = "\npyautogui.press('enter')" if self.chance(ends.get(role, 0.2)) else ""
        return f"pyautogui.write({text!r}){enter}"

    def _number(self) -> str:
        return str(self.rng.randint(1, 120))

    def _point(self, node: ScreenNode) -> str:
        """Return where to click an element: in its middle, or elsewhere inside it."""
        assert node.box is not None
        x, y = node.box.centre
        if self.chance(0.2) and node.box.width > 8 and node.box.height > 8:
            x = node.box.x + self.rng.randint(3, node.box.width - 4)
            y = node.box.y + self.rng.randint(3, node.box.height - 4)
        return f"{x}, {y}"

    def _window(self) -> str:
        """Return the name of the window in front."""
        return next((node.name for node in self.nodes if node.role in ("dialog", "frame")), "")

    def _shares(self) -> list[tuple[ScreenNode, float]]:
        """Return what can be clicked, with the largest shares for the menu, the dialog and the window in front."""
        return list(self._weighed())

    def _weighed(self) -> Iterator[tuple[ScreenNode, float]]:
        windows, dialog = 0, False
        cells = sum(node.role == "table-cell" for node in self.nodes)
        for node in self.nodes:
            if node.role in ("frame", "dialog"):
                dialog = dialog or node.role == "dialog"
                windows += 1
            share = CLICKED.get(node.role)
            if share is None or node.box is None:
                continue
            if node.role == "table-cell":
                share *= min(1.0, 12 / cells)
            if node.box.y < _HEIGHT_OF_TOP_BAR or (node.box.x == 0 and node.box.width == _WIDTH_OF_DOCK):
                share *= 0.12 if windows or not dialog else 0.3
            elif windows > 1:
                share *= 0.15
            if node.name.startswith(FINAL):
                share *= 0.03
            elif node.name in RARE:
                share *= 0.15
            yield node, share


_KINDS: tuple[tuple[Callable[[DesktopExplorer], str], float], ...] = (
    (DesktopExplorer.click, 0.52),
    (DesktopExplorer.open, 0.07),
    (DesktopExplorer.context, 0.04),
    (DesktopExplorer.type, 0.14),
    (DesktopExplorer.key, 0.06),
    (DesktopExplorer.shortcut, 0.05),
    (DesktopExplorer.helper, 0.03),
    (DesktopExplorer.nothing, 0.02),
    (DesktopExplorer.scroll, 0.02),
    (DesktopExplorer.drag, 0.01),
    (DesktopExplorer.wait, 0.01),
    (DesktopExplorer.wrong, 0.02),
)


def press(key: str) -> str:
    """Return the code that presses one key.

    >>> press("enter")
    "pyautogui.press('enter')"
    """
    return f"pyautogui.press({key!r})"
