"""Explains the next screen: which element an action touches, and whether that opens something, changes it, or does
nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.recipe.thinking.explainers.state_changes import record_clauses, words
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, plain, several

Identity = Callable[[Situation, list[ScreenNode], list[ScreenNode]], str]
"""A function of a turn and the elements before and after it, which describes what is in front now if it is new."""

Doing = Callable[[Situation, list[ScreenNode]], tuple[str, list[str]]]
"""A function of a turn and the elements before it, which returns what the action asks for and what it touches."""


Tool = Callable[[Situation], str]
"""A function of a turn, which describes an answer of the tool itself; empty where the answer is a screen."""


def explain_screen(
    turn: Situation, doing: Doing, own: re.Pattern[str], identity: Identity, tool: Tool = lambda turn: ""
) -> Explanation:
    """Explain a turn on a screen.

    Args:
        turn: The turn.
        doing: What describes what the action does.
        own: The fields that only the engine keeps.
        identity: What describes what is in front.
        tool: What describes an answer of the tool itself.
    """
    nodes = read_screen(turn.domain, turn.before)
    asks, reads = doing(turn, nodes)
    changes = record_clauses(turn, lambda field: own.match(field) is None)
    return Explanation(asks, reads, changes, _shows(turn, nodes, identity, tool))


def element_at(nodes: list[ScreenNode], x: Any, y: Any) -> ScreenNode | None:
    """Return the smallest element around a point."""
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        return None
    around = [node for node in nodes if node.box is not None and holds_point(node, x, y)]
    return min(around, key=lambda node: node.box.width * node.box.height if node.box else 0, default=None)


def holds_point(node: ScreenNode, x: float, y: float) -> bool:
    """Return whether a point lies in the box of an element."""
    box = node.box
    return box is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def called(turn: Situation, node: ScreenNode | None) -> str:
    """Return an element's role and name."""
    if node is None:
        return "nothing that the screen lists"
    label = turn.cite(node.label)
    return f"the {words(node.role)} {label}" if label else f"a {words(node.role)} without a name"


def _shows(turn: Situation, before: list[ScreenNode], identity: Identity, tool: Tool) -> str:
    text = turn.observation
    if said := tool(turn):
        return said
    if text == turn.before and turn.changes:
        return "Nothing of that shows on the screen, so it stays as it is, to the letter"
    if text == turn.before:
        return "That has no effect here, so the screen stays as it is, to the letter"
    after = read_screen(turn.domain, text)
    if not after:
        return f"The answer is no screen but {turn.show(text)}"
    come, gone = _difference(before, after), _difference(after, before)
    new = [turn.show(label) for label in come]
    old = [turn.cite(label) for label in gone]
    opened = identity(turn, before, after)
    if opened or len(come) + len(gone) > (len(before) + len(after)) / 3:
        where = f": {opened}" if opened else ""
        shown = several(new, 4) or "other elements"
        return f"This leads to another screen{where}. On it are {shown}; what belongs to the old one alone is gone"
    parts = [f"new is {several(new)}" if any(new) else "", f"gone is {several(old)}" if any(old) else ""]
    parts += _altered(turn, before, after)
    differences = ", ".join(filter(None, parts)) or "a few elements look or lie otherwise"
    return f"The screen changes in place: {differences}. All other elements stay as they stand"


def _difference(before: list[ScreenNode], after: list[ScreenNode]) -> list[str]:
    """Return the names of elements that only the second screen has."""
    left = Counter((node.role, node.label) for node in after) - Counter((node.role, node.label) for node in before)
    return list(dict.fromkeys(node.label for node in after if node.label and left[node.role, node.label]))


def _altered(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> list[str]:
    """Describe what elements of the same name hold that they did not hold before, and which states were set or taken
    away.
    """
    old, new = _single(before), _single(after)
    clauses: list[str] = []
    for key, node in new.items():
        was, name = old.get(key), turn.cite(node.label)
        if was is None or not name or len(clauses) == 3:
            continue
        states, had = _states(node), _states(was)
        clauses += [f"{name} is {state}" for state in states if state not in had]
        clauses += [f"{name} is no longer {state}" for state in had if state not in states]
        if node.text != was.text and (text := turn.show(node.text)):
            clauses.append(f"{name} holds {text}")
    return clauses[:3]


def _single(nodes: list[ScreenNode]) -> dict[tuple[str, str], ScreenNode]:
    """Return the elements whose role and name no other element has."""
    counts = Counter((node.role, node.label) for node in nodes)
    return {key: node for node in nodes if counts[key := (node.role, node.label)] == 1}


_STATES = ("checked", "selected", "focused", "disabled", "expanded", "active")


def _states(node: ScreenNode) -> list[str]:
    """Return the states of an element; the desktop writes them in its description."""
    return [state for state in _STATES if state in node.flags or state in node.description.split(", ")]


def front_of(*roles: str) -> Identity:
    """Return what describes the first element of some roles, if that is another one than before."""

    def describe(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> str:
        old_names, new_names = ([node.label for node in nodes if node.role in roles][:1] for nodes in (before, after))
        if old_names == new_names or not new_names:
            return ""
        name = turn.show(plain(new_names[0]), 80)
        return f"in front is {name}" if name else ""

    return describe
