"""The dialects in which a phone's screen is written, a module for each.

A writer takes the phone, the name of the package on top and the elements, and returns the text before the elements and
one line for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentworld_gym.engines.android.dialects import androidworld, droidbot, droidrun
from agentworld_gym.engines.android.elements import Element
from agentworld_gym.engines.android.phone import Phone

__all__ = ["DEFAULT", "WRITERS", "Writer"]

Writer = Callable[[Phone, Sequence[Element]], tuple[str, list[str]]]

DEFAULT = "androidworld"

WRITERS: Mapping[str, Writer] = {
    DEFAULT: androidworld.write,
    "droidrun": droidrun.write,
    "droidbot": droidbot.write,
}
"""Name → writer."""
