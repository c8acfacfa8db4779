"""What a curious agent tries in vain on a phone: elements and apps that are not there, and taps that do nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.core.screens.node import Box
from agentworld_gym.domains.android.explorer import APPS, PhoneExplorer, act

_TAKES = ("clickable", "long_clickable", "editable", "scrollable")


class PhoneRefusals(Refusals, PhoneExplorer):
    """Uses what a screen does not have, and what an element cannot do."""

    look = act("wait")

    @property
    def beyond(self) -> int:
        """An index that is not on the screen."""
        return len(self.nodes) + self.rng.randint(2, 40)

    @property
    def at_home(self) -> bool:
        """Whether the home screen is shown."""
        return bool(self.nodes) and self.nodes[0].description.startswith("Home screen")

    def without(self, flag: str, kind: str, **arguments: Any) -> str | None:
        """Return an action on an element that does not take it, nor does one around it; None where there is none."""
        boxes = self._taking(_TAKES if flag == "any" else (flag, "clickable"))
        nodes = [node for node in self.nodes if node.box is not None and not _inside(boxes, *node.box.centre)]
        return act(kind, **arguments, index=self.rng.choice(nodes).handle) if nodes else None

    def if_home(self, kind: str) -> str | None:
        """Return an action on the home screen; None on any other."""
        return act(kind) if self.at_home else None

    def if_none(self, flag: str, kind: str, **arguments: Any) -> str | None:
        """Return an action where no element of the screen takes it; None where one does, or no screen was seen."""
        taken = any(flag in node.flags for node in self.nodes)
        return act(kind, **arguments) if self.nodes and not taken else None

    def beside(self, kind: str) -> str | None:
        """Return an action at a point of no element that takes one; None where no such point is found."""
        boxes = self._taking(_TAKES)
        for _ in range(12) if self.nodes else ():
            x, y = self.rng.randint(20, 1060), self.rng.randint(130, 2270)
            if not _inside(boxes, x, y):
                return act(kind, x=x, y=y)
        return None

    def _taking(self, flags: Sequence[str]) -> list[Box]:
        """Return the boxes of the elements that take one of some things."""
        return [node.box for node in self.nodes if node.box is not None and any(one in node.flags for one in flags)]

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "element that is not there": (
            lambda t: act("click", index=t.beyond),
            lambda t: act("long_press", index=t.beyond),
            lambda t: act("input_text", text=t.names.word, index=t.beyond),
            lambda t: act("scroll", direction="down", index=t.beyond),
            lambda t: act("double_tap", index=t.beyond),
        ),
        "element that takes no tap": (
            lambda t: t.without("any", "click"),
            lambda t: t.without("any", "long_press"),
            lambda t: t.without("any", "double_tap"),
        ),
        "no field": (
            lambda t: t.without("editable", "input_text", text=t.names.word),
            lambda t: t.if_none("focused", "input_text", text=t.names.word),
            lambda t: t.without("any", "input_text", text=f"{t.names.word} {t.names.word}"),
        ),
        "app that is not there": (
            lambda t: act("open_app", app_name=t.names.word.title()),
            lambda t: act("open_app", app_name=t.names.near(t.rng.choice(APPS))),
            lambda t: act("open_app", app_name=f"{t.names.word.title()} {t.names.word.title()}"),
        ),
        "home already": (
            lambda t: t.if_home("navigate_back"),
            lambda t: t.if_home("navigate_home"),
        ),
        "nothing to scroll": (
            lambda t: t.without("scrollable", "scroll", direction=t.rng.choice(("up", "down", "left"))),
            lambda t: t.if_none("scrollable", "scroll", direction=t.rng.choice(("up", "down"))),
            lambda t: t.if_none("scrollable", "swipe", direction=t.rng.choice(("left", "right", "up"))),
        ),
        "key that does nothing": (lambda t: t.if_none("focused", "keyboard_enter"),),
        "point of nothing": (
            lambda t: t.beside("click"),
            lambda t: t.beside("long_press"),
        ),
    }
    """The kinds of actions."""


def _inside(boxes: Sequence[Box], x: int, y: int) -> bool:
    """Whether a point is in one of some boxes."""
    return any(box.x <= x < box.x + box.width and box.y <= y < box.y + box.height for box in boxes)
