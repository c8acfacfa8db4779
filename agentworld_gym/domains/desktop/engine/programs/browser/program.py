"""The web browser of the desktop, over the sites of the web engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from agentworld_gym.domains.desktop.engine.geometry import TITLE, WORK
from agentworld_gym.domains.desktop.engine.program import DesktopServices, MenuEntry, Program, ToolError, Window
from agentworld_gym.domains.desktop.engine.programs.browser import actions, page_view, structured_state
from agentworld_gym.domains.desktop.engine.programs.browser.actions import online
from agentworld_gym.domains.desktop.engine.widgets import button, entry, toggle
from agentworld_gym.kit.gui import Field, Message, Widget, column, row, scroll

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


class BrowserProgram(Program):
    """The web browser: tabs, an address bar, bookmarks, and pages as widgets in lines."""

    id = "browser"
    name = "Web Browser"
    commands = ("google-chrome", "firefox", "epiphany", "chromium", "x-www-browser")
    types = (".html",)
    size = (1180, 820)
    fields = frozenset({"address"})
    tools = "BrowserTools"

    def open(self, desktop: DesktopServices, arguments: tuple[str, ...]) -> Window | None:
        """Open a URL in the first tab, or in another tab of the existing window."""
        web = online(desktop)
        windows = desktop.windows(self.id)
        if windows:
            window = windows[0]
            if arguments:
                actions.new_tab(desktop, window, arguments[0])
        else:
            data = {"address": Field(), "fields": {}, "page": "", "bookmarks": [], "closed": []}
            window = desktop.window(data, "")
            actions.visit(desktop, window, arguments[0] if arguments else web.home)
        actions.settle(desktop, window)
        desktop.touch(window)
        return window

    def view(self, desktop: DesktopServices, window: Window) -> Widget:
        """Return the tabs, the address bar, the bookmarks and the page."""
        web, data = online(desktop).browser, window["data"]
        _, _, width, height = WORK if window["maximized"] else window["box"]
        tabs = [
            toggle(actions.title(tab), index == web.current, ("tab", index), f"tab {index}", role="page-tab", height=32)
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
        lines = page_view.content(web.page, width - 48, data["fields"])
        top = [
            row(*tabs, button("New Tab", ("new tab",)), button("Close Tab", ("close tab",)), height=36, padding=(6, 2))
        ]
        bars = [*top, bar, *([row(*marks, height=36, padding=(6, 1), gap=4)] if marks else [])]
        rest = height - TITLE - sum(part.height or 0 for part in bars)
        return column(*bars, scroll("page", *lines, padding=(16, 8), gap=4, height=rest))

    def visible_state(self, desktop: DesktopServices, window: Window) -> dict[str, Any]:
        """Return the tabs with their pages, and what the sites have stored since the start."""
        return structured_state.visible_state(desktop, window)

    def restored(self, desktop: DesktopServices, shown: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the data of the window, and its title; the desktop gets the browser itself."""
        return structured_state.restored(desktop, shown)

    def fields_of(self, data: Mapping[str, Any]) -> Collection[str]:
        """Return the keys of the address bar and of the text fields of the page."""
        return {*self.fields, *(f"node {index}" for index in data["fields"])}

    def update(self, desktop: DesktopServices, window: Window, message: Message) -> None:
        """Act on a message."""
        name, *arguments = message
        handler = _HANDLERS.get(str(name))
        if handler is None:
            return
        handler(desktop, window, *arguments)
        if any(window is other for other in desktop.windows(self.id)):
            actions.settle(desktop, window)

    def key(self, desktop: DesktopServices, window: Window, combo: str) -> bool:
        """Act on the shortcuts of tabs, history and address bar."""
        if combo in ("ctrl+l", "f6"):
            window["data"]["address"].select_all()
            desktop.focus(window, "address")
        elif combo in _SHORTCUTS:
            self.update(desktop, window, _SHORTCUTS[combo])
        else:
            return False
        return True

    def menu(
        self, desktop: DesktopServices, window: Window, name: str, arguments: tuple[Any, ...]
    ) -> Sequence[MenuEntry]:
        """Return the options of a drop-down list of the page."""
        page = online(desktop).browser.page
        if name != "options" or not arguments or arguments[0] >= len(page.nodes):
            return ()
        select = page.nodes[arguments[0]]
        chosen = page.chosen_options(select)
        return [
            MenuEntry(
                " ".join(option.text().split()) or "(empty)",
                ("press", option.index),
                enabled=not page.is_disabled(option),
                checked=option.index in chosen,
            )
            for option in page.document.options(select)
        ]

    def tool_methods(self) -> Mapping[str, Callable[..., Any]]:
        """Return the methods of `BrowserTools`."""
        return METHODS


_HANDLERS: Mapping[str, Callable[..., None]] = {
    "answered": actions.answered,
    "bookmark": actions.bookmark,
    "close tab": actions.close_tab,
    "go": actions.go,
    "new tab": actions.new_tab,
    "next tab": actions.next_tab,
    "press": actions.press,
    "reload": actions.reload,
    "reopen": actions.reopen,
    "send": actions.send,
    "tab": actions.show_tab,
    "travel": actions.travel,
    "typed": actions.typed_into,
    "visit": actions.visit,
}


def _command(action: Callable[..., None]) -> Callable[..., Any]:
    """Return a method that does what a button of the window does."""

    def call(desktop: DesktopServices, *arguments: Any) -> None:
        window = _window(desktop)
        action(desktop, window, *arguments)
        actions.settle(desktop, window)
        desktop.touch(window)

    return call


def _window(desktop: DesktopServices) -> Window:
    windows = desktop.windows("browser")
    if not windows:
        raise ToolError("no browser is open")
    return windows[0]


def _open_url(desktop: DesktopServices, window: Window, url: Any) -> None:
    actions.visit(desktop, window, str(url))


def _switch(desktop: DesktopServices, window: Window, index: Any) -> None:
    if not isinstance(index, int) or not 0 <= index < len(online(desktop).browser.tabs):
        raise ToolError(f"no tab {index!r}", "IndexError")
    actions.show_tab(desktop, window, index)


def _getter(read: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(desktop: DesktopServices) -> Any:
        _window(desktop)
        return read(online(desktop).browser)

    return call


METHODS: Mapping[str, Callable[..., Any]] = {
    "add_bookmark": _command(actions.bookmark),
    "back": _command(lambda desktop, window: actions.travel(desktop, window, -1)),
    "bring_back_last_tab": _command(actions.reopen),
    "close_tab": _command(actions.close_tab),
    "forward": _command(lambda desktop, window: actions.travel(desktop, window, 1)),
    "get_tabs": _getter(lambda web: [{"title": tab.title, "url": tab.url} for tab in web.tabs]),
    "get_text": _getter(lambda web: page_view.plain(web.page)),
    "get_title": _getter(lambda web: web.tab.title),
    "get_url": _getter(lambda web: web.tab.url),
    "new_tab": _command(lambda desktop, window, url="": actions.new_tab(desktop, window, str(url))),
    "open_url": _command(_open_url),
    "reload": _command(actions.reload),
    "switch_tab": _command(_switch),
}
"""The methods of the helper object `BrowserTools` by name; each is called with the desktop and the code's arguments."""
