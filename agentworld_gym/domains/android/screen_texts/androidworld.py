"""Reads the screens of AndroidWorld: lines of index, class, attributes, bounds and flags, divided by bars."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.screen_texts.texts import QUOTED, box, plain

_NAMES = ("text", "hint", "desc", "res")
_HEAD = r"\s*\[ *(\d{1,6})\] \| ([^\s|]+) \| "
_TAIL = r"bounds=\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\](?: \| ([a-z_]+(?:[, ]+[a-z_]+)*))?\s*"
_ATTRIBUTES = " ?".join(f"(?:{name}={QUOTED})?" for name in _NAMES)
_LINE = re.compile(rf"{_HEAD}(?:{_ATTRIBUTES} \| )?{_TAIL}")
_START, _END = re.compile(_HEAD), re.compile(_TAIL)
_DIVIDER = re.compile("[, ]+")


def read(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Yield one node for each line, given with its number; lines that are no element are passed over."""
    for number, line in lines:
        match = _LINE.fullmatch(line)
        parts = match.groups() if match is not None else _loose(line)
        if parts is None:
            continue
        index, kind, text, hint, description, resource, *corners, flags = parts
        attributes = tuple(_DIVIDER.split(flags)) if flags else ()
        if hint:
            attributes = (*attributes, f"hint={plain(hint)}")
        if resource:
            attributes = (*attributes, f"res={plain(resource)}")
        text, about = plain(text or ""), plain(description or hint or "")
        role = (kind or "").rpartition(".")[2]
        yield ScreenNode(role, text, text, about, int(index or 0), box(*corners), attributes, 0, number)


def _loose(line: str) -> tuple[str | None, ...] | None:
    """Return what `_LINE` finds, also where quotes were not escaped; None for other lines.

    The line is cut from the right, which takes linear time whatever a model repeats.
    """
    before, bounds, rest = line.rpartition("bounds=")
    start, end = _START.match(before), _END.fullmatch(bounds + rest)
    if start is None or end is None:
        return None
    rest = " " + before[start.end() :].removesuffix(" | ")
    values: dict[str, str] = {}
    for name in reversed(_NAMES):
        before, found, value = rest.rpartition(f' {name}="')
        if found and value.endswith('"'):
            values[name], rest = value[:-1], before
    return None if rest.strip() else (*start.groups(), *map(values.get, _NAMES), *end.groups())
