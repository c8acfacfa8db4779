"""The module `pyautogui` over the mouse and the keyboard of the desktop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.geometry import HEIGHT, WIDTH
from agentworld_gym.domains.desktop.engine.interpreter.values import CodeException, Exhausted, Function, Namespace
from agentworld_gym.domains.desktop.engine.keyboard import Keyboard, key_name
from agentworld_gym.domains.desktop.engine.mouse import Mouse

MAX_EVENTS = 300
"""The largest number of clicks and keys in one action."""
MAX_SLEEP = 3_600.0
PAUSE = 0.1
_BUTTONS = {"left": "left", "middle": "middle", "right": "right", "primary": "left", "secondary": "right"}
_NUMBERED = {1: "left", 2: "middle", 3: "right"}


class PyAutoGui:
    """What code does to the mouse and the keyboard."""

    def __init__(self, desktop: Desktop, mouse: Mouse, keyboard: Keyboard) -> None:
        self.desktop, self.mouse, self.keyboard = desktop, mouse, keyboard
        self.events = 0

    def rest(self) -> None:
        """Begin an action with a full budget of events."""
        self.events = 0
        self.mouse.rest()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions of `pyautogui` by name."""
        return {
            "click": self.click,
            "leftClick": self.click,
            "doubleClick": lambda x=None, y=None, **options: self.click(x, y, 2, **_only(options)),
            "tripleClick": lambda x=None, y=None, **options: self.click(x, y, 3, **_only(options)),
            "rightClick": lambda x=None, y=None, **options: self.click(x, y, 1, 0.0, "right"),
            "middleClick": lambda x=None, y=None, **options: self.click(x, y, 1, 0.0, "middle"),
            "moveTo": self.move_to,
            "moveRel": self.move,
            "move": self.move,
            "dragTo": self.drag_to,
            "dragRel": self.drag,
            "drag": self.drag,
            "mouseDown": self.mouse_down,
            "mouseUp": self.mouse_up,
            "scroll": self.scroll,
            "vscroll": self.scroll,
            "hscroll": self.hscroll,
            "write": self.write,
            "typewrite": self.write,
            "press": self.press,
            "hotkey": self.hotkey,
            "keyDown": self.key_down,
            "keyUp": self.key_up,
            "hold": self.hold,
            "position": lambda: self.mouse.position,
            "size": lambda: (WIDTH, HEIGHT),
            "onScreen": lambda x, y: 0 <= _number(x) < WIDTH and 0 <= _number(y) < HEIGHT,
            "sleep": self.sleep,
            **dict.fromkeys(_IMAGES, _no_image),
        }

    def click(
        self,
        x: Any = None,
        y: Any = None,
        clicks: Any = 1,
        interval: Any = 0.0,
        button: Any = "left",
        duration: Any = 0.0,
        **options: Any,
    ) -> None:
        """Click at a point, or where the pointer is."""
        name = _button(button)
        self._go(x, y)
        for number in range(_count(clicks)):
            self._event()
            if number:
                self.mouse.wait(max(_number(interval), 0.05))
            self.mouse.down(name)
            self.mouse.up(name, self.keyboard.held)
        self.mouse.wait(PAUSE)

    def move_to(self, x: Any = None, y: Any = None, duration: Any = 0.0, **options: Any) -> None:
        """Move the pointer to a point."""
        self._event()
        self._go(x, y)

    def move(self, xOffset: Any = 0, yOffset: Any = 0, duration: Any = 0.0, **options: Any) -> None:
        """Move the pointer by a distance."""
        self._event()
        x, y = self.mouse.position
        across, down = xOffset if isinstance(xOffset, list | tuple) and len(xOffset) == 2 else (xOffset, yOffset)
        self.mouse.move(x + _number(across or 0), y + _number(down or 0))

    def drag_to(
        self, x: Any = None, y: Any = None, duration: Any = 0.0, tween: Any = None, button: Any = "left", **options: Any
    ) -> None:
        """Drag to a point."""
        name = _button(button)
        self._event()
        self.mouse.down(name)
        self._go(x, y)
        self.mouse.up(name, self.keyboard.held)

    def drag(
        self,
        xOffset: Any = 0,
        yOffset: Any = 0,
        duration: Any = 0.0,
        tween: Any = None,
        button: Any = "left",
        **options: Any,
    ) -> None:
        """Drag by a distance."""
        name = _button(button)
        self._event()
        self.mouse.down(name)
        self.move(xOffset, yOffset)
        self.mouse.up(name, self.keyboard.held)

    def mouse_down(self, x: Any = None, y: Any = None, button: Any = "left", **options: Any) -> None:
        """Press a mouse button."""
        self._event()
        self._go(x, y)
        self.mouse.down(_button(button))

    def mouse_up(self, x: Any = None, y: Any = None, button: Any = "left", **options: Any) -> None:
        """Release a mouse button."""
        self._event()
        self._go(x, y)
        self.mouse.up(_button(button), self.keyboard.held)

    def scroll(self, clicks: Any, x: Any = None, y: Any = None, **options: Any) -> None:
        """Turn the wheel; positive numbers are up."""
        self._event()
        self._go(x, y)
        self.mouse.scroll(-min(max(_number(clicks), -10_000), 10_000))

    def hscroll(self, clicks: Any, x: Any = None, y: Any = None, **options: Any) -> None:
        """Turn the wheel sideways; positive numbers are right."""
        self._event()
        self._go(x, y)
        self.mouse.scroll(min(max(_number(clicks), -10_000), 10_000), sideways=True)

    def write(self, message: Any, interval: Any = 0.0, **options: Any) -> None:
        """Type a text, or the keys of a list."""
        if isinstance(message, list | tuple):
            for key in message:
                self._press(key)
        elif isinstance(message, str):
            for line in message.splitlines(keepends=True):
                self._event()
                self.keyboard.write(line)
        else:
            raise CodeException("TypeError", f"'{type(message).__name__}' object is not iterable")

    def press(self, keys: Any, presses: Any = 1, interval: Any = 0.0, **options: Any) -> None:
        """Press a key or the keys of a list."""
        names = [keys] if isinstance(keys, str) else keys
        if not isinstance(names, list | tuple):
            raise CodeException("TypeError", f"'{type(keys).__name__}' object is not iterable")
        for _ in range(_count(presses)):
            for key in names:
                self._press(key)

    def hotkey(self, *keys: Any, **options: Any) -> None:
        """Press keys in this order, and release them in reverse order."""
        if len(keys) == 1 and isinstance(keys[0], list | tuple):
            keys = tuple(keys[0])
        named = [name for name in (self._key(key) for key in keys) if name is not None]
        for name in named:
            self._event()
            self.keyboard.down(name)
        for name in reversed(named):
            self.keyboard.up(name)

    def key_down(self, key: Any, **options: Any) -> None:
        """Press a key and hold it."""
        self._event()
        name = self._key(key)
        if name is not None:
            self.keyboard.down(name)

    def key_up(self, key: Any, **options: Any) -> None:
        """Release a key."""
        self._event()
        name = self._key(key)
        if name is not None:
            self.keyboard.up(name)

    def hold(self, keys: Any, **options: Any) -> Namespace:
        """Hold keys down within a `with` block."""
        names = [keys] if isinstance(keys, str) else list(keys)
        for key in names:
            self.key_down(key)

        def release() -> None:
            for key in reversed(names):
                name = self._key(key)
                if name is not None:
                    self.keyboard.up(name)

        return Namespace("hold", {"close": Function("close", release)}, "object")

    def sleep(self, seconds: Any) -> None:
        """Let time pass."""
        time = _number(seconds)
        if time < 0:
            raise CodeException("ValueError", "sleep length must be non-negative")
        self.mouse.wait(time)
        self.desktop.advance(min(time, MAX_SLEEP))

    def _press(self, key: Any) -> None:
        self._event()
        name = self._key(key)
        if name is not None:
            self.keyboard.press(name)

    def _key(self, key: Any) -> str | None:
        if not isinstance(key, str):
            raise CodeException("TypeError", f"a key is a text, not '{type(key).__name__}'")
        return key_name(key)

    def _go(self, x: Any, y: Any) -> None:
        if isinstance(x, list | tuple) and len(x) == 2 and y is None:
            x, y = x
        now = self.mouse.position
        self.mouse.move(now[0] if x is None else _number(x), now[1] if y is None else _number(y))

    def _event(self) -> None:
        self.events += 1
        if self.events > MAX_EVENTS:
            raise Exhausted("TimeoutError", "the action did not end in time")


