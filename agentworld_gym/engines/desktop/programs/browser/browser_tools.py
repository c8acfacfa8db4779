"""The methods of the helper object `BrowserTools`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.engines.desktop.program import Desk, ToolError, Window
from agentworld_gym.engines.desktop.programs.browser import actions, page_view
from agentworld_gym.engines.desktop.programs.browser.actions import online


def _tool(action: Callable[..., None]) -> Callable[..., Any]:
    """A method that does what a button of the window does."""

    def call(desk: Desk, *arguments: Any) -> None:
        window = _window(desk)
        action(desk, window, *arguments)
        actions.settle(desk, window)
        desk.touch(window)

    return call


def _window(desk: Desk) -> Window:
    windows = desk.windows("browser")
    if not windows:
        raise ToolError("no browser is open")
    return windows[0]


def _open_url(desk: Desk, window: Window, url: Any) -> None:
    actions.visit(desk, window, str(url))


def _switch(desk: Desk, window: Window, index: Any) -> None:
    if not isinstance(index, int) or not 0 <= index < len(online(desk).browser.tabs):
        raise ToolError(f"no tab {index!r}", "IndexError")
    actions.show_tab(desk, window, index)


def _told(read: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(desk: Desk) -> Any:
        _window(desk)
        return read(online(desk).browser)

    return call


METHODS: Mapping[str, Callable[..., Any]] = {
    "add_bookmark": _tool(actions.bookmark),
    "back": _tool(lambda desk, window: actions.travel(desk, window, -1)),
    "bring_back_last_tab": _tool(actions.reopen),
    "close_tab": _tool(actions.close_tab),
    "forward": _tool(lambda desk, window: actions.travel(desk, window, 1)),
    "get_tabs": _told(lambda web: [{"title": tab.title, "url": tab.url} for tab in web.tabs]),
    "get_text": _told(lambda web: page_view.plain(web.page)),
    "get_title": _told(lambda web: web.tab.title),
    "get_url": _told(lambda web: web.tab.url),
    "new_tab": _tool(lambda desk, window, url="": actions.new_tab(desk, window, str(url))),
    "open_url": _tool(_open_url),
    "reload": _tool(actions.reload),
    "switch_tab": _tool(_switch),
}
"""The methods by name; each is called with the desk, then with the code's arguments."""
