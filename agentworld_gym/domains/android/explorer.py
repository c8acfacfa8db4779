"""The explorer of phones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from agentworld_gym.agents.policies.exploring.base import ScreenExplorer
from agentworld_gym.core.screens.node import ScreenNode

APPS = ("Calculator", "Calendar", "Clock", "Contacts", "Files", "Messages", "Notes", "Pantry", "Phone", "Settings")
DIRECTIONS = ("down", "down", "up", "left", "right")


class PhoneExplorer(ScreenExplorer):
    """An explorer that taps what can be tapped, fills fields, moves between apps, and errs at times."""

    openings = (
        '{"action_type": "click", "index": @{TextView {number}}}',
        '{"action_type": "click", "index": @{ImageButton {number}}}',
    )
    blind = '{"action_type": "wait"}'

    def choices(self) -> tuple[str, ...]:
        """Return what to do next; an explorer that has seen nothing opens an app."""
        if not self._seen and self.chance(0.8):
            return (self.app(),)
        return tuple(super().choices())

    def draft(self) -> str:
        """Draft one action."""
        return self.weighted(_KINDS)(self)

    def click(self) -> str:
        """Tap an element that takes taps."""
        return self._tapped("click", "clickable")

    def hold(self) -> str:
        """Touch and hold an element, mostly one that takes it."""
        if self.chance(0.85) and not any("long_clickable" in node.flags for node in self.nodes):
            return self.click()
        return self._tapped("long_press", "long_clickable" if self.chance(0.85) else "clickable")

    def point(self) -> str:
        """Tap a point inside an element, or anywhere."""
        nodes = [node for node in self.nodes if node.box is not None and node.box.width > 4 and node.box.height > 4]
        if nodes and self.chance(0.7):
            box = self.rng.choice(nodes).box
            assert box is not None
            x, y = box.x + self.rng.randint(1, box.width - 2), box.y + self.rng.randint(1, box.height - 2)
        else:
            x, y = self.rng.randint(0, 1079), self.rng.randint(0, 2399)
        return act("click", x=min(max(x, 0), 1079), y=min(max(y, 0), 2399))

    def type(self) -> str:
        """Type a text into a field; a tap then often sends or saves it."""
        node = self.pick(((node, 1.0) for node in self.nodes if "editable" in node.flags), self._title())
        if node is None:
            return self.click()
        label = node.label.lower()
        number = any(word in label for word in ("phone", "number", "quantity", "amount"))
        text = str(self.rng.randint(100, 99999)) if number else self.words.text
        more: dict[str, Any] = {"index": node.handle} if self.chance(0.9) or "focused" not in node.flags else {}
        if self.chance(0.3):
            more["clear_text"] = True
        if self.chance(0.2):
            self.plan(act("keyboard_enter"))
        return act("input_text", text=text, **more)

    def move(self) -> str:
        """Scroll or swipe the screen or one element."""
        kind = "scroll" if self.chance(0.6) else "swipe"
        nodes = [node for node in self.nodes if "scrollable" in node.flags]
        if not nodes and self.chance(0.7):
            return self.click()
        if nodes and self.chance(0.5):
            return act(kind, direction=self.rng.choice(DIRECTIONS), index=self.rng.choice(nodes).handle)
        return act(kind, direction=self.rng.choice(DIRECTIONS))

    def app(self) -> str:
        """Open an app, at times one that is not installed."""
        if self.chance(0.04):
            return act("open_app", app_name=self.words.word.title())
        return act("open_app", app_name=self.rng.choice(self._apps))

    @property
    def _apps(self) -> Sequence[str]:
        """The names of the apps: those that the state tells, as that of a live phone does."""
        told = self.task.state.get("apps")
        return [str(name) for name in told] if isinstance(told, list | tuple) and told else APPS

    def back(self) -> str:
        """Go back."""
        return act("navigate_back")

    def home(self) -> str:
        """Go to the home screen."""
        return act("navigate_home")

    def enter(self) -> str:
        """Press the enter key, mostly where a field has the focus."""
        if self.chance(0.8) and not any("focused" in node.flags for node in self.nodes):
            return self.click()
        return act("keyboard_enter")

    def wait(self) -> str:
        """Wait a moment."""
        return act("wait")

    def wrong(self) -> str:
        """Draft an action that most often cannot be carried out."""
        last = len(self.nodes)
        plain = [node for node in self.nodes if "clickable" not in node.flags]
        forms = [
            act("click", index=last + self.rng.randint(0, 20)),
            act("input_text", text=self.words.word, index=last + self.rng.randint(0, 9)),
            act("input_text", text=self.words.word),
            act("click"),
            act("tap", index=self.rng.randint(0, max(last - 1, 0))),
            act("scroll", direction="sideways"),
        ]
        forms += [act("click", index=node.handle) for node in plain[:2]]
        forms += [act("input_text", text=self.words.word, index=node.handle) for node in plain[-2:]]
        return self.rng.choice(forms)

    def _title(self) -> str:
        """Return the title of the screen, which is its first text."""
        return next((node.label for node in self.nodes if node.label), "")

    def _tapped(self, kind: str, flag: str) -> str:
        shares = [(node, _share(node)) for node in self.nodes if flag in node.flags]
        node = self.pick(shares, (kind, self._title()))
        if node is None:
            return self.rng.choice((self.back, self.app))()
        return act("double_tap" if kind == "click" and self.chance(0.1) else kind, index=node.handle)


_KINDS: tuple[tuple[Callable[[PhoneExplorer], str], float], ...] = (
    (PhoneExplorer.click, 0.55),
    (PhoneExplorer.hold, 0.05),
    (PhoneExplorer.point, 0.03),
    (PhoneExplorer.type, 0.14),
    (PhoneExplorer.move, 0.05),
    (PhoneExplorer.app, 0.06),
    (PhoneExplorer.back, 0.06),
    (PhoneExplorer.home, 0.015),
    (PhoneExplorer.enter, 0.015),
    (PhoneExplorer.wait, 0.01),
    (PhoneExplorer.wrong, 0.03),
)


def act(action_type: str, **arguments: Any) -> str:
    """Return an action as JSON.

    >>> act("click", index=3)
    '{"action_type": "click", "index": 3}'
    """
    return json.dumps({"action_type": action_type, **arguments}, ensure_ascii=False)


def _share(node: ScreenNode) -> float:
    """Return how often an element is tapped: the back button and fields less often than others."""
    if node.description in ("Navigate up", "Back", "Close"):
        return 0.4
    return 0.4 if "editable" in node.flags else 1.0
