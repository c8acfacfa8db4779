"""The agent's actions as lines of the phone's shell: `input` for touches, keys and text, `am` for apps."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Mapping
from typing import Any, TypeGuard

from agentworld_gym.domains.android.actions.gestures import HEIGHT, WIDTH, Point, swipe_end
from agentworld_gym.domains.android.live.dump import PhoneDump, PhoneElement

KEYS = {"navigate_back": 4, "navigate_home": 3, "keyboard_enter": 66}
"""The actions that press a key, with its code."""

HOME = "input keyevent 3"
"""The line that presses the button home."""

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""The keyboard that types all characters."""

_MOVE_END, _DELETE, _DELETE_AHEAD = 123, 67, 112
_MOST_DELETED = 500
_HOLD, _SWIPE, _SCROLL = 1000, 300, 800
"""How many milliseconds a finger stays, and takes for a swipe and for a scroll, after which nothing goes on moving."""

_EDGE = 8
"""A scroll leaves an eighth of the height at both ends, so that it moves the content by three quarters of it."""

_FINGER = {"up": "down", "down": "up", "left": "right", "right": "left"}


class Untypable(Exception):
    """A text has a character that no key of the phone types."""


def point_of(action: Mapping[str, Any], screen: PhoneDump) -> Point | None:
    """Return the pixel that an action points at; None where it names none on the screen."""
    if "index" in action:
        element = element_of(action, screen)
        return None if element is None else element.middle
    x, y = action.get("x"), action.get("y")
    if _is_whole(x, WIDTH) and _is_whole(y, HEIGHT):
        return screen.pixel(int(x), int(y))
    return None


def element_of(action: Mapping[str, Any], screen: PhoneDump) -> PhoneElement | None:
    """Return the element that an action names by its index; None where there is none."""
    index = action.get("index")
    return screen.elements[int(index)] if _is_whole(index, len(screen.elements)) else None


def _is_whole(value: object, limit: int) -> TypeGuard[int | float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < limit and value == int(value)


def touched(kind: str, point: Point) -> str:
    """Return the line of a touch: a `click`, a `long_press` or a `double_tap`.

    >>> touched("long_press", (5, 6))
    'input swipe 5 6 5 6 1000'
    """
    x, y = point
    if kind == "long_press":
        return f"input swipe {x} {y} {x} {y} {_HOLD}"
    tap = f"input tap {x} {y}"
    return f"{tap}; {tap}" if kind == "double_tap" else tap


def moved(action: Mapping[str, Any], screen: PhoneDump) -> str | None:
    """Return the line of a `scroll` or a `swipe`; None where its target is not on the screen."""
    direction = str(action.get("direction"))
    if direction not in _FINGER:
        return None
    aimed = "index" in action or "x" in action
    point = point_of(action, screen) if aimed else (screen.size[0] // 2, screen.size[1] // 2)
    if point is None:
        return None
    if action.get("action_type") == "swipe":
        x, y = point[0] * WIDTH // screen.size[0], point[1] * HEIGHT // screen.size[1]
        return _drawn(point, screen.pixel(*swipe_end((x, y), direction)), _SWIPE)
    left, top, right, bottom = _area(action, screen, point if aimed else None)
    x, y = (left + right) // 2, (top + bottom) // 2
    across, down = (right - left) // _EDGE, (bottom - top) // _EDGE
    starts = {
        "up": (x, top + down),
        "down": (x, bottom - down),
        "left": (left + across, y),
        "right": (right - across, y),
    }
    return _drawn(starts[direction], starts[_FINGER[direction]], _SCROLL)


def _drawn(start: Point, end: Point, milliseconds: int) -> str:
    return f"input swipe {start[0]} {start[1]} {end[0]} {end[1]} {milliseconds}"


def _area(action: Mapping[str, Any], screen: PhoneDump, point: Point | None) -> tuple[int, int, int, int]:
    """Return the box that a scroll moves: that of the element which is named, the smallest one around the point that
    scrolls, the largest one that scrolls, or the whole screen."""
    named = element_of(action, screen)
    if named is not None and "scrollable" in named.flags:
        return named.box
    boxes = [one.box for one in screen.elements if "scrollable" in one.flags]
    if point is not None:
        boxes = [box for box in boxes if box[0] <= point[0] < box[2] and box[1] <= point[1] < box[3]]
    if not boxes:
        return (0, 0, *screen.size)

    def size(box: tuple[int, int, int, int]) -> int:
        return (box[2] - box[0]) * (box[3] - box[1])

    return max(boxes, key=size) if point is None else min(boxes, key=size)


def typed(text: str, all_characters: bool) -> list[str]:
    """Return the lines that type a text into the field with the focus.

    `input text` types `%s` as a blank and knows no other way to write one, nor to write `%s` itself.

    Args:
        text: The text. Characters that nobody sees are left out, but for line breaks.
        all_characters: Whether the phone's keyboard is `ADB_KEYBOARD`.

    Raises:
        Untypable: It has a character that is not on a keyboard.

    >>> typed("I am 5 %sure", all_characters=False)
    ['input text I%sam%s5%s%', 'input text sure']
    """
    text = "".join(letter for letter in text if letter.isprintable() or letter == "\n")
    if all_characters:
        told = base64.b64encode(text.encode("utf-8", "replace")).decode()
        return [f"am broadcast -a ADB_INPUT_B64 --es msg {told}"] if text else []
    if not text.isascii():
        raise Untypable(next(letter for letter in text if not letter.isascii()))
    lines = list[str]()
    for place, line in enumerate(text.split("\n")):
        lines += [f"input keyevent {KEYS['keyboard_enter']}"] if place else []
        pieces = re.split(r"(?<=%)(?=s)", line)
        lines += [f"input text {shlex.quote(piece.replace(' ', '%s'))}" for piece in pieces if piece]
    return lines


def at_the_end(field: PhoneElement, clear: bool) -> list[str]:
    """Return the lines that move the cursor to the end of a field, or empty it."""
    lines = [f"input keyevent {_MOVE_END}"]
    count = min(len(field.text), _MOST_DELETED)
    if clear and count:
        lines += [f"input keyevent {' '.join([str(key)] * count)}" for key in (_DELETE, _DELETE_AHEAD)]
    return lines


def started(component: str) -> str:
    """Return the line that opens an activity as an icon does, at its first screen.

    >>> started("org.example.notes/.MainActivity").partition(" -f ")[2]
    '0x10008000 -n org.example.notes/.MainActivity'
    """
    launch = "am start -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    new_and_cleared = "0x10008000"  # FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_CLEAR_TASK
    return f"{launch} -f {new_and_cleared} -n {shlex.quote(component)}"
