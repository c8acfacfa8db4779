"""The desktop shell and window manager: top bar, dock, overview, menus, notifications, icons, window buttons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.desktop.engine import geometry
from agentworld_gym.domains.desktop.engine.filesystem import HOME, TRASH
from agentworld_gym.domains.desktop.engine.geometry import BAR, DOCK, HEIGHT, WIDTH, Rect
from agentworld_gym.domains.desktop.engine.program import MenuEntry, Window
from agentworld_gym.domains.desktop.engine.shell_data import shell_data
from agentworld_gym.domains.desktop.engine.widgets import entry, label
from agentworld_gym.kit.gui import Field, Message, Widget, column, grid, layers, row

if TYPE_CHECKING:
    from agentworld_gym.domains.desktop.engine.desktop import Desktop

MENUS = frozenset(("system", "app", "dock", "icon", "desktop"))
"""The names of the shell's menus, which no program has."""
LARGE = 20
"""The number of rows of a large window in its accessibility tree while that tree is incomplete."""

DESKTOP = f"{HOME}/Desktop"
_POPUP_WIDTH = 260
_POPUP_LINE = 32
_ICON = (110, 100)
_MAX_ICONS = 60
_MAX_FOUND = 5


def view(desktop: Desktop, kind: str) -> tuple[Widget, Rect]:
    """Return one surface of the shell, and its box."""
    return {
        "bar": _bar,
        "dock": _dock,
        "popup": _popup,
        "notices": _notices,
        "overview": _overview,
        "desktop": _desktop,
    }[kind](desktop)


def clock_text(desktop: Desktop) -> str:
    """Return the text of the clock in the top bar."""
    now = desktop.now
    day = f"{now:%b} {now.day}"
    if desktop.setting("clock/24-hour") is False:
        return f"{day}  {now.hour % 12 or 12}:{now:%M %p}"
    return f"{day}  {now:%H:%M}"


def _bar(desktop: Desktop) -> tuple[Widget, Rect]:
    parts = [Widget("menu", "Activities", on={"click": ("shell/overview",)}, at=(0, 0), width=88, height=BAR)]
    active = desktop.active
    if active is not None and desktop.model["overview"] is None:
        name = desktop.programs[active["program"]].name
        parts.append(
            Widget("menu", name, on={"click": ("menu", "app")}, at=(88, 0), width=44 + 8 * len(name), height=BAR)
        )
    clock = clock_text(desktop)
    parts.append(label(clock, at=(896, 0), width=128, height=BAR))
    parts.append(Widget("menu", "System", on={"click": ("menu", "system")}, at=(1814, 0), width=106, height=BAR))
    return layers(*parts), (0, 0, WIDTH, BAR)


def _dock(desktop: Desktop) -> tuple[Widget, Rect]:
    names = [name for name in shell_data().dock if name in desktop.programs]
    icons = [
        Widget(
            "push-button",
            desktop.programs[name].name,
            on={"click": ("shell/start", name), "middle": ("shell/new", name), "right": ("menu", "dock", name)},
            height=64,
        )
        for name in names
    ]
    icons.append(Widget("push-button", "Trash", on={"click": ("shell/trash",)}, height=64))
    state = ("checked",) if desktop.model["overview"] is not None else ()
    apps = Widget(
        "toggle-button", "Show Applications", on={"click": ("shell/overview",)}, flags=state, at=(0, 983), height=70
    )
    bar = column(*icons, gap=4, padding=(0, 6), at=(0, 0))
    return layers(bar, apps), (0, BAR, DOCK, HEIGHT - BAR)


def _popup(desktop: Desktop) -> tuple[Widget, Rect]:
    popup = desktop.model["popup"]
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


