"""The dialects in which a phone's screen is written, and the writer of each.

A writer takes the phone, the name of the package on top and the elements, and returns the text before the elements and
one line for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import md5

from agentworld_gym.core.engines import Span
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.elements import DisplayElement, quoted
from agentworld_gym.domains.android.engine.phone import InstalledApp, Phone, Screen

__all__ = ["DEFAULT", "WRITERS", "Writer", "activity", "digests", "focused_text", "texts_shown"]

Writer = Callable[[Phone, Sequence[DisplayElement]], tuple[str, list[str]]]

DEFAULT = "androidworld"


def front(phone: Phone) -> tuple[InstalledApp, Screen]:
    """Return the app in front and its screen; a dialog belongs to the screen that it lies over."""
    screens = [screen for screen in (*phone.stack, *phone.model["above"]) if not screen["over"]]
    screen = screens[-1] if screens else phone.screen
    return phone.apps[screen["app"]], screen


def activity(app: InstalledApp, screen: Screen) -> str:
    """Return the full name of the activity that a screen is.

    >>> from types import SimpleNamespace
    >>> activity(SimpleNamespace(package="org.example.shop"), {"name": "sign_in"})
    'org.example.shop.SignInActivity'
    """
    name = "".join(part.capitalize() for part in screen["name"].split("_"))
    return f"{app.package}.{name}Activity"


_FLAGS = ("clickable", "long_clickable", "scrollable", "focused", "checked", "selected", "editable")


def write_androidworld(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Write the lines of AndroidWorld: index, class, attributes, bounds and flags of an element, divided by bars.

    Return no text before the elements, and the line of each.
    """
    return "", [_androidworld_line(index, element) for index, element in enumerate(elements)]


def _androidworld_line(index: int, element: DisplayElement) -> str:
    widget, left, top, right, bottom, _ = element
    line = f"[{index:2}] | {widget.role} |"
    start = len(line)
    if widget.text:
        line += f' text="{quoted(widget.text)}"'
    if widget.description:
        # The description of a field is the hint that it shows while it is empty.
        line += f' {"desc" if widget.field is None else "hint"}="{quoted(widget.description)}"'
    if len(line) > start:
        line += " |"
    return f"{line} bounds=[{left},{top}][{right},{bottom}]{_flag_list(element.flags)}"


@lru_cache(maxsize=512)
def _flag_list(flags: tuple[str, ...]) -> str:
    told = ", ".join([flag for flag in flags if flag in _FLAGS])
    return f" | {told}" if told else ""


SCHEMA = "'index. className: resourceId, text - bounds(x1,y1,x2,y2)'"
_NONE = "No UI elements found"


FOCUSED = "• **Focused Element:** '"


def _focused(elements: Sequence[DisplayElement]) -> str:
    """Return the text of the element that has the focus; empty where none has it."""
    return next((element.widget.text for element in elements if "focused" in element.widget.flags), "")


def write_droidrun(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Write the screen of DroidRun: the state of the phone, then elements by index, class, text and bounds.

    Return the state of the phone, and the line of each element.
    """
    app, _ = front(phone)
    head = (
        "**Current Phone State:**\n"
        f"• **App:** {app.title} ({app.package})\n"
        f"• **Keyboard:** {'Shown' if phone.screen['focus'] else 'Hidden'}\n"
        f"{FOCUSED}{quoted(_focused(elements))}'\n"
        "\n"
        f"Current Clickable UI elements from the device in the schema {SCHEMA}:\n"
    )
    return head, [_droidrun_line(index, element) for index, element in enumerate(elements)] or [_NONE]


def _droidrun_line(index: int, element: DisplayElement) -> str:
    widget, left, top, right, bottom, _ = element
    role = widget.role.rpartition(".")[2]
    # An element without text and description is called by its class.
    name = quoted(widget.text or widget.description) or role
    return f'{index}. {role}: "{name}" - ({left},{top},{right},{bottom})'


STATE_ID = "• **State ID:** "


def write_droidbot(phone: Phone, elements: Sequence[DisplayElement]) -> tuple[str, list[str]]:
    """Write the screen of DroidBot: the state of the phone with its activity, then elements by indentation.

    Return the state of the phone, and the line of each element.
    """
    app, screen = front(phone)
    lines = [_droidbot_line(element) for element in elements]
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


def _droidbot_line(element: DisplayElement) -> str:
    widget, left, top, right, bottom, depth = element
    line = f"{'  ' * (depth + 1)}- {widget.role.rpartition('.')[2]}"
    if text := widget.text or widget.description:
        line += f' text="{quoted(text)}"'
    if flags := element.flags:
        line += f" flags={','.join(flags)}"
    return f"{line} bounds={left},{top},{right},{bottom}"


WRITERS: Mapping[str, Writer] = {
    DEFAULT: write_androidworld,
    "droidrun": write_droidrun,
    "droidbot": write_droidbot,
}
"""Name → writer."""


def texts_shown(dialect: str, element: DisplayElement) -> list[str]:
    """Return the texts that the line of an element quotes, in their order.

    AndroidWorld shows text and description, the others show the description where there is no text.
    """
    widget = element.widget
    if dialect == DEFAULT:
        return [text for text in (widget.text, widget.description) if text]
    return [text for text in (widget.text or widget.description,) if text]


def digests(dialect: str, screen: str) -> Iterator[Span]:
    """Yield the digests that DroidBot makes of a screen, which nobody can foresee."""
    if dialect == "droidbot":
        start = screen.index(STATE_ID) + len(STATE_ID)
        yield Span(start, screen.index("\n", start), "metadata")


def focused_text(dialect: str, screen: str, elements: Sequence[DisplayElement]) -> tuple[str, int]:
    """Return the text of the field with the focus that stands above the elements, and where; empty where none does."""
    text = _focused(elements) if dialect == "droidrun" else ""
    return text, screen.index(FOCUSED) + len(FOCUSED) if text else 0
