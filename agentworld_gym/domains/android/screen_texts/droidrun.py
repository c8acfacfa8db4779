"""Reads the screens of DroidRun: lines of index, class, id and text in quotes, and bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.screen_texts.texts import box, plain

_HEAD = re.compile(r'\s*(\d{1,6})\. ([^\s:]+): "')
_TAIL = re.compile(r'" - \((-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6})\)\s*')
_BUTTONS = dict.fromkeys(("Button", "CheckBox", "ImageButton", "RadioButton", "Switch"), ("clickable",))
_TOLD = {**_BUTTONS, "EditText": ("clickable", "editable")}
"""The flags that the class of an element tells, since its line holds none."""

_RESOURCE = re.compile(r"[\w.]+:id/\w+")


def read(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Yield one node for each line, given with its number; lines that are no element are passed over.

    A text may be the text or the description of an element. One that is the name of the class stands for neither.
    """
    for number, line in lines:
        start = _HEAD.match(line)
        place = line.rfind('" - (')
        end = _TAIL.fullmatch(line, place) if start is not None and place >= start.end() else None
        if start is None or end is None:
            continue
        index, role = start.groups()
        named = line[start.end() : place]
        first, _, second = named.partition('", "')
        has_id = _RESOURCE.fullmatch(first) is not None
        text = plain(second if has_id else named if named != role else "")
        flags = (*_TOLD.get(role, ()), *((f"res={first}",) if has_id else ()))
        yield ScreenNode(role, text, text, "", int(index), box(*end.groups()), flags, 0, number)
