"""The methods of the helper object `BrowserTools`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.program import DesktopServices, ToolError, Window
from agentworld_gym.domains.desktop.engine.programs.browser import actions, page_view
from agentworld_gym.domains.desktop.engine.programs.browser.actions import online


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
"""The methods by name; each is called with the desktop and the code's arguments."""
