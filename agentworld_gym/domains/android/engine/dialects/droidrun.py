"""The screen of DroidRun: the state of the phone, then a list of elements by index, class, text and bounds."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.domains.android.engine.dialects.foreground import front
from agentworld_gym.domains.android.engine.elements import DisplayElement, quoted
from agentworld_gym.domains.android.engine.phone import Phone

SCHEMA = "'index. className: resourceId, text - bounds(x1,y1,x2,y2)'"
_NONE = "No UI elements found"


FOCUSED = "• **Focused Element:** '"


def focused_text(elements: Sequence[DisplayElement]) -> str:
    """Return the text of the element that has the focus; empty where none has it."""
    return next((element.widget.text for element in elements if "focused" in element.widget.flags), "")


def write(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Return the state of the phone, and the line of each element."""
    app, _ = front(phone)
    head = (
        "**Current Phone State:**\n"
        f"• **App:** {app.title} ({app.package})\n"
        f"• **Keyboard:** {'Shown' if phone.screen['focus'] else 'Hidden'}\n"
        f"{FOCUSED}{quoted(focused_text(elements))}'\n"
        "\n"
        f"Current Clickable UI elements from the device in the schema {SCHEMA}:\n"
    )
    return head, [_line(index, element) for index, element in enumerate(elements)] or [_NONE]


def _line(index: int, element: DisplayElement) -> str:
    widget, left, top, right, bottom, _ = element
    role = widget.role.rpartition(".")[2]
    # An element without text and description is called by its class.
    name = quoted(widget.text or widget.description) or role
    return f'{index}. {role}: "{name}" - ({left},{top},{right},{bottom})'
