"""The helper object `Agent`: the calls by which agents of AutoGLM-OS use mouse, keyboard and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.interpreter.pyautogui import PyAutoGui
from agentworld_gym.domains.desktop.engine.interpreter.values import CodeException

WHEEL = 100
"""How far `scroll` turns the wheel."""
PATIENCE = 1.0
"""How many seconds `wait` lets pass."""


class AgentCalls:
    """What the calls of `Agent` do, by way of `pyautogui`."""

    def __init__(self, desktop: Desktop, pyautogui: PyAutoGui) -> None:
        self._desktop, self._pyautogui = desktop, pyautogui

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the methods by name."""
        return {
            "click": self.click,
            "type": self.type,
            "drag_and_drop": self.drag_and_drop,
            "scroll": self.scroll,
            "hotkey": self.hotkey,
            "open_app": self.open_app,
            "quote": lambda content: None,
            "wait": lambda: self._pyautogui.sleep(PATIENCE),
            "exit": lambda success=True: None,
        }

    def click(self, coordinates: Any, num_clicks: Any = 1, button_type: Any = "left") -> None:
        """Click at a point."""
        self._pyautogui.click(*_point(coordinates), clicks=num_clicks, button=button_type)

    def type(self, coordinates: Any = None, text: Any = "", overwrite: Any = False, enter: Any = False) -> None:
        """Type a text, at a point where one is given; it may replace what the field holds and be followed by Enter."""
        if coordinates is not None:
            self.click(coordinates)
        if overwrite:
            self._pyautogui.hotkey("ctrl", "a")
            self._pyautogui.press("backspace")
        self._pyautogui.write(text)
        if enter:
            self._pyautogui.press("enter")

    def drag_and_drop(self, drag_from_coordinates: Any, drop_on_coordinates: Any) -> None:
        """Drag from one point to another."""
        self._pyautogui.move_to(*_point(drag_from_coordinates))
        self._pyautogui.drag_to(*_point(drop_on_coordinates))

    def scroll(self, coordinates: Any, direction: Any) -> None:
        """Turn the wheel over a point, `up` or `down`."""
        if direction not in ("up", "down"):
            raise CodeException("ValueError", "direction is 'up' or 'down'")
        self._pyautogui.move_to(*_point(coordinates))
        self._pyautogui.scroll(WHEEL if direction == "up" else -WHEEL)

    def hotkey(self, keys: Any) -> None:
        """Press the keys of a list at once."""
        if not isinstance(keys, list | tuple):
            raise CodeException("TypeError", "keys is a list")
        self._pyautogui.hotkey(*keys)

    def open_app(self, app_name: Any) -> None:
        """Open a program by its name or its command."""
        wanted = app_name.lower() if isinstance(app_name, str) else ""
        for program in self._desktop.programs.values():
            if wanted and any(wanted in name.lower() for name in (program.name, program.id, *program.commands)):
                self._desktop.launch(program.id)
                return
        raise CodeException("ValueError", f"no application of the name {wanted[:80]!r}")


def _point(coordinates: Any) -> tuple[Any, Any]:
    if not isinstance(coordinates, list | tuple) or len(coordinates) != 2:
        raise CodeException("TypeError", "coordinates is a list [x, y]")
    return coordinates[0], coordinates[1]
