"""Reads the screens of phones: indexed lines of interface elements."""

from __future__ import annotations

import re

from agentworld_gym.screens.node import Box, Node

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_REST = r" class=(\S+) ([a-z_ ]*)bounds=\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]\s*"
_LINE = re.compile(rf"\s*\[(\d{{1,6}})\] text={_QUOTED} content_desc={_QUOTED}{_REST}")
_START = re.compile(r'\s*\[(\d{1,6})\] text="')
_KIND = re.compile(r"(\S+)(.*)")
_CORNERS = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]\s*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


def read(observation: str) -> list[Node]:
    """Return one node for each line; lines that are no element are passed over."""
    nodes: list[Node] = []
    for number, line in enumerate(observation.split("\n")):
        found = _LINE.fullmatch(line)
        parts = found.groups() if found is not None else _loose(line)
        if parts is None:
            continue
        index, text, description, kind, flags, *corners = parts
        left, top, right, bottom = map(int, corners)
        box = Box(left, top, max(right - left, 0), max(bottom - top, 0))
        if "\\" in text:
            text = _plain(text)
        if "\\" in description:
            description = _plain(description)
        role = kind.rpartition(".")[2]
        nodes.append(Node(role, text, text, description, int(index), box, tuple(flags.split()), 0, number))
    return nodes


def _loose(line: str) -> tuple[str, ...] | None:
    """Return what `_LINE` finds, also where quotes were not escaped, or with more attributes; None for other lines.

    The line is cut from the right, which takes linear time whatever a model repeats.
    """
    if "bounds=" not in line:
        return None
    line, _, end = line.rpartition("bounds=")
    line, has_class, rest = line.rpartition('" class=')
    corners, kind, start = _CORNERS.fullmatch(end), _KIND.fullmatch(rest), _START.match(line)
    if not has_class or corners is None or kind is None or start is None:
        return None
    text, described, description = line[start.end() :].rpartition('" content_desc="')
    return (start[1], text, description, *kind.groups(), *corners.groups()) if described else None


def _plain(quoted: str) -> str:
    """Return a text without its escapes.

    >>> _plain('one\\\\ntwo'), _plain('say \\\\"hi\\\\"')
    ('one\\ntwo', 'say "hi"')
    """
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted)
