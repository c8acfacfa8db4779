"""The shell of the desktop: top bar, dock, overview, menus, notifications, desktop icons and window management."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agentworld_gym.engines.desktop import geometry
from agentworld_gym.engines.desktop.filesystem import HOME, TRASH
from agentworld_gym.engines.desktop.geometry import BAR, DOCK, HEIGHT, WIDTH, Rect
from agentworld_gym.engines.desktop.program import Entry, Window
from agentworld_gym.engines.desktop.shell_data import shell_data
from agentworld_gym.engines.desktop.widgets import entry, label
from agentworld_gym.engines.gui import Field, Message, Widget, column, grid, layers, row

if TYPE_CHECKING:
    from agentworld_gym.engines.desktop.desktop import Desk

LARGE = 20
"""How many rows of a large window are there when its accessibility tree is incomplete."""

DESKTOP = f"{HOME}/Desktop"
_POPUP_WIDTH = 260
_POPUP_LINE = 32
_ICON = (110, 100)
_MAX_ICONS = 60
_MAX_FOUND = 5


def view(desk: Desk, kind: str) -> tuple[Widget, Rect]:
    """One surface of the shell and where it lies."""
    return {
        "bar": _bar,
        "dock": _dock,
        "popup": _popup,
        "notices": _notices,
        "overview": _overview,
        "desktop": _desktop,
    }[kind](desk)


def clock_text(desk: Desk) -> str:
    """The clock in the top bar."""
    now = desk.now
    day = f"{now:%b} {now.day}"
    if desk.setting("clock/24-hour") is False:
        return f"{day}  {now.hour % 12 or 12}:{now:%M %p}"
    return f"{day}  {now:%H:%M}"


def _bar(desk: Desk) -> tuple[Widget, Rect]:
    parts = [Widget("menu", "Activities", on={"click": ("shell/overview",)}, at=(0, 0), width=88, height=BAR)]
    active = desk.active
    if active is not None and desk.model["overview"] is None:
        name = desk.programs[active["program"]].name
        parts.append(
            Widget("menu", name, on={"click": ("menu", "app")}, at=(88, 0), width=44 + 8 * len(name), height=BAR)
        )
    clock = clock_text(desk)
    parts.append(label(clock, at=(896, 0), width=128, height=BAR))
    parts.append(Widget("menu", "System", on={"click": ("menu", "system")}, at=(1814, 0), width=106, height=BAR))
    return layers(*parts), (0, 0, WIDTH, BAR)


def _dock(desk: Desk) -> tuple[Widget, Rect]:
    names = [name for name in shell_data().dock if name in desk.programs]
    icons = [
        Widget(
            "push-button",
            desk.programs[name].name,
            on={"click": ("shell/start", name), "middle": ("shell/new", name), "right": ("menu", "dock", name)},
            height=64,
        )
        for name in names
    ]
    icons.append(Widget("push-button", "Trash", on={"click": ("shell/trash",)}, height=64))
    state = ("checked",) if desk.model["overview"] is not None else ()
    apps = Widget(
        "toggle-button", "Show Applications", on={"click": ("shell/overview",)}, flags=state, at=(0, 983), height=70
    )
    bar = column(*icons, gap=4, padding=(0, 6), at=(0, 0))
    return layers(bar, apps), (0, BAR, DOCK, HEIGHT - BAR)


def _popup(desk: Desk) -> tuple[Widget, Rect]:
    popup = desk.model["popup"]
    items = [
        Widget(
            "menu-item" if not line.checked else "check-menu-item",
            line.label,
            on={"click": ("popup/choose", number)},
            flags=(*(("checked",) if line.checked else ()), *(("selected",) if number == popup["index"] else ())),
            height=_POPUP_LINE,
        )
        for number, line in enumerate(popup["entries"])
    ]
    wide = max(_POPUP_WIDTH, 40 + 8 * max(len(line.label) for line in popup["entries"]))
    wide = min(wide, 900)
    high = _POPUP_LINE * len(items) + 8
    x = min(max(popup["x"], 0), WIDTH - wide)
    y = min(max(popup["y"], BAR), max(HEIGHT - high, 0))
    return column(*items, padding=(0, 4)), (x, y, wide, min(high, HEIGHT))


def _notices(desk: Desk) -> tuple[Widget, Rect]:
    lines = []
    for notice in reversed(desk.model["notices"]):
        dismiss = Widget(
            "push-button", "Dismiss", on={"click": ("shell/dismiss", notice["id"])}, width=90, height=34, fill=False
        )
        texts = column(label(notice["title"], height=26), label(notice["text"], height=26), grow=1)
        lines.append(row(texts, dismiss, height=64, padding=(12, 4), role="alert", name=notice["title"]))
    high = 68 * len(lines)
    return column(*lines, gap=4), ((WIDTH - 500) // 2, BAR + 4, 500, high)


def found(desk: Desk) -> list[tuple[str, Message]]:
    """What the overview shows: open windows, programs and files that match what is typed."""
    query = desk.model["overview"]["query"].value.strip().lower()
    lines: list[tuple[str, Message]] = []
    if not query:
        lines += [(w["title"], ("shell/raise", w["id"])) for w in reversed(desk.stack)]
    for program in desk.programs.values():
        if not query or query in program.name.lower() or query in program.commands:
            lines.append((program.name, ("shell/new", program.id)))
    if query:
        lines += [(path.rpartition("/")[2], ("shell/open", path)) for path in _matching(desk, query)]
    return lines


def _matching(desk: Desk, query: str) -> list[str]:
    start = HOME + "/"
    paths = [
        path
        for path in sorted(desk.files.nodes)
        if path.startswith(start) and "/." not in path and query in path.rpartition("/")[2].lower()
    ]
    return paths[:_MAX_FOUND]


def _overview(desk: Desk) -> tuple[Widget, Rect]:
    field = desk.model["overview"]["query"]
    search = entry("Type to search", field, "search", enter=("shell/first",), at=(725, 20), width=400, height=40)
    tiles = [
        Widget("push-button", name, on={"click": message}, height=120, key=str(number))
        for number, (name, message) in enumerate(found(desk)[:_MAX_ICONS])
    ]
    parts: list[Widget] = [search]
    if tiles:
        parts.append(grid(8, tiles, gap=16, at=(200, 100), width=1450))
    else:
        parts.append(label("No results.", at=(850, 120), width=150, height=34))
    return layers(*parts, on={"click": ("shell/overview",)}), (DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR)


def _desktop(desk: Desk) -> tuple[Widget, Rect]:
    selected = desk.model["selected"]
    icons = [
        Widget(
            "icon",
            name,
            flags=("selected",) if path == selected else (),
            on={
                "click": ("shell/select", path),
                "double": ("shell/open", path),
                "right": ("menu", "icon", path),
            },
            at=(12 + _ICON[0] * (number // 9), 14 + (_ICON[1] + 12) * (number % 9)),
            width=_ICON[0] - 10,
            height=_ICON[1],
        )
        for number, (name, path) in enumerate(_icons(desk))
    ]
    root = layers(*icons, on={"click": ("shell/select", ""), "right": ("menu", "desktop")})
    return root, (DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR)


def _icons(desk: Desk) -> Iterator[tuple[str, str]]:
    yield "Home", HOME
    if desk.files.is_folder(DESKTOP):
        for name in desk.files.names(DESKTOP)[:_MAX_ICONS]:
            if not name.startswith("."):
                yield name, f"{DESKTOP}/{name}"


def menu(desk: Desk, name: str, arguments: tuple[Any, ...]) -> Sequence[Entry]:
    """The menus of the shell."""
    if name == "system":
        quiet, dark = desk.setting("notifications/do-not-disturb"), desk.setting("appearance/dark")
        return (
            Entry("Settings", ("shell/new", "settings"), "settings" in desk.programs),
            Entry("Dark Style", ("shell/switch", "appearance/dark"), checked=bool(dark)),
            Entry("Do Not Disturb", ("shell/switch", "notifications/do-not-disturb"), checked=bool(quiet)),
        )
    if name == "app":
        active = desk.active
        if active is None:
            return ()
        return (
            Entry("New Window", ("shell/new", active["program"])),
            Entry("Quit", ("shell/quit", active["program"])),
        )
    if name == "dock":
        program = arguments[0]
        windows = desk.windows(program)
        return (
            *(Entry(window["title"], ("shell/raise", window["id"])) for window in windows[:8]),
            Entry("New Window", ("shell/new", program)),
            Entry("Quit", ("shell/quit", program), bool(windows)),
        )
    if name == "icon":
        return Entry("Open", ("shell/open", arguments[0])), Entry(
            "Move to Trash", ("shell/remove", arguments[0]), arguments[0] != HOME
        )
    if name == "desktop":
        return (
            Entry("New Folder", ("shell/folder",)),
            Entry("Show Desktop in Files", ("shell/open", DESKTOP)),
            Entry("Open in Terminal", ("shell/new", "terminal", DESKTOP), "terminal" in desk.programs),
            Entry("Change Background…", ("shell/new", "settings"), "settings" in desk.programs),
        )
    return ()


def window_menu(window: Window) -> Sequence[Entry]:
    """The menu of a title bar."""
    return (
        Entry("Minimize", ("window/minimize",)),
        Entry("Restore" if window["maximized"] else "Maximize", ("window/maximize",)),
        Entry("Close", ("window/close",)),
    )


def update(desk: Desk, message: Message) -> None:
    """What a message to the shell does."""
    name, *rest = message
    model = desk.model
    if name == "shell/overview":
        toggle_overview(desk)
    elif name == "shell/first":
        first = next(iter(found(desk)), None)
        if first is not None and model["overview"]["query"].value.strip():
            update(desk, first[1])
    elif name == "shell/start":
        windows = desk.windows(rest[0])
        if windows:
            desk.raise_window(windows[0])
        else:
            _launch(desk, rest[0])
    elif name == "shell/new":
        _launch(desk, *rest)
    elif name == "shell/trash":
        _launch(desk, "files", TRASH)
    elif name == "shell/raise":
        window = desk.find(rest[0])
        if window is not None:
            desk.raise_window(window)
    elif name == "shell/quit":
        for window in desk.windows(rest[0]):
            desk.close(window)
    elif name == "shell/open":
        model["overview"] = None
        desk.open_file(rest[0])
    elif name == "shell/select":
        model["selected"] = rest[0]
    elif name == "shell/dismiss":
        model["notices"][:] = [notice for notice in model["notices"] if notice["id"] != rest[0]]
    elif name == "shell/unlock":
        if rest[1] == "unlock":
            model["locked"].discard(rest[0])
    elif name == "shell/switch":
        if rest[0] in model["locked"]:
            desk.notify("Permission denied", "This setting is locked.")
        else:
            model["settings"][rest[0]] = not desk.setting(rest[0])
            model["changes"] += 1
    else:
        _change(desk, name, rest)


def _change(desk: Desk, name: str, rest: list[Any]) -> None:
    try:
        if name == "shell/folder":
            desk.files.make_folder(desk.files.free(f"{DESKTOP}/New Folder"))
        elif name == "shell/remove":
            desk.files.trash(rest[0])
            desk.model["selected"] = ""
    except OSError as error:
        desk.notify("The operation could not be completed", f"{error.strerror}.")


def _launch(desk: Desk, program: str, *arguments: str) -> None:
    desk.model["overview"] = None
    desk.launch(program, *arguments)


def toggle_overview(desk: Desk) -> None:
    """Open or close the overview."""
    desk.model["popup"] = None
    desk.model["overview"] = {"query": Field()} if desk.model["overview"] is None else None


def manage(desk: Desk, window: Window, message: Message) -> None:
    """What a message about a window as such does: `window/close` and the like."""
    name = message[0]
    if name == "window/close":
        desk.close(window)
    elif name == "window/minimize":
        window["minimized"] = True
    elif name == "window/maximize":
        window["maximized"] = not window["maximized"]
    elif name == "window/shift":
        x, y, w, h = window["box"]
        if window["maximized"]:
            window["maximized"] = False
        window["box"] = geometry.kept([x + message[1], y + message[2], w, h])
    elif name == "window/half":
        half = (WIDTH - DOCK) // 2
        window["maximized"] = False
        window["box"] = [DOCK + (half if message[1] == "right" else 0), BAR, half, HEIGHT - BAR]


def is_truncated(desk: Desk, window: Window) -> bool:
    """Whether the accessibility tree of a large window is incomplete, as it is until the window is scrolled."""
    return window["id"] not in desk.model["scrolled"] and desk.controls.strikes(
        "truncated-output", window["id"], window["title"]
    )
