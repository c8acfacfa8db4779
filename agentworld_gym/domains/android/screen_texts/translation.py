"""Screens of DroidRun and DroidBot in the lines of AndroidWorld, as far as they tell."""

from __future__ import annotations

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.screen_texts import dialect_of, read

_PACKAGES = {"RecyclerView": "androidx.recyclerview.widget", "ViewGroup": "android.view"}
_DESCRIBED = frozenset(("FrameLayout", "ImageButton", "ImageView", "ProgressBar", "Switch", "ViewGroup"))
"""The classes whose elements have a description and no text."""

_EITHER = " | android.widget.CheckBox | "
"""A class whose elements have a text or a description alone."""

_FLAGS = ("clickable", "long_clickable", "scrollable", "focused", "checked", "selected", "editable")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": " "})


def in_androidworld(screen: str) -> str:
    """Write a screen in the lines of AndroidWorld; a text without a screen of another dialect stays as it is.

    What DroidRun and DroidBot show of an element is its text, or else its description. It is taken for that which
    elements of its class have, and a description beside a text is lost. DroidRun shows no flags.

    >>> tree = 'Accessibility Tree:\\n  - Switch text="Dark theme" flags=clickable,checkable,checked bounds=0,0,9,9'
    >>> in_androidworld(f"**Current Phone State:**\\n{tree}")
    '[ 0] | android.widget.Switch | desc="Dark theme" | bounds=[0,0][9,9] | clickable, checked'
    """
    if dialect_of(screen) == "androidworld":
        return screen
    return "\n".join(map(_line, read(screen)))


def readings(screen: str) -> tuple[str, ...]:
    """Return what a translated screen may be in AndroidWorld's lines: a checkbox has a text, or a description.

    >>> for reading in readings('[ 0] | android.widget.CheckBox | text="Tea" | bounds=[0,0][9,9]'):
    ...     print(reading)
    [ 0] | android.widget.CheckBox | text="Tea" | bounds=[0,0][9,9]
    [ 0] | android.widget.CheckBox | desc="Tea" | bounds=[0,0][9,9]
    """
    other = "\n".join(
        line.replace(f'{_EITHER}text="', f'{_EITHER}desc="', 1) if _EITHER in line else line
        for line in screen.split("\n")
    )
    return (screen,) if other == screen else (screen, other)


def _line(node: ScreenNode) -> str:
    name = f"{_PACKAGES.get(node.role, 'android.widget')}.{node.role}"
    shown = node.text.translate(_ESCAPES)
    parts = [f'{"desc" if node.role in _DESCRIBED else "text"}="{shown}"'] if shown else []
    parts += [f'res="{flag.removeprefix("res=")}"' for flag in node.flags if flag.startswith("res=")]
    attributes = f"{' '.join(parts)} | " if parts else ""
    assert node.box is not None
    x, y = node.box.x, node.box.y
    bounds = f"bounds=[{x},{y}][{x + node.box.width},{y + node.box.height}]"
    told = ", ".join(flag for flag in _FLAGS if flag in node.flags)
    return f"[{node.handle:2}] | {name} | {attributes}{bounds}{f' | {told}' if told else ''}"
