"""The windows of the X server, from front to back.

Requests go out together, and their answers are read after that, so that a look takes two round trips.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_ATOMS = (
    "_NET_CLIENT_LIST_STACKING",
    "_NET_FRAME_EXTENTS",
    "_NET_WM_NAME",
    "_NET_WM_PID",
    "_NET_WM_WINDOW_TYPE",
    "_NET_WM_WINDOW_TYPE_TOOLTIP",
    "_GTK_FRAME_EXTENTS",
)


class Windows:
    """What the X server shows.

    Raises:
        Exception: There is no X server.
    """

    def __init__(self) -> None:
        from Xlib import X, display, error
        from Xlib.protocol import request

        self._x, self._error, self._requests = X, error, request
        self._display = display.Display()
        self._root = self._display.screen().root.id
        self._atoms = {name: self._display.intern_atom(name) for name in _ATOMS}

    def managed(self) -> set[int]:
        """Return the numbers of the windows of programs."""
        return set(self._clients(self._ask([self._property(self._root, "_NET_CLIENT_LIST_STACKING")])[0]))

    def stack(self) -> list[dict[str, Any]]:
        """Return the windows from front to back: those of menus, and then those that the window manager knows.

        Each has `title`, `pid`, `box` (x, y, width, height) with its borders, `inner` without them, and `popup`:
        whether the window manager does not know it.
        """
        tree, listed = self._ask(
            [
                (self._requests.QueryTree, {"window": self._root}),
                self._property(self._root, "_NET_CLIENT_LIST_STACKING"),
            ]
        )
        clients = self._clients(listed)
        children = [window.id if hasattr(window, "id") else int(window) for window in tree.children]
        told = self._ask([one for window in (*clients, *children) for one in self._questions(window)])
        each = len(told) // max(len(clients) + len(children), 1)
        answers = [told[place : place + each] for place in range(0, len(told), each)]
        parents = {_number(one[1].parent) for one in answers[: len(clients)] if one[1] is not None}
        popups = [
            window
            for number, one in zip(children, answers[len(clients) :], strict=True)
            if number not in parents and number not in clients and (window := self._window(one, popup=True))
        ]
        known = [window for one in answers[: len(clients)] if (window := self._window(one, popup=False))]
        return [*popups[::-1], *known[::-1]]

    def _questions(self, window: int) -> Iterable[tuple[Any, dict[str, Any]]]:
        yield self._requests.GetWindowAttributes, {"window": window}
        yield self._requests.QueryTree, {"window": window}
        yield self._requests.GetGeometry, {"drawable": window}
        yield self._requests.TranslateCoords, {"src_wid": window, "dst_wid": self._root, "src_x": 0, "src_y": 0}
        for name in ("_NET_WM_NAME", "_NET_WM_PID", "_NET_WM_WINDOW_TYPE", "_NET_FRAME_EXTENTS", "_GTK_FRAME_EXTENTS"):
            yield self._property(window, name)
        yield self._property(window, self._x_name)

    @property
    def _x_name(self) -> int:
        return 39  # The atom WM_NAME, which every X server has under this number.

    def _window(self, told: Sequence[Any], popup: bool) -> dict[str, Any] | None:
        attributes, _, geometry, where, name, pid, kind, border, shadow, old_name = told
        if attributes is None or geometry is None or where is None:
            return None
        if attributes.map_state != self._x.IsViewable or attributes.win_class == self._x.InputOnly:
            return None
        if self._atoms["_NET_WM_WINDOW_TYPE_TOOLTIP"] in _value(kind) or (popup and not attributes.override_redirect):
            return None
        inner = box = [where.x, where.y, geometry.width, geometry.height]
        if box[0] + box[2] <= 0 or box[1] + box[3] <= 0 or min(box[2:]) < 2:
            return None
        if len(drawn := _value(shadow)) == 4 and not popup:  # The shadow that a program draws itself.
            box = _grown(box, [-side for side in drawn])
        elif len(borders := _value(border)) == 4 and not popup:
            box = _grown(box, borders)
        title = bytes(_value(name) or _value(old_name) or b"").decode("utf-8", "replace")
        number = int(next(iter(_value(pid)), 0))
        return {"title": title, "pid": number, "box": box, "inner": inner, "popup": popup}

    def _clients(self, listed: Any) -> list[int]:
        return [int(number) for number in _value(listed)]

    def _property(self, window: int, name: str | int) -> tuple[Any, dict[str, Any]]:
        atom = self._atoms[name] if isinstance(name, str) else name
        asked = {"delete": 0, "window": window, "property": atom, "type": self._x.AnyPropertyType}
        return self._requests.GetProperty, {**asked, "long_offset": 0, "long_length": 1024}

    def _ask(self, questions: Sequence[tuple[Any, dict[str, Any]]]) -> list[Any]:
        """Return the answers of the X server; None where a window is gone."""
        sent = [kind(display=self._display.display, defer=True, **keys) for kind, keys in questions]
        answers: list[Any] = []
        for one in sent:
            try:
                one.reply()
            except self._error.XError:
                answers.append(None)
            else:
                answers.append(one)
        return answers


def _value(told: Any) -> Sequence[Any]:
    """Return the value of a property; nothing where it is not set."""
    held = getattr(told, "value", None)
    return () if held is None else held[1]


def _number(window: Any) -> int:
    return int(window.id if hasattr(window, "id") else window)


def _grown(box: Sequence[int], sides: Sequence[int]) -> list[int]:
    """Return a box with borders on its left, right, top and bottom.

    >>> _grown([10, 20, 30, 40], [1, 1, 20, 5])
    [9, 0, 32, 65]
    """
    left, right, top, bottom = (int(side) for side in sides)
    return [box[0] - left, box[1] - top, box[2] + left + right, box[3] + top + bottom]
