"""What the code of an action is aimed at on a desktop: the widgets under its points, and what the keys go to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import HOME
from agentworld_gym.domains.desktop.engine.mouse import LINE_PIXELS, caret_at
from agentworld_gym.domains.desktop.engine.programs.browser.actions import online
from agentworld_gym.domains.desktop.engine.programs.files.listing import listed_paths
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document, view
from agentworld_gym.domains.desktop.engine.screen import RenderedScreen, ScreenSurface
from agentworld_gym.domains.web.api import behind, host_of
from agentworld_gym.kit.gui import Widget, handler

MOST = 4
"""The largest number of points of one action."""
MOST_NAMES = 12
"""The largest number of names of a folder."""
_CLICKS = {
    "click": "click",
    "leftClick": "click",
    "doubleClick": "double",
    "tripleClick": "click",
    "rightClick": "right",
    "middleClick": "middle",
    "mouseDown": "click",
}
_DRAGS = frozenset(("dragTo", "mouseUp"))
_SCROLLS = frozenset(("scroll", "vscroll"))
_KEYS = re.compile(r"\b(?:press|hotkey|keyDown)\(")
PASTES = re.compile(r"['\"]v['\"]|paste")
"""What code, or the message at a point, says where something is pasted."""
_ADDRESS = re.compile(r"(?:[A-Z]+ )?> (\S+)")
_HOME = re.compile(re.escape(HOME) + r"(?=/|$)")
_NEAR = 1
"""The number of lines of a text before and after the cursor."""


@dataclass(frozen=True, slots=True)
class ActionTarget:
    """The description of one point of an action, and the values that a change can name there."""

    told: str
    """The lines that tell it."""
    label: str = ""
    """The name of the widget."""
    messages: tuple[Any, ...] = ()
    """The messages behind it."""
    address: str = ""
    """The address behind a link of a page."""
    field: str = ""
    """The key of the text field."""
    place: tuple[int, int] | None = None
    """The line and the column of a point in the field, from 1."""
    at: tuple[int, int] | None = None
    """The place of the menu that opens."""


def aims(desktop: Desktop, source: str) -> Iterator[str]:
    """Yield what the code of an action is aimed at, a line each."""
    told = [aim.told for aim in pointed_at(desktop, source)]
    yield from told
    if _KEYS.search(source):
        yield from _names_in_front(desktop)
    text = desktop.clipboard
    if text and any(map(PASTES.search, (source, *told))):
        yield f"clipboard {compact(text)}"
    yield from _text_in_front(desktop)


def pointed_at(desktop: Desktop, source: str) -> list[ActionTarget]:
    """Return the targets of an action, in their order."""
    screen = RenderedScreen(desktop)
    told: list[ActionTarget] = []
    point: tuple[int, int] | None = None
    for name, arguments in calls(source):
        at = _point(arguments)
        if name in _SCROLLS:
            at = _point(arguments[1:]) or point
        if at is not None and name in (*_CLICKS, *_DRAGS, *_SCROLLS) and len(told) < MOST:
            told += (
                map(ActionTarget, _scrolled(screen, at)) if name in _SCROLLS else _touched(desktop, screen, at, name)
            )
        point = at or point
    return told


def calls(source: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the calls of functions with the values of their arguments, in their order."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = {keyword.arg: keyword.value for keyword in node.keywords}
                places = [*node.args, *(named[key] for key in ("x", "y") if key in named)]
                yield node.func.attr, [_value(argument) for argument in places]


def _value(node: ast.expr) -> Any:
    with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return ast.literal_eval(node)
    return None


def _point(arguments: Sequence[Any]) -> tuple[int, int] | None:
    if len(arguments) < 2 or any(type(number) not in (int, float) for number in arguments[:2]):
        return None
    x, y = arguments[:2]
    return (int(x), int(y)) if abs(x) < 10_000 and abs(y) < 10_000 else None


def _touched(desktop: Desktop, screen: RenderedScreen, at: tuple[int, int], name: str) -> Iterator[ActionTarget]:
    """Yield the widget at a point, and the messages behind it."""
    spot = screen.at(*at)
    if spot is None or not spot[1]:
        return
    surface, path = spot
    if desktop.model["popup"] is not None and surface.kind != "popup":
        yield ActionTarget("> closes the menu")
        return
    if surface.blocked:
        yield ActionTarget(" ".join([*_owner(desktop, surface), "> blocked"]))
        return
    inner = path[0]
    gestures = {"double": ("click", "double")}.get(_CLICKS.get(name, ""), (_CLICKS.get(name, "drop"),))
    words, messages, under = [], [], None
    for gesture in gestures:
        handled = handler(path, gesture)
        if handled is not None:
            widget, message = handled
            if message[:1] == ("popup/choose",):
                message = desktop.model["popup"]["entries"][message[1]].message
            messages.append(message)
            words.append(_words(message))
            if message and message[0] == "menu":
                under = (widget.x, widget.y + widget.h) if gesture == "click" else at
                words.append("at {} {}".format(*under))
    if not words and name in _CLICKS:
        words += _pointed(desktop, surface, path, at)
    place = _owner(desktop, surface)
    flags = [flag for flag in inner.flags if flag in ("checked", "selected", "disabled")]
    labels = [inner.name] if inner.name else []
    field, caret = "", None
    if inner.field is not None:
        before = inner.field.value[: caret_at(inner, *at)]
        field, caret = inner.key, (before.count("\n") + 1, len(before) - before.rfind("\n"))
        words.append("{} {} {}".format(field, *caret))
    lines = [" ".join([*place, *labels, *flags, ">", *words])]
    if words and words[0].startswith("press ") and "browser" in desktop.resources:
        lines += _page_behind(desktop, int(words[0].removeprefix("press ")))
    address = next((found[1] for found in map(_ADDRESS.match, lines[1:]) if found), "")
    yield ActionTarget("\n".join(lines), inner.name, tuple(messages), address, field, caret, under)


def _page_behind(desktop: Desktop, index: int) -> Iterator[str]:
    """Yield what lies behind an element of the page in the browser."""
    internet = online(desktop)
    host = host_of(internet.browser.tab.url)
    user = internet.sites.users(internet.browser.cookies).get(internet.sites.name_of(host))
    yield from behind(internet.browser, internet.sites, user, index)


def _owner(desktop: Desktop, surface: ScreenSurface) -> list[str]:
    """Return the program of a window that is not in front."""
    window = desktop.find(surface.number)
    if window is None or window is desktop.active:
        return []
    return [window["program"], window["title"]]


def _pointed(desktop: Desktop, surface: ScreenSurface, path: list[Widget], at: tuple[int, int]) -> Iterator[str]:
    """Yield what a point means within a widget: a share of its width, or a cell that is not drawn."""
    handled = handler(path, "point")
    if handled is None:
        return
    widget, message = handled
    x, y = at[0] - widget.x, at[1] - widget.y
    if message == ("at",):
        window = desktop.find(surface.number)
        assert window is not None
        line, column = (y - view.ROW) // view.ROW, (x - view.HEAD) // view.COLUMN
        seen = view.visible_indices(window["data"], view.grid_size(window)[0] + 1)
        if 0 <= line < len(seen) and column >= 0:
            yield document.named(seen[line], window["data"]["left"] + column)
        return
    yield f"{_words(message)} {round(20 * x / max(widget.w, 1)) * 5}"


def _scrolled(screen: RenderedScreen, at: tuple[int, int]) -> Iterator[str]:
    """Yield what the wheel turns at a point: the list with its offset and its end, or a message."""
    spot = screen.at(*at)
    if spot is None or spot[0].blocked:
        return
    for widget in spot[1]:
        if "scroll" in widget.on:
            yield f"> {_words(widget.on['scroll'])}"
            return
        if widget.scrolls:
            yield f"{widget.key} {widget.offset} of {max(widget.extent - widget.h, 0)} by {LINE_PIXELS}"
            return


def _names_in_front(desktop: Desktop) -> Iterator[str]:
    """Yield the names in the folder in front, in which keys move and select."""
    window = desktop.active
    if window is not None and window["program"] == "files" and desktop.shown_dialog(window) is None:
        paths = listed_paths(desktop, window)[: MOST_NAMES + 1]
        if 0 < len(paths) <= MOST_NAMES:
            yield "|".join(path.rpartition("/")[2] for path in paths)


def _text_in_front(desktop: Desktop) -> Iterator[str]:
    """Yield the text at the cursor of an editor, or what the cell at the cursor of a spreadsheet holds."""
    window = desktop.active
    if window is None or desktop.shown_dialog(window) is not None:
        return
    data = window["data"]
    if window["program"] == "editor":
        field = data["text"]
        lines = field.value.split("\n")
        number = field.value.count("\n", 0, field.cursor)
        for place in range(max(number - _NEAR, 0), min(number + _NEAR + 1, len(lines))):
            yield f"{place}| {lines[place]}"
    elif window["program"] == "spreadsheet" and not data["editing"]:
        entry = document.entry_at(data, tuple(data["cursor"]))
        if entry:
            yield f"{document.named(*data['cursor'])}| {entry}"


def _words(message: Any) -> str:
    """Return a message as words."""
    if isinstance(message, tuple | list):
        return " ".join(filter(None, map(_words, message)))
    return "" if message is None else _HOME.sub("~", message) if isinstance(message, str) else compact(message)
