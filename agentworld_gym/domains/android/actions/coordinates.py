"""The actions of an agent of AndroidWorld that names points instead of elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.actions.syntaxes import ActionSyntax, json_object
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.domains.android.actions.gestures import point_of, pressed, swiped


def read(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read a JSON object with an `action` on points of the screen."""
    call = json_object(text, tools)
    return None if call is None else canonical(call)


def canonical(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the action of AndroidWorld that a JSON object stands for; None where it is no action of this agent.

    A point in pixels of the screen (`coordinate_abs`) counts more than one of `coordinate`.

    >>> canonical({"action": "click", "coordinate": [540, 1200]})
    {'action_type': 'click', 'x': 540, 'y': 1200}

    Raises:
        UnreadableAction: The object is an action of this agent that cannot be read.
    """
    name = call.get("action")
    if not isinstance(name, str) or "action_type" in call:
        return None
    absolute = call.get("coordinate_abs")
    at = "coordinate_abs" if isinstance(absolute, list) else "coordinate"
    match name:
        case "click" | "long_press":
            x, y = point_of(call.get(at), at)
            return {"action_type": name, "x": x, "y": y}
        case "swipe":
            start = point_of(call.get("coordinate"), "coordinate")
            action = swiped(start, point_of(call.get("coordinate2"), "coordinate2"))
            x, y = point_of(call.get(at), at)
            return {**action, "x": x, "y": y}
        case "type":
            return {"action_type": "input_text", "text": call.get("text")}
        case "wait":
            return {"action_type": "wait"}
        case "system_button":
            return pressed(str(call.get("button")))
    raise UnreadableAction(f"{name!r} is not one of click, long_press, swipe, type, wait, system_button")


SYNTAX = ActionSyntax(read, "an action on points", as_written=True)
"""The syntax `phone_coordinates`."""
