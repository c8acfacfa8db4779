"""A simple web browser, on the sites of the web engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from agentworld_gym.engines import Controls, Scalar
from agentworld_gym.engines.desktop.geometry import TITLE, WORK
from agentworld_gym.engines.desktop.program import Desk, Entry, Program, ToolError, Window
from agentworld_gym.engines.desktop.programs import browser_page as pages
from agentworld_gym.engines.desktop.widgets import button, entry, toggle
from agentworld_gym.engines.gui import Field, Message, Widget, column, row, scroll

MAX_BOOKMARKS = 30
SUFFIX = " - Web Browser"


class Internet:
    """The web browser's state that is no plain data: tabs and pages, cookies, and what the sites store."""

    def __init__(self, browser: Any, home: str) -> None:
        self.browser, self.home = browser, home

    def fork(self) -> Internet:
        """An exact copy."""
        return Internet(self.browser.fork(), self.home)

    def state(self) -> Mapping[str, Scalar]:
        """What of it actions can change."""
        from agentworld_gym.engines.web import fields

        return fields.state(self.browser)

    def close(self) -> None:
        """Free it; twice is fine."""
        self.browser.internet.close()


def online(desk: Desk) -> Internet:
    """The internet of a desktop; it is there once a browser was opened."""
    whole = cast(Any, desk)
    if "browser" not in whole.resources:
        from agentworld_gym.engines.web.browser import Browser as WebBrowser
        from agentworld_gym.engines.web.sites import Sites
        from agentworld_gym.engines.web.sites.site import load_site, site_names

        given: dict[str, Any] = dict(whole.given.sites)
        first = next(iter(given), site_names()[0])
        home = f"http://{load_site(first).about.host}/"
        sites = Sites.start({"open": home, **({"sites": given} if given else {})}, whole.seed, Controls())
        whole.resources["browser"] = Internet(WebBrowser(sites), home)
    found: Internet = whole.resources["browser"]
    return found


class Browser(Program):
    """Tabs, an address bar, bookmarks, and pages as widgets in lines."""

    id = "browser"
    name = "Web Browser"
    commands = ("google-chrome", "firefox", "epiphany", "chromium", "x-www-browser")
    types = (".html",)
    size = (1180, 820)
    tools = "BrowserTools"

    def open(self, desk: Desk, arguments: tuple[str, ...]) -> Window | None:
        """An address in the first tab, or in another tab of the window that is there already."""
        web = online(desk)
        windows = desk.windows(self.id)
        if windows:
            window = windows[0]
            if arguments:
                _new_tab(desk, window, arguments[0])
        else:
            data = {"address": Field(), "fields": {}, "page": "", "bookmarks": [], "closed": []}
            window = desk.window(data, "")
            _visit(desk, window, arguments[0] if arguments else web.home)
        _settle(desk, window)
        desk.touch(window)
        return window

    def view(self, desk: Desk, window: Window) -> Widget:
        """Tabs, the bar, the bookmarks and the page."""
        web, data = online(desk).browser, window["data"]
        _, _, width, height = WORK if window["maximized"] else window["box"]
        tabs = [
            toggle(_title(tab), index == web.current, ("tab", index), f"tab {index}", role="page-tab", height=32)
            for index, tab in enumerate(web.tabs[:12])
        ]
        bar = row(
            button("Back", ("travel", -1)),
            button("Forward", ("travel", 1)),
            button("Reload", ("reload",)),
            entry("Address and search bar", data["address"], "address", enter=("go",), grow=1),
            button("Bookmark this page", ("bookmark",)),
            height=40,
            padding=(6, 3),
            gap=4,
        )
        marks = [button(mark[0], ("visit", mark[1]), f"mark {number}") for number, mark in enumerate(data["bookmarks"])]
        lines = pages.content(web.page, width - 48, data["fields"])
        top = [
            row(*tabs, button("New Tab", ("new tab",)), button("Close Tab", ("close tab",)), height=36, padding=(6, 2))
        ]
        bars = [*top, bar, *([row(*marks, height=36, padding=(6, 1), gap=4)] if marks else [])]
        rest = height - TITLE - sum(part.height or 0 for part in bars)
        return column(*bars, scroll("page", *lines, padding=(16, 8), gap=4, height=rest))

    def update(self, desk: Desk, window: Window, message: Message) -> None:
        """Act out one message."""
        name, *arguments = message
        handler = _HANDLERS.get(str(name))
        if handler is None:
            return
        handler(desk, window, *arguments)
        if any(window is other for other in desk.windows(self.id)):
            _settle(desk, window)

    def key(self, desk: Desk, window: Window, combo: str) -> bool:
        """The shortcuts of tabs, history and address bar."""
        if combo in ("ctrl+l", "f6"):
            window["data"]["address"].select_all()
            desk.focus(window, "address")
        elif combo in _SHORTCUTS:
            self.update(desk, window, _SHORTCUTS[combo])
        else:
            return False
        return True

    def menu(self, desk: Desk, window: Window, name: str, arguments: tuple[Any, ...]) -> Sequence[Entry]:
        """The options of a drop-down list of the page."""
        page = online(desk).browser.page
        if name != "options" or not arguments or arguments[0] >= len(page.nodes):
            return ()
        select = page.nodes[arguments[0]]
        chosen = page.chosen_options(select)
        return [
            Entry(
                " ".join(option.text().split()) or "(empty)",
                ("press", option.index),
                enabled=not page.is_disabled(option),
                checked=option.index in chosen,
            )
            for option in page.document.options(select)
        ]

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """The methods of `BrowserTools`."""
        return _TOOLS


