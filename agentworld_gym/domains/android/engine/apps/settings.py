"""The settings app: pages of switches, choices and sliders from the scenario's file, apps and permissions, search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App
from agentworld_gym.domains.android.engine.apps.launcher import shown_apps
from agentworld_gym.domains.android.engine.phone import InstalledApp, Phone, Screen
from agentworld_gym.domains.android.engine.widgets import button, entry, gap, header, item, switch_item
from agentworld_gym.kit.gui import Message, Widget, column, row

_OWN_PAGES = ("apps", "app_notifications")
ADMIN = "Disabled by admin"


class SettingsRow(Strict):
    """One row of a page. Beside its title, at most one of the other keys says what it is; the comment at the top of
    `settings.yaml` explains the keys.
    """

    title: str = Field(min_length=1)
    detail: str = ""
    page: str | None = None
    switch: str | None = None
    choice: str | None = None
    options: tuple[str, ...] = ()
    slider: str | None = None
    text: str | None = None
    tell: str | None = None
    value: str | None = None


class SettingsPage(Strict):
    """A page: its title and rows."""

    title: str = Field(min_length=1)
    rows: tuple[SettingsRow, ...] = Field(min_length=1)


class Pages(Strict):
    """The document `settings.yaml`."""

    pages: dict[str, SettingsPage]

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Pages:
        for name, page in self.pages.items():
            for line in page.rows:
                if line.page is not None and line.page not in (*self.pages, *_OWN_PAGES):
                    raise ValueError(f"pages that are there (page {name} leads to {line.page})")
        if "main" not in self.pages:
            raise ValueError("a page main")
        return self


class SettingsApp(App):
    """The settings app."""

    id = "settings"
    title = "Settings"
    package = "com.android.settings"
    Defaults = Pages

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return a page of settings, of apps or of one app, or the search."""
        return _VIEWS.get(screen["name"], _page)(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Open a page, or change a setting."""
        name = message[0].partition("/")[2]
        if name == "page":
            phone.push(message[1])
        elif name == "search":
            phone.push("search", focus="query")
        elif name == "switch":
            phone.switch(message[1], not phone.settings.get(message[1], True))
        elif name == "choice":
            options = message[2]
            chosen = options.index(phone.settings[message[1]]) if phone.settings[message[1]] in options else None
            phone.choose(message[3], options, chosen, ("settings/chosen", message[1], options))
        elif name == "chosen":
            phone.switch(message[1], message[2][message[3]])
        elif name == "text":
            phone.ask_text(message[2], str(phone.settings[message[1]]), ("settings/entered", message[1]))
        elif name == "entered":
            if message[2]:
                phone.switch(message[1], message[2][:60])
        elif name == "app":
            phone.push("app", shown=message[1])
        elif name == "permission":
            _, app, permission = message
            options = ("Allow", "Don't allow")
            phone.choose(f"{permission.capitalize()} permission", options, int(not phone.permitted(permission, app)),
                         ("settings/granted", app, permission))  # fmt: skip
        elif name == "granted":
            phone.model["grants"][f"{message[1]}/{message[2]}"] = ("allowed", "denied")[message[3]]
        elif name == "stop":
            phone.stop(message[1])
            phone.toast(f"{phone.apps[message[1]].title} was stopped")
        elif name == "ask_stop":
            phone.confirm("Force stop?", "If you force stop an app, it may misbehave.", ("Cancel", None),
                          ("OK", ("settings/stop", message[1])))  # fmt: skip


def _pages(phone: Phone) -> Mapping[str, Any]:
    pages: Mapping[str, Any] = phone.defaults["settings"]["pages"]
    return pages


def _page(phone: Phone, screen: Screen) -> Widget:
    page = _pages(phone)[screen["name"]]
    rows = [_row(phone, line) for line in phone.ordered(screen["name"], page["rows"])]
    if screen["name"] == "main":
        find = item("Search settings", ("settings/search",), height=126)
        return widgets.page(widgets.bar("Settings", back=False), widgets.scrolling(find, *rows))
    return widgets.page(widgets.bar(page["title"]), widgets.scrolling(*rows))


def _row(phone: Phone, line: Mapping[str, Any]) -> Widget:
    title, detail = line["title"], line.get("detail", "")
    key = line.get("switch") or line.get("choice") or line.get("slider") or line.get("text")
    locked = key is not None and phone.controls.strikes("permission-denied", key)
    if key is None:
        if "page" in line:
            text = str(phone.settings[line["tell"]]) if "tell" in line else detail
            return item(title, ("settings/page", line["page"]), detail=text)
        return item(title, detail=str(line["value"] if "value" in line else phone.settings[line["tell"]]))
    value = phone.settings[key]
    if "switch" in line:
        return switch_item(title, bool(value), ("settings/switch", key), ADMIN if locked else detail, not locked)
    flags = ("disabled",) if locked else ()
    if "choice" in line:
        message = ("settings/choice", key, tuple(line["options"]), title)
        return item(title, message, detail=ADMIN if locked else str(value), flags=flags)
    if "slider" in line:
        if locked:
            return item(title, detail=ADMIN, flags=flags)
        return column(header(title), row(gap(widgets.MARGIN), widgets.slider(phone, key, title), gap(widgets.MARGIN)))
    return item(title, ("settings/text", key, title), detail=ADMIN if locked else str(value), flags=flags)


def _search(phone: Phone, screen: Screen) -> Widget:
    field = entry(screen, "query", "Search settings", height=widgets.BAR)
    field.grow = 1
    query = phone.text("query").strip().casefold()
    rows = []
    if query:
        for name, page in _pages(phone).items():
            for line in page["rows"]:
                if query in line["title"].casefold():
                    goal = line.get("page", name)
                    path = "Settings" if name == "main" else f"Settings > {page['title']}"
                    rows.append(item(line["title"], ("settings/page", goal), detail=path))
        for app in shown_apps(phone):
            if query in app.title.casefold():
                rows.append(item(app.title, ("settings/app", app.id), detail="Settings > Apps"))
    top = row(widgets.icon("Navigate up", widgets.BACK), field, gap(widgets.MARGIN), height=widgets.BAR)
    none = widgets.empty("No results") if query else gap(1)
    return widgets.page(top, widgets.scrolling(*rows) if rows else none)


def _apps(phone: Phone, screen: Screen) -> Widget:
    installed = phone.ordered("apps", shown_apps(phone))
    return widgets.page(
        widgets.bar("Apps"), widgets.listing(screen, installed, lambda app: item(app.title, ("settings/app", app.id)))
    )


def _app_notifications(phone: Phone, screen: Screen) -> Widget:
    rows = [_notifies(phone, app, app.title) for app in phone.ordered("app_notifications", shown_apps(phone))]
    return widgets.page(widgets.bar("App notifications"), widgets.scrolling(*rows))


def _notifies(phone: Phone, app: InstalledApp, title: str) -> Widget:
    key = f"notify:{app.id}"
    locked = phone.controls.strikes("permission-denied", key)
    on = bool(phone.settings.get(key, True))
    return switch_item(title, on, ("settings/switch", key), ADMIN if locked else "", not locked)


def _app(phone: Phone, screen: Screen) -> Widget:
    app = phone.apps[screen["shown"]]
    rows = [_notifies(phone, app, "Notifications")]
    if app.permissions:
        rows.append(header("Permissions"))
    for permission in app.permissions:
        grant = phone.model["grants"].get(f"{app.id}/{permission}")
        state = {"allowed": "Allowed", "once": "Allowed", "denied": "Not allowed"}.get(grant, "Ask every time")
        rows.append(item(permission.capitalize(), ("settings/permission", app.id, permission), detail=state))
    runs = app.id in phone.model["tasks"]
    rows += [header("App"), item("Package", detail=app.package), item("Version", detail="14.2")]
    open_, stop = button("Open", ("launcher/start", app.id)), button("Force stop", ("settings/ask_stop", app.id), runs)
    return widgets.page(
        widgets.bar("App info"), item(app.title), widgets.buttons(open_, stop), widgets.scrolling(*rows)
    )


_VIEWS = {"search": _search, "apps": _apps, "app_notifications": _app_notifications, "app": _app}

APP = SettingsApp()
