"""The actions of a desktop as its tasks write them, with locators instead of points."""

from __future__ import annotations


def click(locator: str) -> str:
    """Return the code that clicks what a locator names."""
    return f"pyautogui.click(@{{{locator}}})"


def double(locator: str) -> str:
    """Return the code that double-clicks what a locator names."""
    return f"pyautogui.doubleClick(@{{{locator}}})"


def right(locator: str) -> str:
    """Return the code that right-clicks what a locator names."""
    return f"pyautogui.rightClick(@{{{locator}}})"


def icon(name: str) -> str:
    """Return the locator of a file's icon."""
    return f"icon {quoted(name)}"


def cell(name: str) -> str:
    """Return the locator of a cell."""
    return f"table-cell {quoted(name)}"


def quoted(name: str) -> str:
    """Return a name as a locator holds it."""
    return "'" + name.replace("'", "''") + "'"


def press(key: str) -> str:
    """Return the code that presses a key."""
    return f"pyautogui.press({key!r})"


def keys(*names: str) -> str:
    """Return the code that presses a combination of keys."""
    return f"pyautogui.hotkey({', '.join(map(repr, names))})"


def write(text: str) -> str:
    """Return the code that types a text."""
    return f"pyautogui.write({text!r})"


def enter(text: str, clear: bool = False) -> str:
    """Return the code that types a text and presses Enter; with `clear` the text replaces what the field holds."""
    start = "pyautogui.hotkey('ctrl', 'a')\n" if clear else ""
    return f"{start}pyautogui.write({text!r})\npyautogui.press('enter')"


def joined(*actions: str) -> str:
    """Join actions into one; none of them may need to see what the one before it shows."""
    return "\n".join(actions)


SAVE = keys("ctrl", "s")
CLOSE = keys("alt", "f4")
