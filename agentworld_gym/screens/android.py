"""Phones as indexed lines of interface elements."""

from __future__ import annotations

import re

from agentworld_gym.screens.node import Box, Node

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_REST = r" class=(\S+) ?([a-z_ ]*)bounds=\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]\s*"
_LINE = re.compile(rf"\s*\[(\d{{1,6}})\] text={_QUOTED} content_desc={_QUOTED}{_REST}")
_LOOSE = re.compile(
    r'\s*\[(\d{1,6})\] text="(.*)" content_desc="(.*)" class=(\S+)(.*?) ?'
    r"bounds=\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]\s*"
)
"""The same with quotes that were not escaped, or with more attributes."""
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


def read(observation: str) -> list[Node]:
    """One node a line; lines that are no element are passed over."""
    nodes: list[Node] = []
    for number, line in enumerate(observation.split("\n")):
        found = _LINE.fullmatch(line) or (_LOOSE.fullmatch(line) if "bounds=" in line else None)
        if found is None:
            continue
        index, text, description, kind, flags, *corners = found.groups()
        left, top, right, bottom = map(int, corners)
        box = Box(left, top, max(right - left, 0), max(bottom - top, 0))
        if "\\" in text:
            text = _plain(text)
        if "\\" in description:
            description = _plain(description)
        role = kind.rpartition(".")[2]
        nodes.append(Node(role, text, text, description, int(index), box, tuple(flags.split()), 0, number))
    return nodes


def _plain(quoted: str) -> str:
    """A text without its escapes.

    >>> _plain('one\\\\ntwo'), _plain('say \\\\"hi\\\\"')
    ('one\\ntwo', 'say "hi"')
    """
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted)
