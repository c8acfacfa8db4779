"""The screen of DroidBot: the state of the phone with its activity, then the tree of elements by indentation."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.dialects.foreground import activity, front
from agentworld_gym.domains.android.engine.elements import DisplayElement, quoted
from agentworld_gym.domains.android.engine.phone import Phone

STATE_ID = "• **State ID:** "


def write(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Return the state of the phone, and the line of each element."""
    app, screen = front(phone)
    lines = [_line(element) for element in elements]
    shape = "\n".join([f"{element.depth} {element.widget.role} {element.widget.key}" for element in elements])
    head = (
        "**Current Phone State:**\n"
        f"• **App:** {app.package}\n"
        f"• **Activity:** {activity(app, screen)}\n"
        f"{STATE_ID}{_digest(chr(10).join(lines))}/{_digest(shape)}\n"
        f"• **Screen:** {widgets.HEIGHT}x{widgets.WIDTH}\n"
        "\n"
        "Accessibility Tree:\n"
    )
    return head, lines


def _digest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _line(element: DisplayElement) -> str:
    widget, left, top, right, bottom, depth = element
    line = f"{'  ' * (depth + 1)}- {widget.role.rpartition('.')[2]}"
    if text := widget.text or widget.description:
        line += f' text="{quoted(text)}"'
    if flags := element.flags:
        line += f" flags={','.join(flags)}"
    return f"{line} bounds={left},{top},{right},{bottom}"