def _notices(desktop: Desktop) -> tuple[Widget, Rect]:
    lines = []
    for notice in reversed(desktop.model["notices"]):
        dismiss = Widget(
            "push-button", "Dismiss", on={"click": ("shell/dismiss", notice["id"])}, width=90, height=34, fill=False
        )
        texts = column(label(notice["title"], height=26), label(notice["text"], height=26), grow=1)
        lines.append(row(texts, dismiss, height=64, padding=(12, 4), role="alert", name=notice["title"]))
    high = 68 * len(lines)
    return column(*lines, gap=4), ((WIDTH - 500) // 2, BAR + 4, 500, high)


def overview_matches(desktop: Desktop) -> list[tuple[str, Message]]:
    """Return what the overview lists: open windows, programs and files that match the typed text."""
    query = desktop.model["overview"]["query"].value.strip().lower()
    lines: list[tuple[str, Message]] = []
    if not query:
        lines += [(w["title"], ("shell/raise", w["id"])) for w in reversed(desktop.stack)]
    for program in desktop.programs.values():
        if not query or query in program.name.lower() or query in program.commands:
            lines.append((program.name, ("shell/new", program.id)))
    if query:
        lines += [(path.rpartition("/")[2], ("shell/open", path)) for path in _matching(desktop, query)]
    return lines


def _matching(desktop: Desktop, query: str) -> list[str]:
    start = HOME + "/"
    paths = [
        path
        for path in sorted(desktop.files.nodes)
        if path.startswith(start) and "/." not in path and query in path.rpartition("/")[2].lower()
    ]
    return paths[:_MAX_FOUND]


def _overview(desktop: Desktop) -> tuple[Widget, Rect]:
    field = desktop.model["overview"]["query"]
    search = entry("Type to search", field, "search", enter=("shell/first",), at=(725, 20), width=400, height=40)
    tiles = [
        Widget("push-button", name, on={"click": message}, height=120, key=str(number))
        for number, (name, message) in enumerate(overview_matches(desktop)[:_MAX_ICONS])
    ]
    parts: list[Widget] = [search]
    if tiles:
        parts.append(grid(8, tiles, gap=16, at=(200, 100), width=1450))
    else:
        parts.append(label("No results.", at=(850, 120), width=150, height=34))
    return layers(*parts, on={"click": ("shell/overview",)}), (DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR)


def _desktop(desktop: Desktop) -> tuple[Widget, Rect]:
    selected = desktop.model["selected"]
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
        for number, (name, path) in enumerate(_icons(desktop))
    ]
    root = layers(*icons, on={"click": ("shell/select", ""), "right": ("menu", "desktop")})
    return root, (DOCK, BAR, WIDTH - DOCK, HEIGHT - BAR)


def _icons(desktop: Desktop) -> Iterator[tuple[str, str]]:
    yield "Home", HOME
    if desktop.files.is_folder(DESKTOP):
        for name in desktop.files.names(DESKTOP)[:_MAX_ICONS]:
            if not name.startswith("."):
                yield name, f"{DESKTOP}/{name}"


def menu(desktop: Desktop, name: str, arguments: tuple[Any, ...]) -> Sequence[MenuEntry]:
    """Return the entries of one of the shell's menus."""
    if name == "system":
        quiet, dark = desktop.setting("notifications/do-not-disturb"), desktop.setting("appearance/dark")
        return (
            MenuEntry("Settings", ("shell/new", "settings"), "settings" in desktop.programs),
            MenuEntry("Dark Style", ("shell/switch", "appearance/dark"), checked=bool(dark)),
            MenuEntry("Do Not Disturb", ("shell/switch", "notifications/do-not-disturb"), checked=bool(quiet)),
        )
    if name == "app":
        active = desktop.active
        if active is None:
            return ()
        return (
            MenuEntry("New Window", ("shell/new", active["program"])),
            MenuEntry("Quit", ("shell/quit", active["program"])),
        )
    if name == "dock":
        program = arguments[0]
        windows = desktop.windows(program)
        return (
            *(MenuEntry(window["title"], ("shell/raise", window["id"])) for window in windows[:8]),
            MenuEntry("New Window", ("shell/new", program)),
            MenuEntry("Quit", ("shell/quit", program), bool(windows)),
        )
    if name == "icon":
        return MenuEntry("Open", ("shell/open", arguments[0])), MenuEntry(
            "Move to Trash", ("shell/remove", arguments[0]), arguments[0] != HOME
        )
    if name == "desktop":
        return (
            MenuEntry("New Folder", ("shell/folder",)),
            MenuEntry("Show Desktop in Files", ("shell/open", DESKTOP)),
            MenuEntry("Open in Terminal", ("shell/new", "terminal", DESKTOP), "terminal" in desktop.programs),
            MenuEntry("Change Background…", ("shell/new", "settings"), "settings" in desktop.programs),
        )
    return ()


