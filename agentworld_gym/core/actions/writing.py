"""Writes parsed actions in the syntaxes of dialects, as a world model sees them: the inverse of the readers."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from agentworld_gym.base.text.python_source import single_call
from agentworld_gym.core.actions.browser_calls import browsergym_text, call_text
from agentworld_gym.core.domain.action_spec import Syntax

_CLICKS: Mapping[str, Mapping[str, Any]] = {
    "click": {},
    "leftClick": {},
    "doubleClick": {"num_clicks": 2},
    "tripleClick": {"num_clicks": 3},
    "rightClick": {"button_type": "right"},
    "middleClick": {"button_type": "middle"},
}


def is_gesture(code: str) -> bool:
    """Return whether code is a single call of `pyautogui` or of `Agent`, in one line.

    >>> is_gesture("pyautogui.click(129, 392)"), is_gesture("pyautogui.click(129, 392); pyautogui.press('a')")
    (True, False)
    """
    if "\n" in code or not code.startswith(("pyautogui.", "Agent.")):
        return False
    call = single_call(code)
    return call is not None and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)


def agent_code(code: str) -> str:
    """Write code that is a single click, key or text of `pyautogui` as a call of `Agent`; other code stays as it is.

    >>> agent_code("pyautogui.doubleClick(120, 333)"), agent_code("pyautogui.write('ab', interval=0.02)")
    ('Agent.click(coordinates=[120, 333], num_clicks=2)', "Agent.type(text='ab')")
    >>> agent_code("pyautogui.hotkey('ctrl', 's')"), agent_code("pyautogui.scroll(-5)")
    ("Agent.hotkey(keys=['ctrl', 's'])", 'pyautogui.scroll(-5)')
    """
    if code.strip() == "WAIT":
        return "Agent.wait()"
    if not code.startswith("pyautogui."):
        return code
    call = single_call(code)
    if call is None or not isinstance(call.func, ast.Attribute):
        return code
    name = call.func.attr
    try:
        arguments = [ast.literal_eval(argument) for argument in call.args]
        options = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, TypeError, MemoryError, RecursionError):
        return code
    if name in _CLICKS and len(arguments) == 2 and not options:
        return _call("click", coordinates=arguments, **_CLICKS[name])
    if (
        name in ("write", "typewrite")
        and len(arguments) == 1
        and isinstance(arguments[0], str)
        and not options.keys() - {"interval"}
    ):
        return _call("type", text=arguments[0])
    if (name == "hotkey" or (name == "press" and len(arguments) == 1)) and arguments and not options:
        return _call("hotkey", keys=arguments) if all(isinstance(key, str) for key in arguments) else code
    return code


def _call(name: str, **arguments: Any) -> str:
    return f"Agent.{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def with_json_arguments(call: Mapping[str, Any], raw: str) -> dict[str, Any]:
    """Return a call whose arguments are a JSON text.

    It is the text that the agent wrote, blanks and escapes included, where that says the same.

    Args:
        call: The call as the dialect writes it, with its arguments as an object.
        raw: What the agent wrote.

    >>> call = {"name": "glob", "arguments": {"pattern": "*.py"}}
    >>> with_json_arguments(call, json.dumps({"name": "glob", "arguments": '{"pattern":"*.py"}'}))
    {'name': 'glob', 'arguments': '{"pattern":"*.py"}'}
    >>> with_json_arguments(call, json.dumps(call))
    {'name': 'glob', 'arguments': '{"pattern": "*.py"}'}
    """
    arguments = call["arguments"]
    try:
        written = json.loads(raw)["arguments"]
        kept = isinstance(written, str) and json.loads(written) == arguments
    except (ValueError, RecursionError, KeyError, TypeError):
        kept = False
    return {**call, "arguments": written if kept else json.dumps(arguments, ensure_ascii=False)}


def keystroke_text(batch: Sequence[Mapping[str, Any]]) -> str:
    """Return a batch of keystrokes as JSON with an indent of 2, whose durations are decimals with a point.

    >>> print(keystroke_text([{"keystrokes": "", "duration": 1e-07}]))
    [
      {
        "keystrokes": "",
        "duration": 0.0000001
      }
    ]
    """
    entries = ["  {\n" + ",\n".join([_field(*item) for item in entry.items()]) + "\n  }" for entry in batch]
    return "[\n" + ",\n".join(entries) + "\n]" if entries else "[]"


def _field(key: str, value: Any) -> str:
    """Return a field of an entry of a batch. The encoder of an indented JSON text takes several times as long."""
    if type(value) is str:
        text = _encoded(value)
    elif key == "duration" and type(value) is float and isfinite(value):
        text = repr(value)
        if "e" in text:
            text = f"{Decimal(text):f}"
            text += "" if "." in text else ".0"
    else:
        text = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n    ")
    return f"    {_encoded(key)}: {text}"


_encoded = json.JSONEncoder(ensure_ascii=False).encode

WRITERS: Mapping[Syntax, Callable[[Any], str]] = {
    "agent_code": agent_code,
    "keystroke_batch": keystroke_text,
    "playwright_call": call_text,
    "browsergym_call": browsergym_text,
}
"""The writer of each syntax that needs one, beside those of `DomainSyntax`. An action of any other syntax is shown as
JSON or as it was written."""
