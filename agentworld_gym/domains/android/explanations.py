"""Explains the answers of a phone: the element that a gesture touches, and the screen that opens or changes."""

from __future__ import annotations

import json
import re
from typing import Any

from agentworld_gym.core.screens import ScreenNode
from agentworld_gym.recipe.thinking.explainers.screens import (
    called,
    element_at,
    explain_screen,
    front_of,
    holds_point,
)
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, several

_OWN = re.compile(r"(?:tasks/|front|launcher|keyboard|recents|time)")
_VERBS = {
    "click": "clicks",
    "double_tap": "taps twice on",
    "long_press": "holds",
    "input_text": "types into",
}


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a phone."""
    return explain_screen(turn, _touched, _OWN, front_of("TextView"))


def _touched(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
    try:
        action: dict[str, Any] = json.loads(turn.action)
    except ValueError:
        action = {}
    kind = str(action.get("action_type", ""))
    said = [quote for key in ("text", "app_name", "direction") if (quote := turn.cite(str(action.get(key, ""))))]
    if "index" in action:
        node = next((node for node in nodes if node.handle == action["index"]), None)
    elif "x" in action and "y" in action:
        node = element_at(nodes, action["x"], action["y"])
    else:
        asks = f"The agent does {turn.cite(kind) or 'something'}" + (f" with {several(said)}" if said else "")
        return asks, []
    verb = _VERBS.get(kind, f"does {turn.cite(kind) or 'something'} on")
    return f"The agent {verb} {called(turn, node)}" + (f", with {several(said)}" if said else ""), _of_row(
        nodes, node, turn
    )


def _of_row(nodes: list[ScreenNode], node: ScreenNode | None, turn: Situation) -> list[str]:
    """Describe what stands in the row that an element without a name spans, and which of its states are set."""
    if node is None:
        return []
    clauses = []
    if not node.label and node.box is not None:
        inner = [
            other for other in nodes if other.label and other.box and other.line > node.line and _inside(other, node)
        ]
        labels = several([turn.cite(other.label) for other in inner])
        clauses += [f"In it stands {labels}"] if labels else []
    states = [flag for flag in node.flags if flag in ("checked", "disabled", "selected", "focused")]
    return [*clauses, *([f"It is {' and '.join(states)}"] if states else [])]


def _inside(inner: ScreenNode, outer: ScreenNode) -> bool:
    assert inner.box is not None and outer.box is not None
    x, y = inner.box.centre
    return holds_point(outer, x, y)