def _title(tab: Any) -> str:
    return (tab.title or tab.url or "New Tab")[:30]


def _settle(desk: Desk, window: Window) -> None:
    """Let title, address and entries follow the page; a dialog of the page opens over the window."""
    web, data = online(desk).browser, window["data"]
    tab = web.tab
    window["title"] = (tab.title or "New Tab") + SUFFIX
    shown = f"{web.current}/{tab.load}/{tab.url}"
    if data["page"] != shown:
        data["page"] = shown
        data["fields"] = {}
        data["address"].set("" if tab.url == "about:blank" else tab.url)
        window["scroll"]["page"] = 0
        if window["focus"].startswith("node "):
            desk.focus(window, "")
    values = pages.entries(tab.page)
    fields = data["fields"]
    for key in [key for key in fields if key not in values]:
        del fields[key]
    for key, value in values.items():
        if key not in fields:
            fields[key] = Field(value, multiline=tab.page.nodes[int(key)].tag == "textarea")
        elif fields[key].value != value:
            fields[key].set(value)
    if tab.modal is not None and not window["dialogs"]:
        _ask(desk, window, tab)


def _ask(desk: Desk, window: Window, tab: Any) -> None:
    kind = getattr(tab.modal, "kind", "")
    if not kind:
        tab.modal = None
        return
    buttons = (("ok", "OK"),) if kind == "alert" else (("cancel", "Cancel"), ("ok", "OK"))
    entries = {"Answer": ""} if kind == "prompt" else None
    desk.dialog(window, f"{_host(tab.url)} says", tab.modal.message, buttons, ("answered",), entries)


def _host(url: str) -> str:
    from agentworld_gym.engines.web.addresses import host_of

    return host_of(url) or "This page"


def _answered(desk: Desk, window: Window, pressed: str, entries: Sequence[str] = ()) -> None:
    from agentworld_gym.engines.web import acts

    acts.answer(online(desk).browser, pressed == "ok", entries[0] if entries else None)


def _visit(desk: Desk, window: Window, address: str) -> None:
    from agentworld_gym.engines.web.addresses import typed
    from agentworld_gym.engines.web.browser import Unreachable

    web = online(desk).browser
    web.settle()
    with suppress(Unreachable):  # the page says so
        web.go(typed(address))


def _go(desk: Desk, window: Window) -> None:
    address = window["data"]["address"].value.strip()
    if address:
        _visit(desk, window, address)
        desk.focus(window, "")


def _travel(desk: Desk, window: Window, steps: int) -> None:
    from agentworld_gym.engines.web.browser import Unreachable

    with suppress(Unreachable):  # the page says so
        online(desk).browser.travel(steps)


def _reload(desk: Desk, window: Window) -> None:
    from agentworld_gym.engines.web.browser import Unreachable

    with suppress(Unreachable):  # the page says so
        online(desk).browser.reload()


def _new_tab(desk: Desk, window: Window, address: str = "") -> None:
    from agentworld_gym.engines.web.browser import Refusal

    web = online(desk).browser
    try:
        web.open_tab()
    except Refusal:
        desk.notify("Web Browser", "There are too many tabs.")
        return
    web.current = len(web.tabs) - 1
    if address:
        _visit(desk, window, address)
    else:
        desk.focus(window, "address")


def _show_tab(desk: Desk, window: Window, index: int) -> None:
    web = online(desk).browser
    if 0 <= index < len(web.tabs):
        web.current = index


def _next_tab(desk: Desk, window: Window, by: int) -> None:
    web = online(desk).browser
    web.current = (web.current + by) % len(web.tabs)


