"""The screen of DroidRun: the state of the phone, then a list of elements by index, class, id or text, and bounds."""

from __future__ import annotations

from collections.abc import Sequence

from agentworld_gym.engines.android.dialects.package import front, resource_id
from agentworld_gym.engines.android.elements import Element, quoted
from agentworld_gym.engines.android.phone import Phone

SCHEMA = "'index. className: resourceId, text - bounds(x1,y1,x2,y2)'"
_NONE = "No UI elements found"


def write(phone: Phone, elements: Sequence[Element]) -> tuple[str, list[str]]:
    """Return the state of the phone, and the line of each element."""
    app, _ = front(phone)
    focused = next((element.widget.text for element in elements if "focused" in element.widget.flags), "")
    head = (
        "**Current Phone State:**\n"
        f"• **App:** {app.title} ({app.package})\n"
        f"• **Keyboard:** {'Shown' if phone.screen['focus'] else 'Hidden'}\n"
        f"• **Focused Element:** '{quoted(focused)}'\n"
        "\n"
        f"Current Clickable UI elements from the device in the schema {SCHEMA}:\n"
    )
    return head, [_line(phone, index, element) for index, element in enumerate(elements)] or [_NONE]


def _line(phone: Phone, index: int, element: Element) -> str:
    widget, left, top, right, bottom, _ = element
    role = widget.role.rpartition(".")[2]
    text, resource = widget.text or widget.description, resource_id(phone, widget)
    # An element without an id, text and description is called by its class.
    names = [quoted(name) for name in (resource, text) if name] or [role]
    told = ", ".join([f'"{name}"' for name in names])
    return f"{index}. {role}: {told} - ({left},{top},{right},{bottom})"
