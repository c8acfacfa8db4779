"""The windows of the X server, from front to back."""

from __future__ import annotations

from typing import Any


class Windows:
    """What the X server shows.

    Raises:
        Exception: There is no X server.
    """

    def __init__(self) -> None:
        from Xlib import X, display, error

        self._x, self._error = X, error
        self._display = display.Display()
        self._root = self._display.screen().root
        self._atoms = {
            name: self._display.intern_atom(name)
            for name in (
                "WM_STATE",
                "_NET_WM_PID",
                "_NET_WM_NAME",
                "_NET_WM_WINDOW_TYPE",
                "_NET_WM_WINDOW_TYPE_TOOLTIP",
                "_GTK_FRAME_EXTENTS",
                "_NET_ACTIVE_WINDOW",
            )
        }

    def check(self) -> None:
        """Ask the X server for an answer.

        Raises:
            Exception: It is gone.
        """
        self._display.sync()

    def stack(self) -> list[dict[str, Any]]:
        """Return the windows from front to back.

        Each has `title`, `pid`, `box` (x, y, width, height) with its borders, `inner` without them, and `popup`: whether
        no window manager knows it, as the window of a menu.
        """
        found = []
        for window in reversed(self._root.query_tree().children):
            try:
                one = self._window(window)
            except self._error.XError:  # It is gone meanwhile.
                continue
            if one is not None:
                found.append(one)
        return found

    def managed(self) -> set[int]:
        """Return the numbers of the windows that the window manager shows."""
        numbers = set()
        for window in self._root.query_tree().children:
            try:
                client = self._client(window)
                if client is not None and window.get_attributes().map_state == self._x.IsViewable:
                    numbers.add(client.id)
            except self._error.XError:
                continue
        return numbers

    def _window(self, window: Any) -> dict[str, Any] | None:
        attributes = window.get_attributes()
        if attributes.map_state != self._x.IsViewable or attributes.win_class == self._x.InputOnly:
            return None
        client = self._client(window)
        if client is None and not attributes.override_redirect:
            return None
        inner = client or window
        if self._atoms["_NET_WM_WINDOW_TYPE_TOOLTIP"] in (self._value(inner, "_NET_WM_WINDOW_TYPE") or ()):
            return None
        box, inside = self._box(window), self._box(inner)
        if box[0] + box[2] <= 0 or box[1] + box[3] <= 0 or min(box[2:]) < 2:
            return None
        frame = self._value(inner, "_GTK_FRAME_EXTENTS")
        if frame is not None and len(frame) == 4 and client is not None:  # The shadow that a program draws itself.
            left, right, top, bottom = frame
            box = [inside[0] + left, inside[1] + top, inside[2] - left - right, inside[3] - top - bottom]
        pid = self._value(inner, "_NET_WM_PID")
        title = self._value(inner, "_NET_WM_NAME")
        return {
            "title": bytes(title).decode("utf-8", "replace") if title is not None else inner.get_wm_name() or "",
            "pid": int(pid[0]) if pid is not None and len(pid) else 0,
            "box": box,
            "inner": inside,
            "popup": client is None,
        }

    def _client(self, window: Any, depth: int = 0) -> Any | None:
        """Return the window of a program in the frame of the window manager."""
        if self._value(window, "WM_STATE") is not None:
            return window
        if depth < 3:
            for child in window.query_tree().children:
                found = self._client(child, depth + 1)
                if found is not None:
                    return found
        return None

    def _box(self, window: Any) -> list[int]:
        held = window.get_geometry()
        where = self._root.translate_coords(window, 0, 0)
        return [where.x, where.y, held.width, held.height]

    def _value(self, window: Any, name: str) -> Any | None:
        held = window.get_full_property(self._atoms[name], self._x.AnyPropertyType)
        return None if held is None else held.value
