"""Reads the screens of phones in all their dialects; the text of a screen tells its dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.screen_texts import androidworld, droidbot, droidrun

__all__ = ["dialect_of", "head_of", "read"]

_HEADING = "**Current Phone State:**"
_TREE = "Accessibility Tree:"
_LIST = "Current Clickable UI elements"
_READERS: Mapping[str, Callable[[Iterator[tuple[int, str]]], Iterator[ScreenNode]]] = {
    "androidworld": androidworld.read,
    "droidrun": droidrun.read,
    "droidbot": droidbot.read,
}


def dialect_of(observation: str) -> str:
    """Return the name of the dialect in which a screen is written.

    >>> dialect_of('[ 0] | android.widget.Button | bounds=[0,0][9,9]')
    'androidworld'
    """
    if not observation.lstrip().startswith(_HEADING):
        return "androidworld"
    return "droidbot" if f"\n{_TREE}" in observation else "droidrun"


def head_of(observation: str) -> int:
    """Return the number of lines before the first element, which describe the phone as a whole."""
    dialect = dialect_of(observation)
    if dialect == "androidworld":
        return 0
    last = _TREE if dialect == "droidbot" else _LIST
    lines = observation.split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.startswith(last)), len(lines))


def read(observation: str) -> list[ScreenNode]:
    """Return one node for each element; lines that are no element are passed over."""
    lines = enumerate(observation.split("\n"))
    head = head_of(observation)
    return list(_READERS[dialect_of(observation)](line for line in lines if line[0] >= head))
