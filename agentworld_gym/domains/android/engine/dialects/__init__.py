"""The dialects in which a phone's screen is written, a module for each.

A writer takes the phone, the name of the package on top and the elements, and returns the text before the elements and
one line for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from agentworld_gym.core.engines import Span
from agentworld_gym.domains.android.engine.dialects import androidworld, droidbot, droidrun
from agentworld_gym.domains.android.engine.elements import DisplayElement
from agentworld_gym.domains.android.engine.phone import Phone

__all__ = ["DEFAULT", "WRITERS", "Writer", "digests", "focused_text", "texts_shown"]

Writer = Callable[[Phone, Sequence[DisplayElement]], tuple[str, list[str]]]

DEFAULT = "androidworld"

WRITERS: Mapping[str, Writer] = {
    DEFAULT: androidworld.write,
    "droidrun": droidrun.write,
    "droidbot": droidbot.write,
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
        start = screen.index(droidbot.STATE_ID) + len(droidbot.STATE_ID)
        yield Span(start, screen.index("\n", start), "metadata")


def focused_text(dialect: str, screen: str, elements: Sequence[DisplayElement]) -> tuple[str, int]:
    """Return the text of the field with the focus that stands above the elements, and where; empty where none does."""
    text = droidrun.focused_text(elements) if dialect == "droidrun" else ""
    return text, screen.index(droidrun.FOCUSED) + len(droidrun.FOCUSED) if text else 0
