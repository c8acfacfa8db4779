"""The agent's actions on a phone: touches, typing, scrolling, the buttons of the system, apps, and waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.display import Display, next_field
from agentworld_gym.domains.android.engine.phone import LAUNCHER, Phone
from agentworld_gym.domains.android.engine.pointing import Target, scrolled, step_of, target_of, touched
from agentworld_gym.kit.gui import Widget, find, handler

DIRECTIONS = ("up", "down", "left", "right")
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
WAIT_SECONDS = 60
"""The time in seconds that an action `wait` lets pass; other actions take no time."""


class Actions:
    """Carries out actions on a phone. `display` is what the agent saw last."""

    __slots__ = ("display", "phone", "shift")

    def __init__(self, phone: Phone, display: Display) -> None:
        self.phone, self.display = phone, display
        self.shift = 0
        """The difference between the indices that the agent saw and the present ones, after something was shown on top.
        """

    def perform(self, action: Mapping[str, Any]) -> bool:
        """Carry out an action, and return whether it can have changed anything."""
        name = action.get("action_type")
        act = _ACTIONS.get(name) if isinstance(name, str) else None
        return act is not None and act(self, action)

    def click(self, action: Mapping[str, Any]) -> bool:
        """Touch a point."""
        target = self._target(action)
        return target is not None and self._touch(target, "click")

    def double_tap(self, action: Mapping[str, Any]) -> bool:
        """Touch a point twice, where nothing reacts to a double touch."""
        target = self._target(action)
        if target is None:
            return False
        if self._touch(target, "double"):
            return True
        first = self._touch(target, "click")
        if first:
            self._look()
        return self._touch(target._replace(element=None), "click") or first

    def long_press(self, action: Mapping[str, Any]) -> bool:
        """Touch a point for a while."""
        target = self._target(action)
        return target is not None and self._touch(target, "long")

    def input_text(self, action: Mapping[str, Any]) -> bool:
        """Type into the named field, or else into the focused one."""
        text = action.get("text")
        if not isinstance(text, str):
            return False
        changed = False
        if "index" in action or "x" in action:
            target = self._target(action)
            if target is None:
                return False
            changed = self._touch(target, "click")
            if changed:
                self._look()
        widget = self._focused()
        if widget is None or widget.field is None:
            return changed
        if action.get("clear_text") is True:
            widget.field.set("")
        before = widget.field.value
        if "digits" in widget.flags:
            text = "".join([letter for letter in text if letter.isdecimal() or letter in "+*#.,:- "])
        widget.field.insert(_typed(text))
        if widget.field.value != before or action.get("clear_text") is True:
            changed = True
            self.phone.send(widget.on.get("changed"))
        return changed

    def keyboard_enter(self, action: Mapping[str, Any]) -> bool:
        """Press the action key of the keyboard."""
        return self._key("enter")

    def scroll(self, action: Mapping[str, Any]) -> bool:
        """Scroll the content, so that more of it shows in a direction."""
        direction = action.get("direction")
        if direction not in DIRECTIONS:
            return False
        middle = Target(widgets.WIDTH // 2, widgets.HEIGHT // 2)
        target = self._target(action) if "index" in action or "x" in action else middle
        return target is not None and self._scroll(target, direction)

    def swipe(self, action: Mapping[str, Any]) -> bool:
        """Move the finger, which pulls the content along; a swipe from an edge is a gesture of the system."""
        direction = action.get("direction")
        if direction not in DIRECTIONS:
            return False
        middle = Target(widgets.WIDTH // 2, widgets.HEIGHT // 2)
        target = self._target(action) if "index" in action or "x" in action else middle
        if target is None:
            return False
        if direction == "down" and target.y < widgets.STATUS and target.element is None:
            if self.phone.model["above"]:
                return False
            self.phone.raise_above("shade", app="shade", full=True)
            return True
        if direction == "up" and target.y >= widgets.HEIGHT - widgets.GESTURE and target.element is None:
            return self.navigate_home(action)
        return self._scroll(target, _OPPOSITE[direction])

    def navigate_back(self, action: Mapping[str, Any]) -> bool:
        """Close the keyboard, a dialog or a menu, or else go back one screen."""
        phone = self.phone
        screen = phone.screen
        if screen["focus"]:
            phone.unfocus()
            return True
        if screen.get("disturbance") and screen["over"]:
            return False
        app = phone.apps[screen["app"]]
        if not app.back(phone, screen):
            if phone.model["front"] == LAUNCHER and len(phone.stack) == 1 and not phone.model["above"]:
                return False
            phone.pop()
        return True

    def navigate_home(self, action: Mapping[str, Any]) -> bool:
        """Go to the launcher."""
        phone = self.phone
        if any(screen.get("disturbance") for screen in phone.model["above"]):
            return False
        phone.home()
        return True

    def open_app(self, action: Mapping[str, Any]) -> bool:
        """Start an app at its first screen."""
        name = action.get("app_name")
        if not isinstance(name, str) or len(name) > 100:
            return False
        title = name.strip().casefold()
        for app in self.phone.apps.values():
            if app.icon and title in (app.title.casefold(), app.package):
                if any(screen.get("disturbance") for screen in self.phone.model["above"]):
                    return False
                self.phone.launch(app.id, fresh=True)
                return True
        return False

    def kill_app(self, action: Mapping[str, Any]) -> bool:
        """End the app in front with all of its screens, which leads to the launcher."""
        phone = self.phone
        if any(screen.get("disturbance") for screen in phone.model["above"]):
            return False
        if phone.model["front"] == LAUNCHER:
            return self.navigate_home(action)
        phone.model["above"].clear()
        phone.stop(phone.model["front"])
        return True

    def wait(self, action: Mapping[str, Any]) -> bool:
        """Let time pass."""
        phone = self.phone
        phone.model["clock"] += WAIT_SECONDS
        phone.screen.pop("loading", None)
        for app in phone.apps.values():
            app.tick(phone, WAIT_SECONDS)
        return True

    def _target(self, action: Mapping[str, Any]) -> Target | None:
        return target_of(self.display, action, self.shift)

    def _look(self) -> None:
        """Return the present display."""
        self.display = Display(self.phone)

    def _touch(self, target: Target, gesture: str) -> bool:
        path = self.display.at(target.x, target.y)
        if gesture == "click" and (slide := handler(path, "slide")) is not None:
            bar, message = slide
            self.phone.send((*message, round(100 * (target.x - bar.x) / bar.w)))
            return True
        handled = handler(path, gesture)
        if handled is None:
            return False
        widget, message = handled
        if message[0] == "system/key":
            return self._key(message[1])
        if message[0] == "system/nothing":
            return False
        if message[0] == "system/back":
            return self.navigate_back({})
        phone = self.phone
        screen = phone.screen
        again = screen["focus"] and screen["focus"] == widget.key
        if "replace" in widget.flags and widget.field is not None:
            widget.field.select_all()
        if again and message[0] == "system/focus":
            return False
        phone.send(message)
        return True

    def _focused(self) -> Widget | None:
        key = self.phone.screen["focus"]
        return find(self.display.root, key) if key else None

    def _key(self, key: str) -> bool:
        """Press a key of the keyboard."""
        widget = self._focused()
        if widget is None or widget.field is None:
            return False
        phone = self.phone
        if key == "delete":
            before = widget.field.value
            widget.field.press("backspace")
            if widget.field.value == before:
                return False
            phone.send(widget.on.get("changed"))
        elif widget.field.multiline:
            widget.field.insert("\n")
            phone.send(widget.on.get("changed"))
        elif (message := widget.on.get("enter")) is not None:
            phone.send(message)
        elif after := next_field(self.display.root, widget.key):
            phone.focus(after)
        else:
            phone.unfocus()
        return True

    def _scroll(self, target: Target, direction: str) -> bool:
        path = touched(self.display, target)
        if direction in ("up", "down"):
            area = scrolled(self.display, target)
            if area is not None:
                step = step_of(area)
                offset = area.offset + (step if direction == "down" else -step)
                offset = min(max(offset, 0), area.extent - area.h)
                if offset != area.offset:
                    self.phone.screen["scroll"][area.key] = offset
                    return True
        handled = handler(path, direction)
        if handled is None:
            return False
        self.phone.send(handled[1])
        return True


def _typed(text: str) -> str:
    """Return the part of a text that a keyboard can type."""
    if text.isprintable():
        return text
    return "".join([letter for letter in text if letter.isprintable() or letter == "\n"])


_ACTIONS = {
    name: getattr(Actions, name)
    for name in (
        "click",
        "double_tap",
        "long_press",
        "input_text",
        "keyboard_enter",
        "scroll",
        "swipe",
        "navigate_back",
        "navigate_home",
        "open_app",
        "kill_app",
        "wait",
    )
}
