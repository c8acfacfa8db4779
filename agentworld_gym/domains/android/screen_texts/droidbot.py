"""Reads the screens of DroidBot: a tree of lines of class, id, text, flags and bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.screen_texts.texts import box, plain

_STEP = 2
"""The number of blanks by which an element is indented below the one around it."""

_HEAD = re.compile(r"( *)- ([^\s\"]+)")
_TAIL = re.compile(r"(?: flags=([a-z_,]+))? bounds=(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6}),(-?\d{1,6})\s*")


def read(lines: Iterator[tuple[int, str]]) -> Iterator[ScreenNode]:
    """Yield one node for each line, given with its number; lines that are no element are passed over.

    Actions name no index here. The handle of a node is its place in the tree, counted from 0.
    """
    place = 0
    for number, line in lines:
        start = _HEAD.match(line)
        bounds = line.rfind(" bounds=")
        flags = line.rfind(" flags=", 0, bounds)
        # A text may hold what looks like flags, which then do not reach up to the bounds.
        ends = (_TAIL.fullmatch(line, at) for at in (flags, bounds) if start is not None and at >= start.end())
        end = next(filter(None, ends), None)
        if start is None or end is None:
            continue
        named = line[start.end() : end.start()]
        resource, _, text = named.partition(' text="') if ' text="' in named else (named, "", "")
        resource = resource.removeprefix(' id="').removesuffix('"')
        attributes = tuple(end[1].split(",")) if end[1] else ()
        if resource:
            attributes = (*attributes, f"res={resource}")
        text = plain(text.removesuffix('"'))
        depth = max(len(start[1]) // _STEP - 1, 0)
        yield ScreenNode(start[2], text, text, "", place, box(*end.groups()[1:]), attributes, depth, number)
        place += 1
