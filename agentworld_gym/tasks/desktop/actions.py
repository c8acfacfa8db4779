"""The actions of a desktop as its tasks write them, with locators in the place of points."""

from __future__ import annotations


def click(locator: str) -> str:
    """A click on what a locator names."""
    return f"pyautogui.click(@{{{locator}}})"


def double(locator: str) -> str:
    """A double click."""
    return f"pyautogui.doubleClick(@{{{locator}}})"


def right(locator: str) -> str:
    """A right click."""
    return f"pyautogui.rightClick(@{{{locator}}})"


def icon(name: str) -> str:
    """The locator of a file's icon."""
    return f"icon {quoted(name)}"


def cell(name: str) -> str:
    """The locator of a cell."""
    return f"table-cell {quoted(name)}"


def quoted(name: str) -> str:
    """A name as a locator has it."""
    return "'" + name.replace("'", "''") + "'"


def press(key: str) -> str:
    """A key."""
    return f"pyautogui.press({key!r})"


def keys(*names: str) -> str:
    """A combination of keys."""
    return f"pyautogui.hotkey({', '.join(map(repr, names))})"


def write(text: str) -> str:
    """Typing."""
    return f"pyautogui.write({text!r})"


def enter(text: str, clear: bool = False) -> str:
    """Typing a text and Enter, with `clear` over what the field holds."""
    start = "pyautogui.hotkey('ctrl', 'a')\n" if clear else ""
    return f"{start}pyautogui.write({text!r})\npyautogui.press('enter')"


def joined(*actions: str) -> str:
    """Several actions as one, where none of them needs to see what the one before it shows."""
    return "\n".join(actions)


SAVE = keys("ctrl", "s")
CLOSE = keys("alt", "f4")
