"""The events of DroidBot: one line of text, which describes the element that it is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.actions.syntaxes import ActionSyntax
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.core.screens import Box, ScreenNode, read_screen
from agentworld_gym.domains.android.actions.gestures import BUTTONS, HEIGHT, OPPOSITE, WIDTH, node_of, pressed

_EVENT = re.compile(
    r"(?P<verb>touch|double_touch|long_touch|select|unselect|set_text|scroll (?P<way>up|down|left|right)) "
    r"<(?P<tag>button|p|input|checkbox|scrollbar)(?P<attributes>[^\n]*?bound_box=[\d,-]+|[^>\n]*)>"
    r"(?P<shown>.*?)</(?P=tag)>(?: (?P<text>.*))?",
    re.DOTALL,
)
_START = re.compile(r"(?:touch|double_touch|long_touch|select|unselect|set_text|scroll|intent|kill_app|key|wait)\b")
_BOX = re.compile(r"\bbound_box=(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6})\Z")
_ID = re.compile(r"\bid=(\d{1,6})\b")
_INTENT = re.compile(r"intent am start (?:-n )?([^/\n]+?)(?:/\S+)?")
_TOUCHES = {"touch": "click", "select": "click", "unselect": "click", "double_touch": "double_tap"}
_TOUCHES["long_touch"] = "long_press"
_VERBS = {"click": "touch", "double_tap": "double_touch", "long_press": "long_touch"}
_TAGS = {"EditText": "input", "Button": "button", "ImageButton": "button"}
_CHECKED = ("CheckBox", "RadioButton", "Switch")
_KEYS = {action: button.upper() for button, action in BUTTONS.items()}


def read(text: str, _tools: Toolset | None = None) -> dict[str, Any] | None:
    """Read an event; the middle of its box is the point that is touched.

    >>> read("touch <button id=3 bound_box=108,1133,972,1266>Sign in</button>")
    {'action_type': 'click', 'x': 540, 'y': 1199}

    Raises:
        UnreadableAction: The text begins as an event does and cannot be read.
    """
    line = text.strip()
    if _START.match(line) is None:
        return None
    if line in ("kill_app", "wait"):
        return {"action_type": line}
    if line.startswith("key "):
        return pressed(line.removeprefix("key "))
    if intent := _INTENT.fullmatch(line):
        return {"action_type": "open_app", "app_name": intent[1].strip()}
    event = _EVENT.fullmatch(line)
    if event is None:
        raise UnreadableAction("expected an event such as touch <button bound_box=0,0,100,50>OK</button>")
    verb, target = event["verb"], _target(event["attributes"])
    if verb == "set_text":
        return {"action_type": "input_text", "text": event["text"] or "", **target, "clear_text": True}
    if event["way"]:
        return {"action_type": "scroll", "direction": event["way"], **target}
    return {"action_type": _TOUCHES[verb], **target}


def write(parsed: Mapping[str, Any], screen: str) -> str:
    """Write an action as an event on the element that it names among those of the screen.

    >>> screen = '[ 0] | android.widget.Button | text="OK" | bounds=[0,0][10,10]'
    >>> write({"action_type": "click", "x": 5, "y": 5}, screen)
    'touch <button bound_box=0,0,10,10>OK</button>'
    """
    kind = parsed["action_type"]
    if kind in _KEYS:
        return f"key {_KEYS[kind]}"
    if kind == "open_app":
        return f"intent am start {parsed['app_name']}"
    if kind not in (*_VERBS, "input_text", "scroll", "swipe"):
        return str(kind)
    nodes = read_screen("android", screen)
    node = node_of(parsed, nodes)
    if kind in ("scroll", "swipe"):
        way = parsed["direction"] if kind == "scroll" else OPPOSITE[parsed["direction"]]
        return f"scroll {way} {_element(node or ScreenNode('', box=Box(0, 0, WIDTH, HEIGHT)), 'scrollbar')}"
    if kind == "input_text":
        field = node or next((other for other in nodes if "focused" in other.flags), ScreenNode(""))
        return f"set_text {_element(field, 'input')} {parsed['text']}"
    if node is None:
        x, y = parsed.get("x"), parsed.get("y")
        box = f"bound_box={x},{y},{x},{y}" if x is not None else f"id={parsed.get('index')}"
        return f"{_VERBS[kind]} <p {box}></p>"
    if kind == "click" and node.role in _CHECKED:
        return f"{'unselect' if 'checked' in node.flags else 'select'} {_element(node, 'checkbox')}"
    return f"{_VERBS[kind]} {_element(node, _TAGS.get(node.role, 'button' if 'clickable' in node.flags else 'p'))}"


def _element(node: ScreenNode, tag: str) -> str:
    box = node.box
    where = "" if box is None else f" bound_box={box.x},{box.y},{box.x + box.width},{box.y + box.height}"
    return f"<{tag}{where}>{' '.join(node.label.split())}</{tag}>"


def _target(attributes: str) -> dict[str, int]:
    """Return the middle of the box of an element, or else its number, if the event names one."""
    if box := _BOX.search(attributes):
        left, top, right, bottom = map(int, box.groups())
        return {"x": (left + right) // 2, "y": (top + bottom) // 2}
    return {"index": int(number[1])} if (number := _ID.search(attributes)) else {}


SYNTAX = ActionSyntax(read, "an event such as touch <button …>…</button>", write)
"""The syntax `droidbot_event`."""
