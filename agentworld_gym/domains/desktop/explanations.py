"""Explains the answers of a desktop: the points that the code touches, and the windows and files that change."""

from __future__ import annotations

import re
from dataclasses import replace

from agentworld_gym.core.screens import ScreenNode
from agentworld_gym.recipe.thinking.explainers.screens import called, element_at, explain_screen, front_of
from agentworld_gym.recipe.thinking.explainers.state_changes import file_clauses
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, several

_POINT = re.compile(r"(?:pyautogui\.\w+\(|coordinates=\[)(\d+), ?(\d+)")


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a desktop, whose files may change too."""
    own = re.compile(r"(?:pointer|windows/|browser/|order|clipboard|folders/|files/)")
    explanation = explain_screen(turn, _run, own, front_of("frame", "dialog"))
    kept = [change for change in turn.changes if change.field.startswith("files/")]
    paths = [change.model_copy(update={"field": change.field.removeprefix("files")}) for change in kept]
    return replace(explanation, changes=[*explanation.changes, *file_clauses(turn, paths, "/")])


def _run(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
    lines = [line for line in turn.action.split("\n") if line.strip()]
    quotes = [turn.cite(line, 100) for line in lines]
    asks = f"The code is {several(quotes, 3)}" if any(quotes) else "The code is run line by line"
    reads = []
    for x, y in _POINT.findall(turn.action)[:3]:
        node = element_at(nodes, int(x), int(y))
        reads.append(f"The point {turn.cite(x)}, {turn.cite(y)} lies on {called(turn, node)}")
    if any(call in turn.action for call in ("pyautogui.write", "typewrite", "Agent.type")):
        focused = next((node for node in nodes if "focused" in node.flags or "focused" in node.description), None)
        reads.append(
            f"What is typed goes to {called(turn, focused)}" if focused else "Typing goes to what has the focus"
        )
    return asks, reads
