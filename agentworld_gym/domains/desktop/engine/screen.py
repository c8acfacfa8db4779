"""The screen: surfaces from front to back, hit testing, and the table of all widgets in OSWorld's format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentworld_gym.domains.desktop.engine import desktop_shell, file_chooser
from agentworld_gym.domains.desktop.engine.desktop import SHELL, Desktop
from agentworld_gym.domains.desktop.engine.geometry import (
    BAR,
    HEIGHT,
    TITLE,
    WIDTH,
    WORK,
    Rect,
    covers,
    inside,
    overlap,
)
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.widgets import METRICS, button, entry, label, spacer
from agentworld_gym.domains.desktop.screen_texts import SEVEN_COLUMNS
from agentworld_gym.kit.gui import Widget, column, hit, place, row, visible

MAX_TEXT = 4_000
"""The largest number of characters of a widget's text in the table."""

_FRAMES = frozenset(("frame", "dialog", "menu"))
_STATES = ("checked", "selected")
_ESCAPES = str.maketrans({"\n": "\\n", "\t": "\\t", "\r": "\\r"})


class ScreenRow(NamedTuple):
    """One row of the table. `point` is the middle of its widget, and None for a frame."""

    line: str
    box: Rect
    point: tuple[int, int] | None


@dataclass(slots=True)
class ScreenSurface:
    """A rectangle of the screen with widgets of its own. `dialog` is the data of a dialog's surface."""

    kind: str
    number: int
    box: Rect
    root: Widget
    dialog: dict[str, Any] | None = None
    blocked: bool = False


