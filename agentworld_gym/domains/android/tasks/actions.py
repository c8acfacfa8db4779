"""The actions of a phone as its tasks write them, with locators instead of indices."""

from __future__ import annotations

import json

from agentworld_gym.core.tasks.locators import locator

BACK = '{"action_type": "navigate_back"}'
WAIT = '{"action_type": "wait"}'
HOME = '{"action_type": "navigate_home"}'


def app(name: str) -> str:
    """Return the action that opens an app."""
    return json.dumps({"action_type": "open_app", "app_name": name})


def tap(name: str, role: str = "", after: str = "", part: bool = False) -> str:
    """Return the action that touches an element.

    >>> tap("Save", "Button")
    '{"action_type": "click", "index": @{Button \\'Save\\'}}'
    """
    return f'{{"action_type": "click", "index": {locator(name, role, after, part)}}}'


def hold(name: str, role: str = "") -> str:
    """Return the action that touches an element and holds."""
    return f'{{"action_type": "long_press", "index": {locator(name, role)}}}'


def enter_text(field: str, text: str, clear: bool = False) -> str:
    """Return the action that types into a field with this hint.

    Args:
        field: The hint of the field.
        text: The text to type.
        clear: Whether the text replaces what the field holds.
    """
    written = json.dumps(text, ensure_ascii=False)
    more = ', "clear_text": true' if clear else ""
    return f'{{"action_type": "input_text", "text": {written}, "index": {locator(field, "EditText")}{more}}}'
