"""Texts and corners as the lines of all dialects of a phone hold them."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.node import Box

QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
"""A regular expression for a text in quotes, with what is between them as its group."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


def plain(quoted: str) -> str:
    """Return a text without its escapes.

    >>> plain('one\\\\ntwo'), plain('say \\\\"hi\\\\"')
    ('one\\ntwo', 'say "hi"')
    """
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted)


def box(left: str | None, top: str | None, right: str | None, bottom: str | None) -> Box:
    """Return the rectangle between two corners; one that is inside out has no size."""
    x, y, end, foot = (int(corner or 0) for corner in (left, top, right, bottom))
    return Box(x, y, max(end - x, 0), max(foot - y, 0))