def _close_tab(desk: Desk, window: Window) -> None:
    """Close the tab that is shown; the window goes with the last one."""
    web = online(desk).browser
    window["data"]["closed"] = [*window["data"]["closed"], web.tab.url][-10:]
    last = len(web.tabs) == 1
    web.close_tab(web.current)
    if last:
        desk.close(window)


def _reopen(desk: Desk, window: Window) -> None:
    closed = window["data"]["closed"]
    if closed:
        _new_tab(desk, window, closed.pop())


def _bookmark(desk: Desk, window: Window) -> None:
    """Mark the page, or take its mark away."""
    tab = online(desk).browser.tab
    marks = window["data"]["bookmarks"]
    kept = [mark for mark in marks if mark[1] != tab.url]
    if len(kept) == len(marks) < MAX_BOOKMARKS:
        kept.append((_title(tab), tab.url))
    window["data"]["bookmarks"] = kept


def _press(desk: Desk, window: Window, index: int) -> None:
    from agentworld_gym.engines.web import acts

    web = online(desk).browser
    web.settle()
    if index >= len(web.page.nodes):
        return
    before = len(web.tabs)
    acts.click(web, web.page.nodes[index])
    if len(web.tabs) > before:
        web.current = len(web.tabs) - 1


def _typed(desk: Desk, window: Window, index: int) -> None:
    from agentworld_gym.engines.web import acts, behaviour

    page = online(desk).browser.page
    field = window["data"]["fields"].get(str(index))
    if field is None or index >= len(page.nodes):
        return
    node = page.nodes[index]
    page.give_focus(index)
    acts.put(page, node, field.value)
    behaviour.edited(page, node)


def _send(desk: Desk, window: Window, index: int) -> None:
    from agentworld_gym.engines.web import acts

    web = online(desk).browser
    if index < len(web.page.nodes):
        acts.submit_implicitly(web, web.page.nodes[index])


_SHORTCUTS: Mapping[str, Message] = {
    "ctrl+t": ("new tab",),
    "ctrl+w": ("close tab",),
    "ctrl+shift+t": ("reopen",),
    "ctrl+tab": ("next tab", 1),
    "ctrl+shift+tab": ("next tab", -1),
    "ctrl+pagedown": ("next tab", 1),
    "ctrl+pageup": ("next tab", -1),
    "ctrl+r": ("reload",),
    "f5": ("reload",),
    "ctrl+d": ("bookmark",),
    "alt+left": ("travel", -1),
    "alt+right": ("travel", 1),
}
_HANDLERS: Mapping[str, Callable[..., None]] = {
    "answered": _answered,
    "bookmark": _bookmark,
    "close tab": _close_tab,
    "go": _go,
    "new tab": _new_tab,
    "next tab": _next_tab,
    "press": _press,
    "reload": _reload,
    "reopen": _reopen,
    "send": _send,
    "tab": _show_tab,
    "travel": _travel,
    "typed": _typed,
    "visit": _visit,
}


def _tool(action: Callable[..., None]) -> Callable[..., Any]:
    """A method that does what a button of the window does."""

    def call(desk: Desk, *arguments: Any) -> None:
        window = _window(desk)
        action(desk, window, *arguments)
        _settle(desk, window)
        desk.touch(window)

    return call


def _window(desk: Desk) -> Window:
    windows = desk.windows("browser")
    if not windows:
        raise ToolError("no browser is open")
    return windows[0]


def _open_url(desk: Desk, window: Window, url: Any) -> None:
    _visit(desk, window, str(url))


def _switch(desk: Desk, window: Window, index: Any) -> None:
    if not isinstance(index, int) or not 0 <= index < len(online(desk).browser.tabs):
        raise ToolError(f"no tab {index!r}", "IndexError")
    _show_tab(desk, window, index)


def _told(read: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(desk: Desk) -> Any:
        _window(desk)
        return read(online(desk).browser)

    return call


_TOOLS: Mapping[str, Callable[..., Any]] = {
    "add_bookmark": _tool(_bookmark),
    "back": _tool(lambda desk, window: _travel(desk, window, -1)),
    "bring_back_last_tab": _tool(_reopen),
    "close_tab": _tool(_close_tab),
    "forward": _tool(lambda desk, window: _travel(desk, window, 1)),
    "get_tabs": _told(lambda web: [{"title": tab.title, "url": tab.url} for tab in web.tabs]),
    "get_text": _told(lambda web: pages.plain(web.page)),
    "get_title": _told(lambda web: web.tab.title),
    "get_url": _told(lambda web: web.tab.url),
    "new_tab": _tool(lambda desk, window, url="": _new_tab(desk, window, str(url))),
    "open_url": _tool(_open_url),
    "reload": _tool(_reload),
    "switch_tab": _tool(_switch),
}