def window_menu(window: Window) -> Sequence[MenuEntry]:
    """Return the entries of the menu of a title bar."""
    return (
        MenuEntry("Minimize", ("window/minimize",)),
        MenuEntry("Restore" if window["maximized"] else "Maximize", ("window/maximize",)),
        MenuEntry("Close", ("window/close",)),
    )


def update(desktop: Desktop, message: Message) -> None:
    """Act on a message to the shell."""
    name, *rest = message
    model = desktop.model
    if name == "shell/overview":
        toggle_overview(desktop)
    elif name == "shell/first":
        first = next(iter(overview_matches(desktop)), None)
        if first is not None and model["overview"]["query"].value.strip():
            update(desktop, first[1])
    elif name == "shell/start":
        windows = desktop.windows(rest[0])
        if windows:
            desktop.raise_window(windows[0])
        else:
            _launch(desktop, rest[0])
    elif name == "shell/new":
        _launch(desktop, *rest)
    elif name == "shell/trash":
        _launch(desktop, "files", TRASH)
    elif name == "shell/raise":
        window = desktop.find(rest[0])
        if window is not None:
            desktop.raise_window(window)
    elif name == "shell/quit":
        for window in desktop.windows(rest[0]):
            desktop.close(window)
    elif name == "shell/open":
        model["overview"] = None
        desktop.open_file(rest[0])
    elif name == "shell/select":
        model["selected"] = rest[0]
    elif name == "shell/dismiss":
        model["notices"][:] = [notice for notice in model["notices"] if notice["id"] != rest[0]]
    elif name == "shell/unlock":
        if rest[1] == "unlock":
            model["locked"].discard(rest[0])
    elif name == "shell/switch":
        if rest[0] in model["locked"]:
            desktop.notify("Permission denied", "This setting is locked.")
        else:
            model["settings"][rest[0]] = not desktop.setting(rest[0])
            model["changes"] += 1
    else:
        _change(desktop, name, rest)


def _change(desktop: Desktop, name: str, rest: list[Any]) -> None:
    try:
        if name == "shell/folder":
            desktop.files.make_folder(desktop.files.free(f"{DESKTOP}/New Folder"))
        elif name == "shell/remove":
            desktop.files.trash(rest[0])
            desktop.model["selected"] = ""
    except OSError as error:
        desktop.notify("The operation could not be completed", f"{error.strerror}.")


def _launch(desktop: Desktop, program: str, *arguments: str) -> None:
    desktop.model["overview"] = None
    desktop.launch(program, *arguments)


def toggle_overview(desktop: Desktop) -> None:
    """Open or close the overview."""
    desktop.model["popup"] = None
    desktop.model["overview"] = {"query": Field()} if desktop.model["overview"] is None else None


def manage_window(desktop: Desktop, window: Window, message: Message) -> None:
    """Act on a message about a window as a whole, such as `window/close`."""
    name = message[0]
    if name == "window/close":
        desktop.close(window)
    elif name == "window/minimize":
        window["minimized"] = True
    elif name == "window/maximize":
        window["maximized"] = not window["maximized"]
    elif name == "window/shift":
        x, y, w, h = window["box"]
        if window["maximized"]:
            window["maximized"] = False
        window["box"] = geometry.reachable([x + message[1], y + message[2], w, h])
    elif name == "window/half":
        half = (WIDTH - DOCK) // 2
        window["maximized"] = False
        window["box"] = [DOCK + (half if message[1] == "right" else 0), BAR, half, HEIGHT - BAR]


def is_truncated(desktop: Desktop, window: Window) -> bool:
    """Return whether the accessibility tree of a large window is incomplete, as it is until the window is scrolled."""
    return window["id"] not in desktop.model["scrolled"] and desktop.controls.strikes(
        "truncated-output", window["id"], window["title"]
    )
