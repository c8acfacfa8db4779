r"""The lines of phones as small models know them: attributes before the class, and flags that follow from the others.

>>> line = '[ 3] | android.widget.Switch | desc="6:30 AM alarm" | bounds=[864,310][1020,454] | clickable, checked'
>>> print(known := short(line))
[3] text="" content_desc="6:30 AM alarm" class=android.widget.Switch clickable checkable checked focusable bounds=[864,310][1020,454]
>>> whole(known) == line
True
"""  # noqa: E501

from __future__ import annotations

import re

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_BOUNDS = r"(\[-?\d{1,6},-?\d{1,6}\]\[-?\d{1,6},-?\d{1,6}\])"
_LINE = re.compile(
    rf"\[ *(\d{{1,6}})\] \| (\S+) \|(?: text={_TEXT})?(?: (?:hint|desc)={_TEXT})?(?:(?<=\") \|)? bounds={_BOUNDS}"
    r"(?: \| ([a-z_]+(?:, [a-z_]+)*))?"
)
_KNOWN = re.compile(rf"\[(\d{{1,6}})\] text={_TEXT} content_desc={_TEXT} class=(\S+)((?: [a-z_]+)*) bounds={_BOUNDS}")
_FLAGS = ("clickable", "long_clickable", "scrollable", "focused", "checked", "selected", "editable")
_KNOWN_FLAGS = (
    "clickable",
    "long_clickable",
    "checkable",
    "checked",
    "focusable",
    "focused",
    "editable",
    "scrollable",
    "selected",
    "disabled",
)
_CHECKABLE = ("Switch", "CheckBox", "RadioButton")
_BUTTONS = ("Button", "ImageButton")
_KEYS = "[908,"
"""The beginning of the bounds of a key of the keyboard, which never has the focus itself."""


def short(line: str) -> str:
    """Return a line of AndroidWorld's layout as small models know it; any other text stays as it is."""
    found = _LINE.fullmatch(line)
    if found is None:
        return line
    index, kind, text, about, bounds, told = found.groups()
    role, flags = kind.rpartition(".")[2], set(told.split(", ")) if told else set()
    if role in _BUTTONS and "clickable" not in flags:
        flags |= {"clickable", "disabled"}
    if role in _CHECKABLE:
        flags.add("checkable")
    touched = "long_clickable" in flags or ("clickable" in flags and (role != "TextView" or about))
    if touched and not (role == "ImageButton" and bounds.startswith(_KEYS)):
        flags.add("focusable")
    shown = "".join([f" {flag}" for flag in _KNOWN_FLAGS if flag in flags])
    return f'[{index}] text="{text or ""}" content_desc="{about or ""}" class={kind}{shown} bounds={bounds}'


def whole(line: str) -> str:
    """Return the line that a known one stands for: the inverse of `short` where that changes a line."""
    found = _KNOWN.fullmatch(line)
    if found is None:
        return line
    index, text, about, kind, told, bounds = found.groups()
    flags = set(told.split())
    if "disabled" in flags:
        flags.discard("clickable")
    name = "hint" if kind.endswith(".EditText") else "desc"
    attributes = " ".join([f'{key}="{value}"' for key, value in (("text", text), (name, about)) if value])
    shown = ", ".join([flag for flag in _FLAGS if flag in flags])
    middle = f" {attributes} |" if attributes else ""
    return f"[{int(index):2}] | {kind} |{middle} bounds={bounds}{f' | {shown}' if shown else ''}"
