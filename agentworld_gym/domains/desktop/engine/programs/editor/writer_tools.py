"""The methods of the helper object `WriterTools`, which edit the document in front without its window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, ToolError, Window
from agentworld_gym.domains.desktop.engine.programs.editor.document import remember, title_of
from agentworld_gym.kit.gui import Field


def _document(desktop: DesktopServices) -> Window:
    windows = desktop.windows("editor")
    if not windows:
        raise ToolError("Connector : couldn't connect to socket (Connection refused)", "NoConnectException")
    return windows[0]


def _change(desktop: DesktopServices, window: Window, text: str) -> None:
    field: Field = window["data"]["text"]
    field.set(text)
    remember(window["data"])
    window["title"] = title_of(window["data"])
    desktop.touch(window)


def _chosen(count: int, indices: Any) -> set[int]:
    if indices is None:
        return set(range(count))
    if not isinstance(indices, list | tuple) or not all(isinstance(number, int) for number in indices):
        raise TypeError("paragraph_indices must be a list of integers")
    return {number for number in indices if 0 <= number < count}


def env_info(desktop: DesktopServices) -> str:
    """Return the text of the document."""
    return str(_document(desktop)["data"]["text"].value)


def write_text(desktop: DesktopServices, text: str, **formats: Any) -> bool:
    """Insert a text at the cursor."""
    window = _document(desktop)
    field: Field = window["data"]["text"].copy()
    field.insert(_text(text))
    _change(desktop, window, field.value)
    return True


def find_and_replace(desktop: DesktopServices, pattern: str, replacement: str, paragraph_indices: Any = None) -> bool:
    """Replace a text in all or some paragraphs."""
    window = _document(desktop)
    if not _text(pattern):
        raise ValueError("the pattern must not be empty")
    lines = window["data"]["text"].value.split("\n")
    chosen = _chosen(len(lines), paragraph_indices)
    size = sum(line.count(pattern) for line in lines) * len(_text(replacement))
    if size > 200_000:
        raise ValueError("the replacement is too long")
    _change(
        desktop,
        window,
        "\n".join(
            line.replace(pattern, replacement) if number in chosen else line for number, line in enumerate(lines)
        ),
    )
    return True


def capitalize_words(desktop: DesktopServices, paragraph_indices: Any = None) -> bool:
    """Capitalise every word of all or some paragraphs."""
    window = _document(desktop)
    lines = window["data"]["text"].value.split("\n")
    chosen = _chosen(len(lines), paragraph_indices)
    capitalized = [
        " ".join(word[:1].upper() + word[1:] for word in line.split(" ")) if number in chosen else line
        for number, line in enumerate(lines)
    ]
    _change(desktop, window, "\n".join(capitalized))
    return True


def save(desktop: DesktopServices) -> bool:
    """Save the document, and return whether that succeeded."""
    window = _document(desktop)
    data = window["data"]
    if not data["path"]:
        raise ToolError("the document has no name yet")
    desktop.files.write(data["path"], data["text"].value)
    data["saved"] = data["text"].value
    window["title"] = title_of(data)
    desktop.touch(window)
    return True


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is wanted, not {type(value).__name__}")
    return value


METHODS: Mapping[str, Callable[..., Any]] = {
    "env_info": env_info,
    "write_text": write_text,
    "find_and_replace": find_and_replace,
    "capitalize_words": capitalize_words,
    "save": save,
}
