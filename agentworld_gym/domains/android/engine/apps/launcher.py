"""The launcher: the home screen with its pages and dock, and the drawer with all apps."""

from __future__ import annotations

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App
from agentworld_gym.domains.android.engine.phone import InstalledApp, Phone, Screen
from agentworld_gym.domains.android.engine.widgets import entry, paragraph
from agentworld_gym.kit.gui import Message, Widget, column, grid, layers, row

_LEFT = (60, 309, 555, 804)
_DOCK_TOP, _GRID_BOTTOM, _ICON = 1870, 1560, (216, 270)
COLUMNS = 4


class LauncherApp(App):
    """The launcher, which is in front when no app is."""

    id = "launcher"
    title = "Launcher"
    package = "com.google.android.apps.nexuslauncher"
    first = "home"
    icon = False

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return a page of the home screen, or the drawer."""
        return _drawer(phone, screen) if screen["name"] == "drawer" else _home(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Start an app, turn pages, open and close the drawer and the shade."""
        name = message[0].partition("/")[2]
        if name == "start":
            phone.launch(message[1])
        elif name == "page":
            phone.screen["page"] = message[1]
        elif name == "drawer":
            phone.push("drawer", focus=message[1])
        elif name == "close":
            phone.home()
        elif name == "shade":
            phone.raise_above("shade", app="shade", full=True)
        elif name == "first":
            if matches := _matching(phone, phone.text("query")):
                phone.launch(matches[0].id)
        elif name == "held":
            app = message[1]
            phone.menu(("App info", ("launcher/info", app)), (f"Open {phone.apps[app].title}", ("launcher/start", app)))
        elif name == "info" and "settings" in phone.apps:
            phone.launch("settings", fresh=True)
            phone.send(("settings/app", message[1]))


def shown_apps(phone: Phone) -> list[InstalledApp]:
    """Return the installed apps sorted by title."""
    return sorted((app for app in phone.apps.values() if app.icon), key=lambda app: app.title.casefold())


def pages(phone: Phone) -> list[list[InstalledApp]]:
    """Return the apps on each page of the home screen."""
    data = phone.data["launcher"]
    by_title = {app.title: app for app in phone.apps.values()}
    listed = [[by_title[title] for title in page if title in by_title] for page in data["pages"]]
    return [page for page in listed if page] or [[]]


def _home(phone: Phone, screen: Screen) -> Widget:
    every = pages(phone)
    number = min(screen.get("page", 0), len(every) - 1)
    here = phone.ordered("home", every[number])
    lines = -(-len(here) // COLUMNS)
    icons = []
    for index, app in enumerate(here):
        top = _GRID_BOTTOM - (lines - index // COLUMNS) * 300 + 30
        icons.append(_icon(app, (_LEFT[index % COLUMNS], top), _ICON[1], app.title))
    by_title = {app.title: app for app in phone.apps.values()}
    dock = [by_title[title] for title in phone.data["launcher"]["dock"] if title in by_title]
    icons += [_icon(app, (_LEFT[index], _DOCK_TOP), 210, "") for index, app in enumerate(dock)]
    today = Widget(
        widgets.TEXT,
        text=phone.date_text(phone.clock),
        on={"click": ("launcher/start", "calendar")} if "calendar" in phone.apps else {},
        width=348,
        height=96,
        at=(72, 180),
    )
    search = Widget(
        "android.widget.FrameLayout",
        description="Search",
        on={"click": ("launcher/drawer", "query")},
        flags=("focusable",),
        width=960,
        height=165,
        at=(60, 2120),
    )
    on: dict[str, Message] = {"down": ("launcher/drawer", ""), "up": ("launcher/shade",)}
    if number + 1 < len(every):
        on["right"] = ("launcher/page", number + 1)
    if number > 0:
        on["left"] = ("launcher/page", number - 1)
    return layers(
        today, *icons, search, role=widgets.GROUP, description=f"Home screen {number + 1} of {len(every)}",
        flags=("scrollable",) if len(every) > 1 else (), on=on,
    )  # fmt: skip


def _icon(app: InstalledApp, at: tuple[int, int], height: int, text: str) -> Widget:
    return Widget(
        widgets.TEXT,
        text=text,
        description=app.title,
        on={"click": ("launcher/start", app.id), "long": ("launcher/held", app.id)},
        flags=("focusable",),
        width=_ICON[0],
        height=height,
        at=at,
    )


def _matching(phone: Phone, query: str) -> list[InstalledApp]:
    text = query.strip().casefold()
    return [app for app in shown_apps(phone) if text in app.title.casefold()]


def _drawer(phone: Phone, screen: Screen) -> Widget:
    field = entry(screen, "query", "Search apps", enter=("launcher/first",), height=126, grow=1)
    matches = _matching(phone, field.field.value if field.field is not None else "")
    icons = [_icon(app, (0, 0), 252, app.title) for app in matches]
    none = paragraph("No apps found")
    body = grid(COLUMNS, icons, padding=(60, 30), gap=24) if icons else none
    head = row(widgets.gap(60), field, widgets.gap(60), height=126)
    whole = column(widgets.gap(widgets.STATUS), head, widgets.scrolling(body), widgets.gap(widgets.GESTURE))
    whole.on = {"up": ("launcher/close",)}
    return whole


APP = LauncherApp()