_IMAGES = [
    "locateOnScreen",
    "locateCenterOnScreen",
    "locateAllOnScreen",
    "locate",
    "screenshot",
    "pixel",
    "pixelMatchesColor",
    "alert",
    "confirm",
    "prompt",
]


def _no_image(*args: Any, **kwargs: Any) -> None:
    raise CodeException("ImageNotFoundException", "images are not available in an action")


def _only(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in ("interval", "button", "duration")}


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise CodeException("ImageNotFoundException", f"could not locate the image {value[:80]!r}")
    if not isinstance(value, int | float):
        raise CodeException("TypeError", f"a number is wanted, not '{type(value).__name__}'")
    if isinstance(value, float) and not math.isfinite(value):
        raise CodeException("ValueError", "cannot convert float NaN or infinity to integer")
    return float(min(max(value, -(10**9)), 10**9))


def _count(value: Any) -> int:
    return min(max(int(_number(value)), 0), MAX_EVENTS + 1)


def _button(value: Any) -> str:
    name = (
        _BUTTONS.get(value.lower())
        if isinstance(value, str)
        else _NUMBERED.get(value)
        if isinstance(value, int)
        else None
    )
    if name is None:
        raise CodeException(
            "PyAutoGUIException", "button argument not in ('left', 'middle', 'right', 'primary', 'secondary')"
        )
    return name
