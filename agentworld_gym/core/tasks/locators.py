"""Locators for the JSON actions of the graphical domains: they name an element by what it is called."""

from __future__ import annotations

import json


def locator(name: str, role: str = "", after: str = "", part: bool = False) -> str:
    """Return the locator of an element by its name, or by its role alone.

    Args:
        name: The name of the element; any name if it is empty.
        role: The role of the element; any role if it is empty.
        after: The element that it comes after, as a locator writes it.
        part: Whether a part of the name is enough.

    >>> locator("Petra's kettle", "link", after="'Results'"), locator("", "checkbox", after="'Ada'")
    ("@{link 'Petra''s kettle' after 'Results'}", "@{checkbox after 'Ada'}")
    """
    words = [role] if role else []
    if name:
        words.append(("~" if part else "") + quoted(name))
    if after:
        words.append(f"after {after}")
    return f"@{{{' '.join(words)}}}"


def quoted(name: str) -> str:
    """Return a name as a locator holds it inside a JSON string.

    >>> quoted("Petra's note")
    "'Petra''s note'"
    """
    inner = json.dumps(name, ensure_ascii=False)[1:-1].replace("'", "''")
    return f"'{inner}'"
