"""The actions of a browser as its tasks write them, with locators instead of references."""

from __future__ import annotations

import json

from agentworld_gym.core.tasks.locators import locator

BACK = '{"name": "browser_navigate_back", "arguments": {}}'
SNAPSHOT = '{"name": "browser_snapshot", "arguments": {}}'
ACCEPT = '{"name": "browser_handle_dialog", "arguments": {"accept": true}}'
DISMISS = '{"name": "browser_handle_dialog", "arguments": {"accept": false}}'


def go(address: str) -> str:
    """Return the action that opens an address; `wiki/all` is short for `http://wiki.example/all`.

    >>> go("wiki/all")
    '{"name": "browser_navigate", "arguments": {"url": "http://wiki.example/all"}}'
    """
    return json.dumps({"name": "browser_navigate", "arguments": {"url": url(address)}})


def url(address: str) -> str:
    """Return an address in full."""
    site, _, path = address.partition("/")
    return f"http://{site}.example/{path}"


def click(name: str, role: str = "link", after: str = "", part: bool = False) -> str:
    """Return the action that clicks an element.

    >>> click("Save", "button")
    '{"name": "browser_click", "arguments": {"element": "Save button", "ref": "@{button \\'Save\\'}"}}'
    """
    told = json.dumps(f"{name} {role}".strip(), ensure_ascii=False)
    return (
        f'{{"name": "browser_click", "arguments": {{"element": {told}, "ref": "{locator(name, role, after, part)}"}}}}'
    )


def press(name: str, after: str = "") -> str:
    """Return the action that clicks a button."""
    return click(name, "button", after)


def write(field: str, text: str, role: str = "textbox", submit: bool = False, after: str = "") -> str:
    """Return the action that types into a field, and with `submit` presses Enter."""
    element, text = json.dumps(f"{field} field", ensure_ascii=False), json.dumps(text, ensure_ascii=False)
    more = ', "submit": true' if submit else ""
    ref = locator(field, role, after)
    return f'{{"name": "browser_type", "arguments": {{"element": {element}, "ref": "{ref}", "text": {text}{more}}}}}'


def choose(field: str, option: str, after: str = "") -> str:
    """Return the action that chooses an option of a drop-down list."""
    element, option = json.dumps(f"{field} list", ensure_ascii=False), json.dumps(option, ensure_ascii=False)
    ref = locator(field, "combobox", after)
    arguments = f'{{"element": {element}, "ref": "{ref}", "values": [{option}]}}'
    return f'{{"name": "browser_select_option", "arguments": {arguments}}}'


def fill_in(*fields: tuple[str, str]) -> str:
    """Return the action that fills several text fields at once, each given by its name and text."""
    rows = [
        f'{{"name": {json.dumps(field)}, "type": "textbox", "ref": "{locator(field, "textbox")}",'
        f' "value": {json.dumps(text, ensure_ascii=False)}}}'
        for field, text in fields
    ]
    return f'{{"name": "browser_fill_form", "arguments": {{"fields": [{", ".join(rows)}]}}}}'
