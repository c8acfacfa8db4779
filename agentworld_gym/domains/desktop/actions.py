"""The actions of the desktop: Python code, whose clicks and keys are calls of `pyautogui`, or of `Agent`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from agentworld_gym.base.text.python_source import single_call
from agentworld_gym.core.actions.syntaxes import ActionSyntax, any_text

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


PYTHON = ActionSyntax(any_text, "Python code", shows_as_text=is_gesture, takes="python")
"""The syntax `python_code`."""

AGENT = ActionSyntax(
    any_text,
    "Python code or a call of Agent",
    lambda code, _screen: agent_code(code),
    rewrites_own=True,
    shows_as_text=is_gesture,
    takes="python",
)
"""The syntax `agent_code`."""
