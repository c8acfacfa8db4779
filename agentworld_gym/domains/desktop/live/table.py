"""The table of a real screen, in the form in which the grounded desktop shows its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.domains.desktop.screen_texts import SEVEN_COLUMNS

MAX_TEXT = 4_000
"""The largest number of characters of a text in the table."""

_ROLES = frozenset(
    (
        "canvas",
        "check-box",
        "combo-box",
        "date-editor",
        "entry",
        "icon",
        "image",
        "info-bar",
        "paragraph",
        "password-text",
        "page-tab",
        "progress-bar",
        "section",
        "slider",
        "spin-button",
        "static",
        "switch",
        "table-cell",
        "terminal",
        "text",
        "toggle-switch",
        "tree-item",
    )
)
_ENDS = ("item", "button", "heading", "label", "link", "menu", "header")
"""What has a row: these roles, and those with these ends, as in OSWorld's table."""

_FRAMES = frozenset(("alert", "color-chooser", "dialog", "file-chooser", "font-chooser", "frame"))
_FIELDS = frozenset(("editable", "entry", "password-text", "spin-button", "terminal", "text"))
"""The roles that have a row without a name and a text."""

_RENAMED = {"table-column-header": "column-header", "table-row-header": "row-header"}
_TAGS = re.compile(r"<[^>]*>")
_NO_BOX = -(1 << 31)
_ESCAPES = str.maketrans({"\n": "\\n", "\t": "\\t", "\r": "\\r", "\N{OBJECT REPLACEMENT CHARACTER}": None})

Box = tuple[int, int, int, int]


class _Window(NamedTuple):
    title: str
    pid: int
    box: Box
    inner: Box
    popup: bool


def table(told: Mapping[str, Any], size: tuple[int, int]) -> str:
    """Return the table of a screen.

    The windows come from front to back, each with its elements in the order of its tree. An element whose middle is
    covered, scrolled away or disabled has no row. Of a window that tells no elements only the title is shown.

    Args:
        told: The windows and the elements, as `inside.windows` and `inside.accessibility` tell them.
        size: The width and the height of the screen.

    >>> window = {"title": "a", "pid": 7, "box": [0, 0, 90, 60], "inner": [5, 20, 80, 40], "popup": False}
    >>> print(table({"windows": [window], "elements": []}, (100, 100)).split("\\n")[1])
    frame	a	""			(5, 20)	(80, 40)
    """
    windows = [
        _Window(one["title"], one["pid"], _box(one["box"]), _box(one["inner"]), one["popup"]) for one in told["windows"]
    ]
    elements: Sequence[Mapping[str, Any]] = told["elements"]
    rows: list[list[str]] = [[] for _ in windows]
    homes: list[int | None] = []
    clips: list[Box] = []
    for one in elements:
        box, above = _box(one["box"]), one["above"]
        home = _home(one, box, windows) if above < 0 else homes[above]
        if above >= 0 and elements[above]["role"] == "menu":
            home = _popup(box, one["pid"], windows, home)
        homes.append(home)
        clip = clips[above] if above >= 0 else (0, 0, *size)
        clips.append(_shared(clip, box) if one["role"] in ("scroll-pane", "viewport") and box[2] > 0 else clip)
        if home is not None and _is_shown(one, box, home, windows, clip):
            rows[home].append(_row(one, box))
    for number, window in enumerate(windows):
        if not rows[number] and not window.popup:
            rows[number].append(_line("frame", window.title, "", "", window.inner))
    return "\n".join([SEVEN_COLUMNS, *(line for lines in rows for line in lines)])


def _home(one: Mapping[str, Any], box: Box, windows: Sequence[_Window]) -> int | None:
    """Return the place of the window that an element without one above it is."""
    own = [number for number, window in enumerate(windows) if window.pid in (one["pid"], 0)]
    if not own:
        return None
    return min(own, key=lambda number: (windows[number].title != one["name"], _apart(windows[number].inner, box)))


def _popup(box: Box, pid: int, windows: Sequence[_Window], home: int | None) -> int | None:
    """Return the place of the popup that shows an entry of a menu."""
    middle = _middle(box)
    for number, window in enumerate(windows):
        if window.popup and window.pid in (pid, 0) and _holds(window.box, middle):
            return number
    return home


def _is_shown(one: Mapping[str, Any], box: Box, home: int, windows: Sequence[_Window], clip: Box) -> bool:
    role, states = one["role"], one["states"]
    if box[0] == _NO_BOX or box[2] <= 0 or box[3] <= 0:
        return False
    if role in _FRAMES:
        return bool(role != "frame" or one["above"] < 0)  # Qt calls borders within a window so.
    if role not in _ROLES and not role.endswith(_ENDS):
        return False
    if "enabled" not in states and "sensitive" not in states:
        return False
    if (
        not (one["name"] + one["text"] + one["description"]).strip()
        and role not in _FIELDS
        and "editable" not in states
    ):
        return False
    middle = _middle(box)
    at = next((number for number, window in enumerate(windows) if _holds(window.box, middle)), None)
    return at == home and _holds(clip, middle)


def _row(one: Mapping[str, Any], box: Box) -> str:
    role = _RENAMED.get(one["role"], one["role"])
    states: Collection[str] = one["states"]
    told = [
        name
        for name, there in (
            ("checked", "checked" in states or ("pressed" in states and role == "toggle-button")),
            ("selected", "selected" in states and role != "menu"),
            ("focused", "focused" in states and role not in _FRAMES),
        )
        if there
    ]
    # A GTK entry of a menu ends its name with the place of its shortcut.
    name = one["name"].strip() or ("" if role in _FRAMES else _TAGS.sub("", one["description"]).strip())
    return _line(role, name, one["text"], ", ".join(told), box)


def _line(role: str, name: str, text: str, description: str, box: Box) -> str:
    text = text[:MAX_TEXT].translate(_ESCAPES)
    if not text:
        text = '""'
    elif '"' in text:
        text = '"' + text.replace('"', '""') + '"'
    x, y, wide, high = box
    return f"{role}\t{name.translate(_ESCAPES)}\t{text}\t\t{description}\t({x}, {y})\t({wide}, {high})"


def _box(given: Sequence[int]) -> Box:
    x, y, wide, high = given
    return x, y, wide, high


def _middle(box: Box) -> tuple[int, int]:
    return box[0] + box[2] // 2, box[1] + box[3] // 2


def _holds(box: Box, point: tuple[int, int]) -> bool:
    return box[0] <= point[0] < box[0] + box[2] and box[1] <= point[1] < box[1] + box[3]


def _shared(one: Box, other: Box) -> Box:
    """Return the part of one box that lies in another.

    >>> _shared((0, 0, 10, 10), (5, 5, 10, 10))
    (5, 5, 5, 5)
    """
    x, y = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[0] + one[2], other[0] + other[2]), min(one[1] + one[3], other[1] + other[3])
    return x, y, max(right - x, 0), max(bottom - y, 0)


def _apart(one: Box, other: Box) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
