"""The actions of the web browser: each function acts on one message about its tabs and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.browser import page_view
from agentworld_gym.domains.web.api import (
    Browser,
    JavaScriptDialog,
    Refusal,
    Sites,
    Tab,
    Unreachable,
    answer_dialog,
    click,
    filter_list,
    flat_state,
    from_address_bar,
    host_of,
    kept_browser,
    load_site,
    restored_browser,
    set_text,
    shown_browser,
    site_names,
    submit_implicitly,
)
from agentworld_gym.kit.gui import Field

MAX_BOOKMARKS = 30
SUFFIX = " - Web Browser"


class LiveBrowserState:
    """The state of the web browser that is no plain data: tabs and pages, cookies, and what the sites store.

    `stored` is what the sites stored when the browser was first opened.
    """

    def __init__(self, browser: Browser, home: str, stored: Mapping[str, Scalar]) -> None:
        self.browser, self.home, self._stored = browser, home, stored

    def fork(self) -> LiveBrowserState:
        """Return an exact copy."""
        return LiveBrowserState(self.browser.fork(), self.home, self._stored)

    @property
    def sites(self) -> Sites:
        """The sites that the pages come from."""
        return cast(Sites, self.browser.internet)

    def fields(self) -> dict[str, Any]:
        """Return all that it is, as plain JSON data."""
        shown = shown_browser(self.browser, self.sites)
        kept = kept_browser(self.browser, self.sites, shown)
        return {"shown": shown, "kept": kept, "home": self.home, "stored": dict(self._stored)}

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> LiveBrowserState:
        """Return the internet of these fields, the inverse of `fields`."""
        browser, _ = restored_browser(fields["shown"], fields["kept"])
        return cls(browser, fields["home"], fields["stored"])

    def state(self) -> Mapping[str, Scalar]:
        """Return the tabs, and the stored values that differ from those at first (None for a missing one)."""
        fields, before = flat_state(self.browser), self._stored
        gone = dict.fromkeys(before.keys() - fields.keys())
        return gone | {name: value for name, value in fields.items() if name not in before or before[name] != value}

    def close(self) -> None:
        """Free it. It may be called twice."""
        self.browser.internet.close()


def online(desktop: DesktopServices) -> LiveBrowserState:
    """Return the internet of a desktop, which exists once a browser was opened."""
    whole = cast(Any, desktop)
    if "browser" not in whole.resources:
        home = home_of(desktop)
        sites = started_sites(whole.initial_state.sites, home, whole.seed)
        whole.resources["browser"] = LiveBrowserState(Browser(sites), home, sites.state())
    internet: LiveBrowserState = whole.resources["browser"]
    return internet


def home_of(desktop: DesktopServices) -> str:
    """Return the URL of the first page of the browser: that of the first site that the task states."""
    first = next(iter(desktop.initial_state.sites), site_names()[0])
    return f"http://{load_site(first).about.host}/"


def started_sites(stated: Mapping[str, Any], home: str, seed: int) -> Sites:
    """Return the sites as they are when the browser is first opened."""
    return Sites.start({"open": home, **({"sites": dict(stated)} if stated else {})}, seed, Controls())


def title(tab: Tab) -> str:
    """Return the title of a tab."""
    return (tab.title or tab.url or "New Tab")[:30]


def settle(desktop: DesktopServices, window: Window) -> None:
    """Let title, address bar and text fields follow the page. A dialog of the page opens over the window."""
    web, data = online(desktop).browser, window["data"]
    tab = web.tab
    window["title"] = (tab.title or "New Tab") + SUFFIX
    identity = f"{web.current}/{tab.load}/{tab.url}"
    if data["page"] != identity:
        data["page"] = identity
        data["fields"] = {}
        data["address"].set("" if tab.url == "about:blank" else tab.url)
        window["scroll"]["page"] = 0
        if window["focus"].startswith("node "):
            desktop.focus(window, "")
    values = page_view.entries(tab.page)
    texts = data["fields"]
    for key in [key for key in texts if key not in values]:
        del texts[key]
    for key, value in values.items():
        if key not in texts:
            texts[key] = Field(value, multiline=tab.page.nodes[int(key)].tag == "textarea")
        elif texts[key].value != value:
            texts[key].set(value)
    if tab.modal is not None and not window["dialogs"]:
        _ask(desktop, window, tab)


def _ask(desktop: DesktopServices, window: Window, tab: Tab) -> None:
    modal = tab.modal
    if not isinstance(modal, JavaScriptDialog):
        tab.modal = None
        return
    buttons = (("ok", "OK"),) if modal.kind == "alert" else (("cancel", "Cancel"), ("ok", "OK"))
    entries = {"Answer": ""} if modal.kind == "prompt" else None
    desktop.dialog(window, f"{host_of(tab.url) or 'This page'} says", modal.message, buttons, ("answered",), entries)


def answered(desktop: DesktopServices, window: Window, pressed: str, entries: Sequence[str] = ()) -> None:
    """Continue after a dialog of the page."""
    answer_dialog(online(desktop).browser, pressed == "ok", entries[0] if entries else None)


def visit(desktop: DesktopServices, window: Window, address: str) -> None:
    """Open a URL in the current tab."""
    web = online(desktop).browser
    web.settle()
    with suppress(Unreachable):  # The page tells of the error.
        web.go(from_address_bar(address))


def go(desktop: DesktopServices, window: Window) -> None:
    """Open what was typed into the address bar."""
    address = window["data"]["address"].value.strip()
    if address:
        visit(desktop, window, address)
        desktop.focus(window, "")


def travel(desktop: DesktopServices, window: Window, steps: int) -> None:
    """Go back or forward in the history."""
    with suppress(Unreachable):  # The page tells of the error.
        online(desktop).browser.travel(steps)


def reload(desktop: DesktopServices, window: Window) -> None:
    """Reload the page."""
    with suppress(Unreachable):  # The page tells of the error.
        online(desktop).browser.reload()


def new_tab(desktop: DesktopServices, window: Window, address: str = "") -> None:
    """Open another tab and show it."""
    web = online(desktop).browser
    try:
        web.open_tab()
    except Refusal:
        desktop.notify("Web Browser", "There are too many tabs.")
        return
    web.current = len(web.tabs) - 1
    if address:
        visit(desktop, window, address)
    else:
        desktop.focus(window, "address")


def show_tab(desktop: DesktopServices, window: Window, index: int) -> None:
    """Show a tab."""
    web = online(desktop).browser
    if 0 <= index < len(web.tabs):
        web.current = index


def next_tab(desktop: DesktopServices, window: Window, by: int) -> None:
    """Show the tab before or after."""
    web = online(desktop).browser
    web.current = (web.current + by) % len(web.tabs)


def close_tab(desktop: DesktopServices, window: Window) -> None:
    """Close the current tab; the window closes with the last one."""
    web = online(desktop).browser
    window["data"]["closed"] = [*window["data"]["closed"], web.tab.url][-10:]
    last = len(web.tabs) == 1
    web.close_tab(web.current)
    if last:
        desktop.close(window)


def reopen(desktop: DesktopServices, window: Window) -> None:
    """Reopen the tab that was closed last."""
    closed = window["data"]["closed"]
    if closed:
        new_tab(desktop, window, closed.pop())


def bookmark(desktop: DesktopServices, window: Window) -> None:
    """Add a bookmark of the page, or remove it."""
    tab = online(desktop).browser.tab
    marks = window["data"]["bookmarks"]
    others = [mark for mark in marks if mark[1] != tab.url]
    if len(others) == len(marks) < MAX_BOOKMARKS:
        others.append((title(tab), tab.url))
    window["data"]["bookmarks"] = others


def press(desktop: DesktopServices, window: Window, index: int) -> None:
    """Click an element of the page; a tab that it opens is shown."""
    web = online(desktop).browser
    web.settle()
    if index >= len(web.page.nodes):
        return
    before = len(web.tabs)
    click(web, web.page.nodes[index])
    if len(web.tabs) > before:
        web.current = len(web.tabs) - 1


def typed_into(desktop: DesktopServices, window: Window, index: int) -> None:
    """Copy the text that was typed into a field to the page."""
    page = online(desktop).browser.page
    field = window["data"]["fields"].get(str(index))
    if field is None or index >= len(page.nodes):
        return
    node = page.nodes[index]
    page.give_focus(index)
    set_text(page, node, field.value)
    filter_list(page, node)


def send(desktop: DesktopServices, window: Window, index: int) -> None:
    """Act on Enter in a field of the page."""
    web = online(desktop).browser
    if index < len(web.page.nodes):
        submit_implicitly(web, web.page.nodes[index])
