"""The calls of DroidRun's tool `phone`, in XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.core.actions.syntaxes import ActionSyntax
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.android.actions.gestures import (
    BUTTONS,
    HEIGHT,
    OPPOSITE,
    WIDTH,
    place_of,
    point_of,
    pressed,
    swipe_end,
    swiped,
)

_INVOKE = re.compile(r'<invoke name="([\w-]+)">(.*?)</invoke>', re.DOTALL)
_PARAMETER = re.compile(r'<parameter name="([\w-]+)">(.*?)</parameter>', re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")
_PRESSES = {action: button for button, action in BUTTONS.items()}


def read(text: str, _tools: Toolset | None = None) -> dict[str, Any] | None:
    """Read one call of the phone; calls of `remember`, which has no effect on it, may stand beside it.

    >>> read('<invoke name="phone">\\n<parameter name="action">click</parameter>\\n'
    ...      '<parameter name="index">46</parameter>\\n</invoke>')
    {'action_type': 'click', 'index': 46}

    Raises:
        UnreadableAction: The text is a call that cannot be read.
    """
    if not text.lstrip().startswith("<invoke "):
        return None
    calls = _INVOKE.findall(text)
    unknown = next((name for name, _ in calls if name not in ("phone", "remember")), None)
    if unknown is not None:
        raise UnreadableAction(f"Unknown tool: {unknown}")
    phone = [dict(_PARAMETER.findall(body)) for name, body in calls if name == "phone"]
    if len(phone) != 1:
        raise UnreadableAction('expected one <invoke name="phone">, with its parameters and </invoke>')
    (call,) = phone
    reader = _READERS.get(call.get("action", "").strip())
    if reader is None:
        raise UnreadableAction(f"'action' must be one of {', '.join(_READERS)}")
    return reader(call)


def write(parsed: Mapping[str, Any], screen: str) -> str:
    """Write an action as a call; the elements of the screen tell where the one lies that a swipe begins at.

    >>> print(write({"action_type": "input_text", "text": "tea"}, ""))
    <invoke name="phone">
    <parameter name="action">type</parameter>
    <parameter name="text">tea</parameter>
    </invoke>
    """
    arguments = _call(parsed, screen).items()
    parameters = "".join(f'<parameter name="{name}">{value}</parameter>\n' for name, value in arguments)
    return f'<invoke name="phone">\n{parameters}</invoke>'


def _call(parsed: Mapping[str, Any], screen: str) -> dict[str, Any]:
    kind = parsed["action_type"]
    if kind in _PRESSES:
        return {"action": "system_button", "button": _PRESSES[kind]}
    if kind == "open_app":
        return {"action": "open_app", "text": parsed["app_name"]}
    if kind in ("scroll", "swipe"):
        start = place_of(parsed, read_screen("android", screen)) or (WIDTH // 2, HEIGHT // 2)
        direction = parsed["direction"] if kind == "swipe" else OPPOSITE[parsed["direction"]]
        end = swipe_end(start, direction)
        return {"action": "swipe", "coordinate": list(start), "coordinate2": list(end)}
    call: dict[str, Any] = {"action": "type" if kind == "input_text" else kind}
    if "index" in parsed:
        call["index"] = parsed["index"]
    elif "x" in parsed and "y" in parsed:
        call["coordinate"] = [parsed["x"], parsed["y"]]
    if kind == "input_text":
        call["text"] = parsed["text"]
        if parsed.get("clear_text"):
            call["clear"] = "true"
    return call


def _touched(kind: str) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    return lambda call: {"action_type": kind, **_target(call)}


def _typed(call: Mapping[str, str]) -> dict[str, Any]:
    clear = {"clear_text": True} if call.get("clear", "").strip().lower() == "true" else {}
    return {"action_type": "input_text", "text": call.get("text"), **_target(call), **clear}


def _moved(call: Mapping[str, str]) -> dict[str, Any]:
    return swiped(_point(call, "coordinate"), _point(call, "coordinate2"))


def _target(call: Mapping[str, str]) -> dict[str, int]:
    """Return the index or the point that a call names, if it names one."""
    if "index" in call:
        index = call["index"].strip()
        if not index.isdecimal() or len(index) > 6:
            raise UnreadableAction("'index' must be the number of an element")
        return {"index": int(index)}
    if "coordinate" in call:
        x, y = _point(call, "coordinate")
        return {"x": x, "y": y}
    return {}


def _point(call: Mapping[str, str], name: str) -> tuple[int, int]:
    """Return a point, which may stand in brackets of any kind or in none."""
    return point_of([float(number) for number in _NUMBER.findall(call.get(name, ""))], name)


_READERS: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "click": _touched("click"),
    "long_press": _touched("long_press"),
    "double_tap": _touched("double_tap"),
    "type": _typed,
    "swipe": _moved,
    "open_app": lambda call: {"action_type": "open_app", "app_name": call.get("text")},
    "system_button": lambda call: pressed(call.get("button", "")),
    "wait": lambda call: {"action_type": "wait"},
}


SYNTAX = ActionSyntax(read, 'a call <invoke name="phone">', write)
"""The syntax `droidrun_call`."""