class RenderedScreen:
    """The screen of a desktop. It caches the surfaces and rows that did not change."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop
        self._surfaces: dict[object, tuple[object, ScreenSurface]] = {}
        self._rows: dict[object, tuple[object, list[ScreenRow]]] = {}

    def fork(self, desktop: Desktop) -> RenderedScreen:
        """Return the screen of a fork. Rows are shared; widgets are not, since their fields belong to the model."""
        twin = RenderedScreen(desktop)
        twin._rows = dict(self._rows)
        return twin

    def surfaces(self) -> list[ScreenSurface]:
        """Return the surfaces on the screen from front to back."""
        return [self._surface(name, key) for name, key in self._keys()]

    def at(self, x: int, y: int) -> tuple[ScreenSurface, list[Widget]] | None:
        """Return the surface at a point, and its widgets there, innermost first."""
        for name, key in self._keys():
            surface = self._surface(name, key)
            if inside(surface.box, x, y):
                return surface, hit(surface.root, x, y)
        return None

    def window(self, window: Window) -> ScreenSurface:
        """Return the surface of a window."""
        return self._surface(("window", window["id"]), self._window_key(window))

    def dialog(self, window: Window, dialog: dict[str, Any]) -> ScreenSurface:
        """Return the surface of a dialog."""
        return self._surface(("dialog", window["id"], dialog["id"]), self._dialog_key(window, dialog))

    def table(self) -> str:
        """Return all visible widgets, one a line: shell, menu, dialogs and windows from front to back, desktop."""
        lines: list[str] = []
        above: list[Rect] = []
        parts = list(self._keys())
        for name, key in parts:
            rows, box = self._printed(name, key)
            covering = [rect for rect in above if overlap(rect, box)]
            above.append(box)
            if not covering:
                lines.extend([row.line for row in rows])
            elif not any(covers(rect, box) for rect in covering):
                lines.extend(row.line for row in rows if _uncovered(row, covering))
        keep = set(self._names())
        if len(self._rows) > 2 * len(keep) + 8:
            self._rows = {name: value for name, value in self._rows.items() if name in keep}
            self._surfaces = {name: value for name, value in self._surfaces.items() if name in keep}
        return "\n".join([SEVEN_COLUMNS, *lines])

    def _focus(self, surface: ScreenSurface) -> str:
        """Return the key of the focused widget."""
        if surface.dialog is not None:
            return str(surface.dialog["focus"])
        window = self.desktop.find(surface.number)
        return window["focus"] if window is not None else "search"

    def _names(self) -> Iterator[object]:
        for name, _ in self._keys():
            yield name

    def _keys(self) -> Iterator[tuple[tuple[Any, ...], object]]:
        """Yield the names of surfaces from front to back, each with everything that decides its look."""
        desktop, model = self.desktop, self.desktop.model
        overview = model["overview"]
        front = desktop.front
        active = front[0] if front else None
        titled = active["program"] if active is not None and overview is None else ""
        yield ("bar",), (titled, int(desktop.files.now // 60), desktop.setting("clock/24-hour"))
        yield ("dock",), (overview is None,)
        popup = model["popup"]
        if popup is not None:
            yield ("popup",), (popup["window"], popup["entries"], popup["x"], popup["y"], popup["index"])
        notices = model["notices"]
        if notices:
            yield ("notices",), tuple(notice["id"] for notice in notices)
        if overview is not None:
            field = overview["query"]
            yield (
                ("overview",),
                (field.value, field.cursor, field.anchor, tuple((w["id"], w["title"]) for w in desktop.stack)),
            )
            return
        for window in front:
            for dialog in reversed(window["dialogs"]):
                if dialog["ready"] <= model["action"]:
                    yield ("dialog", window["id"], dialog["id"]), self._dialog_key(window, dialog)
            yield ("window", window["id"]), self._window_key(window)
        yield ("desktop",), (desktop.files.version, model["selected"])

    def _window_key(self, window: Window) -> object:
        desktop = self.desktop
        watches = desktop.programs[window["program"]].watches
        dialog = desktop.shown_dialog(window)
        return (
            window["version"],
            tuple(window["box"]),
            window["maximized"],
            window["title"],
            window["focus"],
            (desktop.files.version, desktop.model["turn"]) if "files" in watches else 0,
            desktop.settings_version if "settings" in watches else 0,
            int(desktop.files.now // 60) if "clock" in watches else 0,
            dialog["id"] if dialog else 0,
        )

    def _dialog_key(self, window: Window, dialog: dict[str, Any]) -> object:
        return (
            dialog["version"],
            dialog["focus"],
            tuple(window["box"]),
            window["maximized"],
            self.desktop.files.version,
        )

    def _surface(self, name: tuple[Any, ...], key: object) -> ScreenSurface:
        cached = self._surfaces.get(name)
        if cached is not None and cached[0] == key:
            return cached[1]
        surface = self._build(name)
        self._surfaces[name] = key, surface
        return surface

    def _printed(self, name: tuple[Any, ...], key: object) -> tuple[list[ScreenRow], Rect]:
        cached = self._rows.get(name)
        if cached is not None and cached[0] == key:
            rows = cached[1]
        else:
            surface = self._surface(name, key)
            rows = [ScreenRow("", surface.box, None), *_rows(surface, self._focus(surface))]
            self._rows[name] = key, rows
        window = self.desktop.find(name[1]) if name[0] == "window" else None
        return self._limited(rows, window), rows[0].box

    def _limited(self, rows: list[ScreenRow], window: Window | None) -> list[ScreenRow]:
        """Return the rows of a surface; under the control `truncated-output`, only the first rows of a large window."""
        if window is not None and len(rows) > desktop_shell.LARGE and desktop_shell.is_truncated(self.desktop, window):
            return rows[1 : desktop_shell.LARGE + 1]
        return rows[1:]

    def _build(self, name: tuple[Any, ...]) -> ScreenSurface:
        desktop = self.desktop
        kind = name[0]
        if kind == "window":
            return self._build_window(name[1])
        if kind == "dialog":
            return self._build_dialog(name[1], name[2])
        root, box = desktop_shell.view(desktop, kind)
        return ScreenSurface(kind, SHELL, box, place(root, *box, METRICS, {}))

    def _build_window(self, number: int) -> ScreenSurface:
        desktop = self.desktop
        window = desktop.find(number)
        assert window is not None
        box = window_box(window)
        content = desktop.programs[window["program"]].view(desktop, window)
        content.grow = 1
        bar = row(
            spacer(),
            button("Minimize", ("window/minimize",), "window minimize", width=24, height=34),
            button(
                "Restore" if window["maximized"] else "Maximize",
                ("window/maximize",),
                "window maximize",
                width=24,
                height=34,
            ),
            button("Close", ("window/close",), "window close", width=24, height=34),
            height=TITLE,
            padding=(8, 0),
            on={"drag": ("window/move",), "double": ("window/maximize",), "right": ("menu", "window")},
        )
        root = column(bar, content, role="frame", name=window["title"])
        placed = place(root, *box, METRICS, window["scroll"])
        return ScreenSurface("window", number, box, placed, blocked=desktop.shown_dialog(window) is not None)

    def _build_dialog(self, number: int, dialog_number: int) -> ScreenSurface:
        window = self.desktop.find(number)
        assert window is not None
        dialog = next(dialog for dialog in window["dialogs"] if dialog["id"] == dialog_number)
        root, (w, h) = (
            file_chooser.view(self.desktop.files, dialog) if dialog["kind"] == "chooser" else message_view(dialog)
        )
        x, y, wide, high = window_box(window)
        box = (
            min(max(x + (wide - w) // 2, WORK[0]), WIDTH - w),
            min(max(y + (high - h) // 2, BAR), HEIGHT - h),
            w,
            h,
        )
        placed = place(root, *box, METRICS, dialog["scroll"])
        blocked = dialog is not self.desktop.shown_dialog(window)
        return ScreenSurface("dialog", number, box, placed, dialog, blocked)


def window_box(window: Window) -> Rect:
    """Return the rectangle of a window."""
    if window["maximized"]:
        return WORK
    x, y, w, h = window["box"]
    return x, y, w, h


def message_view(dialog: dict[str, Any]) -> tuple[Widget, tuple[int, int]]:
    """Return a dialog with a text, entries and buttons as widgets, and its size."""
    wide = 480
    texts = [label(line, height=30) for line in _wrapped(dialog["text"], (wide - 60) // METRICS.char)]
    entries = [
        row(
            label(f"{name}:", width=140, height=34),
            entry(name, field, name, enter=("dialog/default",), grow=1, height=34),
            height=40,
        )
        for name, field in dialog["entries"].items()
    ]
    buttons = [
        button(text, ("dialog/press", number), f"button {number}", grow=1, height=40)
        for number, text in dialog["buttons"]
    ]
    content = column(
        label(dialog["title"], role="heading", height=34),
        *texts,
        *entries,
        row(*buttons, gap=8, height=48),
        role="dialog",
        name=dialog["title"],
        padding=(20, 16),
        gap=6,
    )
    lines = 1 + len(texts) + len(entries)
    return content, (wide, 32 + 34 + 48 + 30 * len(texts) + 40 * len(entries) + 6 * lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in at most ten lines of a width."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        if line:
            lines.append(line)
    return lines[:10]


def _rows(surface: ScreenSurface, focus: str) -> Iterator[ScreenRow]:
    for widget in visible(surface.root):
        role = widget.role
        if not role or "disabled" in widget.flags:
            continue
        name, text = widget.name, widget.text
        if not name and not text and widget.field is None:
            continue
        x, y, w, h = widget.x, widget.y, widget.w, widget.h
        point = None
        if role not in _FRAMES or not widget.children:
            point = x + w // 2, y + h // 2
            if not inside((0, 0, WIDTH, HEIGHT), *point) or not inside(surface.box, *point):
                continue
        yield ScreenRow(_line(widget, widget.key == focus and bool(focus)), (x, y, w, h), point)


def _line(widget: Widget, focused: bool) -> str:
    name, text = widget.name, widget.text
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT]
    if not text:
        text = '""'
    else:
        if "\n" in text or "\t" in text or "\r" in text:
            text = text.translate(_ESCAPES)
        if '"' in text:
            text = '"' + text.replace('"', '""') + '"'
    if "\n" in name or "\t" in name or "\r" in name:
        name = name.translate(_ESCAPES)
    states = [state for state in _STATES if state in widget.flags]
    if focused and widget.field is not None:
        states.append("focused")
    description = ", ".join(states) or widget.description
    return f"{widget.role}\t{name}\t{text}\t\t{description}\t({widget.x}, {widget.y})\t({widget.w}, {widget.h})"


def _uncovered(row: ScreenRow, covering: list[Rect]) -> bool:
    if row.point is None:
        return not any(covers(rect, row.box) for rect in covering)
    x, y = row.point
    return not any(inside(rect, x, y) for rect in covering)
