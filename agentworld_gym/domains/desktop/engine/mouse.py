"""The mouse: what presses, releases and the wheel do at a point."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.domains.desktop.engine import desktop_shell
from agentworld_gym.domains.desktop.engine.desktop import SHELL, Desktop
from agentworld_gym.domains.desktop.engine.geometry import HEIGHT, WIDTH
from agentworld_gym.domains.desktop.engine.message_dispatch import dispatch
from agentworld_gym.domains.desktop.engine.screen import RenderedScreen, ScreenSurface
from agentworld_gym.domains.desktop.engine.widgets import METRICS
from agentworld_gym.kit.gui import Widget, handler

DRAG_PIXELS = 6
DOUBLE_SECONDS = 0.5
LINE_PIXELS = 50
_WORD = re.compile(r"\w+|\W")
Spot = tuple[ScreenSurface, list[Widget]]


class Mouse:
    """The mouse of one desktop."""

    def __init__(self, desktop: Desktop, screen: RenderedScreen) -> None:
        self.desktop, self.screen = desktop, screen
        self._time = 0.0
        self._last: tuple[str, int, int, float, int] = ("", 0, 0, 0.0, 0)

    @property
    def position(self) -> tuple[int, int]:
        """The position of the pointer."""
        x, y = self.desktop.model["pointer"]
        return x, y

    def rest(self) -> None:
        """End an action: the next click does not continue a double click."""
        self._last = ("", 0, 0, 0.0, 0)

    def wait(self, seconds: float) -> None:
        """Let time pass between clicks, which decides whether two of them are a double click."""
        self._time += seconds

    def move(self, x: float, y: float) -> None:
        """Move the pointer within the screen."""
        self.desktop.model["pointer"][:] = [int(min(max(x, 0), WIDTH - 1)), int(min(max(y, 0), HEIGHT - 1))]

    def down(self, button: str) -> None:
        """Press a button."""
        self.desktop.model["pressed"].setdefault(button, self.position)

    def up(self, button: str, held: tuple[str, ...] = ()) -> None:
        """Release a button, which completes a click or a drag."""
        start = self.desktop.model["pressed"].pop(button, None)
        if start is None:
            return
        x, y = self.position
        source = self.screen.at(*start)
        if source is None or self._closes_menu(source[0]):
            return
        if abs(x - start[0]) + abs(y - start[1]) > DRAG_PIXELS:
            if button == "left" and self._enter(source[0]):
                self._drag(source, start, (x, y))
            return
        count = self._count(button, x, y)
        if not self._enter(source[0]):
            return
        if button == "left":
            self._click(source, x, y, count, held)
        else:
            self._other(source, button, x, y)

    def scroll(self, lines: float, sideways: bool = False) -> None:
        """Turn the wheel; positive numbers are down or right."""
        spot = self.screen.at(*self.position)
        if spot is None or spot[0].blocked:
            return
        surface, path = spot
        if surface.number != SHELL:
            self.desktop.model["scrolled"].add(surface.number)
        gesture = "hscroll" if sideways else "scroll"
        for widget in path:
            if gesture in widget.on:
                dispatch(self.desktop, surface, (*widget.on[gesture], int(lines)), self.position)
                return
            if widget.scrolls and not sideways:
                offset = min(max(widget.offset + int(lines * LINE_PIXELS), 0), max(widget.extent - widget.h, 0))
                if offset != widget.offset:
                    self._scrolled(surface, widget.key, offset)
                return

    def _scrolled(self, surface: ScreenSurface, key: str, offset: int) -> None:
        if surface.dialog is not None:
            surface.dialog["scroll"][key] = offset
            surface.dialog["version"] += 1
            return
        window = self.desktop.find(surface.number)
        if window is not None:
            window["scroll"][key] = offset
            self.desktop.touch(window)

    def _closes_menu(self, surface: ScreenSurface) -> bool:
        """Return whether a click only closes the open menu."""
        popup = self.desktop.model["popup"]
        if popup is None or surface.kind == "popup":
            return False
        self.desktop.model["popup"] = None
        return True

    def _enter(self, surface: ScreenSurface) -> bool:
        """Bring the window of a surface to the front, and return whether it takes input."""
        window = self.desktop.find(surface.number)
        if window is not None and self.desktop.active is not window:
            self.desktop.raise_window(window)
        return not surface.blocked

    def _count(self, button: str, x: int, y: int) -> int:
        """Return the number of a click within a double or triple click."""
        now = self._time
        name, last_x, last_y, when, count = self._last
        near = name == button and abs(x - last_x) + abs(y - last_y) <= DRAG_PIXELS and now - when <= DOUBLE_SECONDS
        count = count + 1 if near and count < 3 else 1
        self._last = (button, x, y, now, count)
        return count

    def _click(self, spot: Spot, x: int, y: int, count: int, held: tuple[str, ...]) -> None:
        surface, path = spot
        if not path or any(not widget.enabled for widget in path):
            return
        self._focus(surface, path)
        inner = path[0]
        if inner.field is not None:
            self._caret(surface, inner, (x, y), count, "shift" in held)
        gestures = [f"{name}+click" for name in ("ctrl", "shift") if name in held] + ["click"]
        if count == 2 and handler(path, "double") is not None:
            gestures = ["double"]
        for gesture in gestures:
            handled = handler(path, gesture)
            if handled is not None:
                widget, message = handled
                dispatch(self.desktop, surface, message, (widget.x, widget.y + widget.h))
                return
        self._point(surface, path, x, y)

    def _other(self, spot: Spot, button: str, x: int, y: int) -> None:
        surface, path = spot
        handled = handler(path, button)
        if handled is not None:
            if path and path[0].field is not None:
                self._focus(surface, path)
            dispatch(self.desktop, surface, handled[1], (x, y))

    def _focus(self, surface: ScreenSurface, path: list[Widget]) -> None:
        for widget in path:
            if widget.key and (widget.field is not None or "focusable" in widget.flags):
                focus(self.desktop, surface, widget.key)
                return

    def _caret(self, surface: ScreenSurface, widget: Widget, at: tuple[int, int], count: int, extend: bool) -> None:
        field = widget.field
        assert field is not None
        place = caret_at(widget, *at)
        field.place(place, extend)
        if count == 2:
            for word in _WORD.finditer(field.value):
                if word.start() <= place < word.end():
                    field.anchor, field.cursor = word.span()
        elif count == 3:
            start = field.value.rfind("\n", 0, place) + 1
            end = field.value.find("\n", place)
            field.anchor, field.cursor = start, len(field.value) if end < 0 else end
        self._moved(surface, widget)

    def _moved(self, surface: ScreenSurface, widget: Widget) -> None:
        if "moved" in widget.on:
            dispatch(self.desktop, surface, widget.on["moved"], self.position)

    def _point(self, surface: ScreenSurface, path: list[Widget], x: int, y: int) -> None:
        handled = handler(path, "point")
        if handled is not None:
            widget, message = handled
            inside = (min(max(x - widget.x, 0), widget.w), min(max(y - widget.y, 0), widget.h))
            dispatch(self.desktop, surface, (*message, *inside, widget.w, widget.h), self.position)

    def _drag(self, source: Spot, start: tuple[int, int], end: tuple[int, int]) -> None:
        surface, path = source
        if not path or any(not widget.enabled for widget in path):
            return
        inner = path[0]
        handled = handler(path, "drag")
        if inner.field is not None:
            self._focus(surface, path)
            inner.field.place(caret_at(inner, *start))
            inner.field.place(caret_at(inner, *end), extend=True)
            self._moved(surface, inner)
        elif handled is not None:
            self._drop(surface, handled[1], start, end)
        elif handler(path, "point") is not None:
            self._point(surface, path, *end)
        else:
            target = self.screen.at(*end)
            if target is not None and target[1] and target[1][0] is inner and handler(path, "click") is not None:
                self._click(source, *end, 1, ())

    def _drop(
        self, surface: ScreenSurface, message: tuple[Any, ...], start: tuple[int, int], end: tuple[int, int]
    ) -> None:
        if message == ("window/move",):
            window = self.desktop.find(surface.number)
            if window is not None:
                desktop_shell.manage_window(
                    self.desktop, window, ("window/shift", end[0] - start[0], end[1] - start[1])
                )
            return
        dropped: tuple[Any, ...] = ("nowhere",)
        target = self.screen.at(*end)
        if target is not None and not target[0].blocked and self._same_program(surface, target[0]):
            handled = handler(target[1], "drop")
            if handled is not None:
                dropped = handled[1]
        dispatch(self.desktop, surface, (*message, *dropped), end)

    def _same_program(self, one: ScreenSurface, other: ScreenSurface) -> bool:
        windows = self.desktop.find(one.number), self.desktop.find(other.number)
        return windows[0] is not None and windows[1] is not None and windows[0]["program"] == windows[1]["program"]


def caret_at(widget: Widget, x: int, y: int) -> int:
    """Return the place in a field's text that is nearest to a point; `offset` is the first visible line."""
    field = widget.field
    assert field is not None
    across = max(0, x - widget.x - METRICS.margin[0] + METRICS.char // 2) // METRICS.char
    if not field.multiline:
        return min(across, len(field.value))
    line = max(0, y - widget.y - METRICS.margin[1]) // METRICS.line + widget.offset
    place = 0
    for _ in range(line):
        after = field.value.find("\n", place)
        if after < 0:
            return len(field.value)
        place = after + 1
    end = field.value.find("\n", place)
    return min(place + across, len(field.value) if end < 0 else end)


def focus(desktop: Desktop, surface: ScreenSurface, key: str) -> None:
    """Give the focus of a surface to a widget."""
    if surface.dialog is not None:
        if surface.dialog["focus"] != key:
            surface.dialog["focus"] = key
            surface.dialog["version"] += 1
        return
    window = desktop.find(surface.number)
    if window is not None:
        desktop.focus(window, key)
