"""A phone as a drawing of characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentworld_gym.core.screens import Box, ScreenNode
from agentworld_gym.kit.rendering.text import framed, named, rows_of

_PHONE = 76
_CONTAINERS = frozenset(("ViewGroup", "FrameLayout", "LinearLayout", "RecyclerView", "ScrollView", "View"))


def draw_phone(nodes: Sequence[ScreenNode], width: int) -> str:
    """Draw the elements of a phone, at most 76 characters wide."""
    width = min(width, _PHONE)
    pieces = [(node, _phone_piece(node)) for node in nodes if node.box is not None]
    placed = [(_anchor(node), piece) for node, piece in pieces if piece]
    return "\n".join(framed("", rows_of(placed, Box(0, 0, 1080, 2400), width - 4, 44), width))


def _anchor(node: ScreenNode) -> Box:
    """Return where a piece is written; a container's piece stands at its upper edge, before what lies in it."""
    box = node.box or Box(0, 0, 0, 0)
    if node.role in _CONTAINERS and not node.label:
        return Box(box.x, box.y, 0, min(box.height, 2 * 56))
    return box


def _phone_piece(node: ScreenNode) -> str:
    flags = set(node.flags)
    acts = bool(flags & {"clickable", "long_clickable", "editable", "scrollable"})
    label = node.text or node.description
    on = "checked" in flags
    forms: Mapping[str, Callable[[], str]] = {
        "Switch": lambda: f"({'on' if on else 'off'}){named(label)}",
        "CheckBox": lambda: f"[{'x' if on else ' '}]{named(label)}",
        "RadioButton": lambda: f"({'•' if on else ' '}){named(label)}",
        "EditText": lambda: f"‹{label}›" + ("_" if "focused" in flags else ""),
        "Button": lambda: f"[{label}]",
        "ImageButton": lambda: f"[{label}]",
        "Toast": lambda: f"« {label} »",
    }
    body = forms[node.role]() if node.role in forms else label
    if node.role in _CONTAINERS and not label:
        body = "↕" if "scrollable" in flags else "▸" if acts else ""
    if "selected" in flags and body:
        body = f"*{body}*"
    body = body.replace("\n", " / ")
    return f"{node.handle}:{body}" if acts and body else body
