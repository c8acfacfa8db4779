"""The module `pyautogui` of a live desktop: mouse and keyboard of its X server, by the extension XTEST.

Each call waits until the programs are at rest, so that the next one finds what this one opened.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn

from agentworld_gym.domains.desktop.live.inside.quiet import rest

PAUSE = 0.1
FAILSAFE = False

KEYS = {
    "enter": "Return",
    "tab": "Tab",
    "esc": "Escape",
    "space": "space",
    "backspace": "BackSpace",
    "delete": "Delete",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
    "pageup": "Page_Up",
    "pagedown": "Page_Down",
    "insert": "Insert",
    "printscreen": "Print",
    "menu": "Menu",
    "capslock": "Caps_Lock",
    "ctrl": "Control_L",
    "alt": "Alt_L",
    "shift": "Shift_L",
    "super": "Super_L",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}
"""The keys by their names in `pyautogui`, with their names in X."""

ALIASES = {
    "return": "enter",
    "\n": "enter",
    "\r": "enter",
    "\t": "tab",
    "\b": "backspace",
    "escape": "esc",
    "del": "delete",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "control": "ctrl",
    "option": "alt",
    "prntscrn": "printscreen",
    "prtsc": "printscreen",
    "apps": "menu",
    **{f"{name}{side}": name for name in ("ctrl", "alt", "shift") for side in ("left", "right")},
    **dict.fromkeys(("win", "winleft", "winright", "command", "meta"), "super"),
    **{f"num{digit}": str(digit) for digit in range(10)},
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "decimal": ".",
}

_BUTTONS = {"left": 1, "middle": 2, "right": 3, "primary": 1, "secondary": 3, 1: 1, 2: 2, 3: 3}
_KEY_PRESS, _KEY_RELEASE, _BUTTON_PRESS, _BUTTON_RELEASE, _MOTION = 2, 3, 4, 5, 6
_WHEEL = {True: (4, 5), False: (7, 6)}
"""The buttons of a wheel for positive and for negative numbers, upright or not."""
_QUIET, _WAIT, _MOST = 0.06, 2.0, 8.0
_DOUBLE = 0.45
"""How many seconds apart two clicks of different actions are, so that they are no double click."""
_MOST_TURNS = 300
"""How many turns of the wheel one call makes at most."""


class PyAutoGUIException(Exception):
    """What `pyautogui` raises."""


class ImageNotFoundException(PyAutoGUIException):
    """There are no pictures in an action."""


class _Device:
    """The mouse and the keyboard."""

    def __init__(self) -> None:
        from Xlib import XK, Xatom, display
        from Xlib.ext import xtest

        self._display, self._input, self._keysym = display.Display(), xtest.fake_input, XK.string_to_keysym
        self.root = self._display.screen().root
        self.apart = float(os.environ.get("AGENTWORLD_CLICKED", "0")) + _DOUBLE
        """The moment from which on a click is no second one of a click before this action."""
        self._note = self._display.intern_atom("_AGENTWORLD_SPARE_KEY")
        held = self.root.get_full_property(self._note, Xatom.CARDINAL)
        self._spare: int | None = held.value[0] if held else None
        """The key that has the symbols which the keyboard lacks, one at a time; actions before may have chosen it."""
        self._symbol: int | None = None
        """The symbol that this action gave to it last."""

    def position(self) -> tuple[int, int]:
        where = self.root.query_pointer()
        return where.root_x, where.root_y

    def size(self) -> tuple[int, int]:
        screen = self._display.screen()
        return screen.width_in_pixels, screen.height_in_pixels

    def send(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        self._input(self._display, kind, detail, x=x, y=y)

    def move(self, x: float, y: float) -> None:
        wide, high = self.size()
        self.send(_MOTION, 0, min(max(int(x), 0), wide - 1), min(max(int(y), 0), high - 1))

    def activate(self) -> None:
        """Give the window below the pointer the focus before a button goes down.

        The window manager does so at the press itself. A program that opens a menu then takes the keyboard at the same
        time, and whether it knows of its focus afterwards would depend on who was first.
        """
        from Xlib import X
        from Xlib.protocol.event import ClientMessage

        frame = self.root.query_pointer().child
        listed = self.root.get_full_property(self._display.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
        active = self.root.get_full_property(self._display.intern_atom("_NET_ACTIVE_WINDOW"), X.AnyPropertyType)
        if not frame or listed is None:  # The pointer is over nothing.
            return
        inside = [window.id for window in frame.query_tree().children]
        for client in set(inside) & set(listed.value):
            if active is None or client not in active.value:
                window = self._display.create_resource_object("window", client)
                kind = self._display.intern_atom("_NET_ACTIVE_WINDOW")
                asked = ClientMessage(window=window, client_type=kind, data=(32, [2, X.CurrentTime, 0, 0, 0]))
                self.root.send_event(asked, X.SubstructureRedirectMask | X.SubstructureNotifyMask)
                self.settle()

    def settle(self) -> None:
        self._display.sync()
        rest(_QUIET, _WAIT, _MOST)

    def key(self, name: str) -> tuple[int, bool] | None:
        """Return the code of a key, and whether Shift belongs to it; None where there is no such key."""
        if len(name) > 1 or name in ALIASES:
            name = name.lower()
            name = ALIASES.get(name, name)
            if len(name) > 1 and name not in KEYS:
                return None
        symbol = self._keysym(KEYS[name]) if name in KEYS else ord(name) if ord(name) < 256 else 0x1000000 | ord(name)
        if len(name) == 1 and ord(name) < 32:
            return None
        for code, level in sorted(self._display.keysym_to_keycodes(symbol), key=lambda one: one[1]):
            if level in (0, 1) and code != self._spare:
                return code, level == 1
        return self._spare_key(symbol), False

    def _spare_key(self, symbol: int) -> int:
        """Give a spare key a symbol that the keyboard lacks.

        Raises:
            PyAutoGUIException: All keys have symbols.
        """
        if symbol == self._symbol and self._spare is not None:
            return self._spare
        if self._spare is None:
            self._spare = self._free_key()
        self.settle()  # Programs read the keys before with the symbols of before.
        self._display.change_keyboard_mapping(self._spare, [[symbol, symbol]])
        self._symbol = symbol
        self.settle()
        return self._spare

    def _free_key(self) -> int:
        from Xlib import Xatom

        first, last = self._display.display.info.min_keycode, self._display.display.info.max_keycode
        held = self._display.get_keyboard_mapping(first, last - first + 1)
        free: list[int] = [first + place for place, symbols in enumerate(held) if not any(symbols)]
        if not free:
            raise PyAutoGUIException("the keyboard has no key for this character, and none that is free")
        self.root.change_property(self._note, Xatom.CARDINAL, 32, free[-1:])
        return free[-1]


@lru_cache(maxsize=1)
def _device() -> _Device:
    return _Device()


def _point(x: Any, y: Any) -> tuple[float, float]:
    if isinstance(x, list | tuple) and len(x) == 2 and y is None:
        x, y = x
    now = _device().position()
    return (now[0] if x is None else _number(x)), (now[1] if y is None else _number(y))


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise ImageNotFoundException(f"could not locate the image {value[:80]!r}")
    return float(value)


def _button(name: Any) -> int:
    try:
        return _BUTTONS[name.lower() if isinstance(name, str) else name]
    except (KeyError, TypeError):
        names = "('left', 'middle', 'right', 'primary', 'secondary')"
        raise PyAutoGUIException(f"button argument not in {names}") from None


def _go(x: Any, y: Any) -> None:
    if x is not None or y is not None:
        _device().move(*_point(x, y))
        _device().settle()


def _down(button: int) -> None:
    device = _device()
    device.activate()
    time.sleep(max(0.0, device.apart - time.monotonic()))
    device.send(_BUTTON_PRESS, button)


def click(
    x: Any = None,
    y: Any = None,
    clicks: int = 1,
    interval: float = 0.0,
    button: Any = "left",
    duration: float = 0.0,
    **options: Any,
) -> None:
    """Click at a point, or where the pointer is."""
    number = _button(button)
    _go(x, y)
    for one in range(int(clicks)):
        if one:
            time.sleep(max(interval, 0.02))
        _down(number)
        _device().send(_BUTTON_RELEASE, number)
        _device().root.query_pointer()
    _device().settle()


def doubleClick(x: Any = None, y: Any = None, interval: float = 0.0, button: Any = "left", **options: Any) -> None:
    """Click twice."""
    click(x, y, 2, interval, button)


def tripleClick(x: Any = None, y: Any = None, interval: float = 0.0, button: Any = "left", **options: Any) -> None:
    """Click three times."""
    click(x, y, 3, interval, button)


def rightClick(x: Any = None, y: Any = None, **options: Any) -> None:
    """Click with the right button."""
    click(x, y, button="right")


def middleClick(x: Any = None, y: Any = None, **options: Any) -> None:
    """Click with the middle button."""
    click(x, y, button="middle")


leftClick = click


def moveTo(x: Any = None, y: Any = None, duration: float = 0.0, tween: Any = None, **options: Any) -> None:
    """Move the pointer to a point."""
    _device().move(*_point(x, y))
    _device().settle()


def moveRel(xOffset: Any = 0, yOffset: Any = 0, duration: float = 0.0, tween: Any = None, **options: Any) -> None:
    """Move the pointer by a distance."""
    moveTo(*_away(xOffset, yOffset))


move = moveRel


def _away(across: Any, down: Any) -> tuple[float, float]:
    if isinstance(across, list | tuple) and len(across) == 2:
        across, down = across
    x, y = _device().position()
    return x + _number(across or 0), y + _number(down or 0)


def dragTo(
    x: Any = None, y: Any = None, duration: float = 0.0, tween: Any = None, button: Any = "left", **options: Any
) -> None:
    """Drag to a point, over the points between."""
    number, device = _button(button), _device()
    (x1, y1), (x2, y2) = device.position(), _point(x, y)
    _down(number)
    device.settle()
    steps = 10
    for step in range(1, steps + 1):
        device.move(x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps)
        device.settle()
    device.send(_BUTTON_RELEASE, number)
    device.settle()


def dragRel(
    xOffset: Any = 0, yOffset: Any = 0, duration: float = 0.0, tween: Any = None, button: Any = "left", **options: Any
) -> None:
    """Drag by a distance."""
    dragTo(*_away(xOffset, yOffset), button=button)


drag = dragRel


def mouseDown(x: Any = None, y: Any = None, button: Any = "left", **options: Any) -> None:
    """Press a mouse button."""
    number = _button(button)
    _go(x, y)
    _down(number)
    _device().settle()


def mouseUp(x: Any = None, y: Any = None, button: Any = "left", **options: Any) -> None:
    """Release a mouse button."""
    number = _button(button)
    _go(x, y)
    _device().send(_BUTTON_RELEASE, number)
    _device().settle()


def _turn(clicks: Any, upright: bool, x: Any, y: Any) -> None:
    _go(x, y)
    up, down = _WHEEL[upright]
    turns = int(_number(clicks))
    for _ in range(min(abs(turns), _MOST_TURNS)):
        _device().send(_BUTTON_PRESS, up if turns > 0 else down)
        _device().send(_BUTTON_RELEASE, up if turns > 0 else down)
    _device().settle()


def scroll(clicks: Any, x: Any = None, y: Any = None, **options: Any) -> None:
    """Turn the wheel; positive numbers are up."""
    _turn(clicks, True, x, y)


vscroll = scroll


def hscroll(clicks: Any, x: Any = None, y: Any = None, **options: Any) -> None:
    """Turn the wheel sideways; positive numbers are right."""
    _turn(clicks, False, x, y)


def _stroke(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a key is a text, not '{type(name).__name__}'")
    device, found = _device(), _device().key(name)
    if found is None:
        return
    code, shifted = found
    shift = device.key("shift")
    assert shift is not None
    if shifted:
        device.send(_KEY_PRESS, shift[0])
    device.send(_KEY_PRESS, code)
    device.send(_KEY_RELEASE, code)
    if shifted:
        device.send(_KEY_RELEASE, shift[0])


def write(message: Any, interval: float = 0.0, **options: Any) -> None:
    """Type a text, or the keys of a list."""
    for key in message:
        _stroke(key)
        if interval > 0 or key in ("\n", "\r", "enter"):
            _device().settle()
    _device().settle()


typewrite = write


def press(keys: Any, presses: int = 1, interval: float = 0.0, **options: Any) -> None:
    """Press a key or the keys of a list."""
    for _ in range(int(presses)):
        for key in [keys] if isinstance(keys, str) else keys:
            _stroke(key)
            _device().settle()


def keyDown(key: Any, **options: Any) -> None:
    """Press a key and hold it."""
    found = _device().key(key)
    if found is not None:
        _device().send(_KEY_PRESS, found[0])
        _device().settle()


def keyUp(key: Any, **options: Any) -> None:
    """Release a key."""
    found = _device().key(key)
    if found is not None:
        _device().send(_KEY_RELEASE, found[0])
        _device().settle()


def hotkey(*keys: Any, **options: Any) -> None:
    """Press keys in this order, and release them in reverse order."""
    names = list(keys[0]) if len(keys) == 1 and isinstance(keys[0], list | tuple) else list(keys)
    codes = [found[0] for found in (_device().key(name) for name in names) if found is not None]
    for code in codes:
        _device().send(_KEY_PRESS, code)
    for code in reversed(codes):
        _device().send(_KEY_RELEASE, code)
    _device().settle()


@contextmanager
def hold(keys: Any, **options: Any) -> Iterator[None]:
    """Hold keys down within a `with` block."""
    names = [keys] if isinstance(keys, str) else list(keys)
    for name in names:
        keyDown(name)
    try:
        yield
    finally:
        for name in reversed(names):
            keyUp(name)


def position() -> tuple[int, int]:
    """Return where the pointer is."""
    return _device().position()


def size() -> tuple[int, int]:
    """Return the size of the screen."""
    return _device().size()


def onScreen(x: Any, y: Any = None) -> bool:
    """Return whether a point is on the screen."""
    (x, y), (wide, high) = _point(x, y), size()
    return bool(0 <= x < wide and 0 <= y < high)


sleep = time.sleep


def _no_image(*args: Any, **options: Any) -> NoReturn:
    raise ImageNotFoundException("images are not available in an action")


locateOnScreen = locateCenterOnScreen = locateAllOnScreen = locate = _no_image
screenshot = pixel = pixelMatchesColor = alert = confirm = prompt = _no_image
