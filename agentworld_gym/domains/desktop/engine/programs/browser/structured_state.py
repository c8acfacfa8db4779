"""The structured state of the browser: its tabs and pages, and the rows of the sites by what differs from the start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.domains.desktop.engine.differences import patch, patched
from agentworld_gym.domains.desktop.engine.program import DesktopServices, Window
from agentworld_gym.domains.desktop.engine.programs.browser import actions, page_view
from agentworld_gym.domains.web.api import BLANK, Browser, Tab, restored_browser, shown_browser
from agentworld_gym.kit.gui import Field, plain

Plain = dict[str, Any]
_NOT_SEEN = ("focus", "start", "unseen", "looks")
"""What a page of the browser engine tells that the desktop does not show: the focus, and references of elements."""


def visible_state(desktop: DesktopServices, window: Window) -> Plain:
    """Return what the view reads of the browser."""
    internet, data = actions.online(desktop), window["data"]
    every = shown_browser(internet.browser, internet.sites)
    told: Plain = {"tabs": every["tabs"]}
    for tab in told["tabs"].values():
        for page in tab["pages"]:
            for key in _NOT_SEEN:
                page.pop(key, None)
    start = _start(desktop)
    rows = patch(start["data"], every["data"])
    parts: tuple[tuple[str, Any, Any], ...] = (
        ("tab", every["tab"], 0),
        ("users", every["users"], {}),
        ("data", rows, {}),
    )
    told |= {key: part for key, part, usual in parts if part != usual}
    if data["address"].value != _address(internet.browser.tab):
        told["address"] = data["address"].value
    if data["bookmarks"]:
        told["bookmarks"] = plain(data["bookmarks"])
    return told


def restored(desktop: DesktopServices, told: Mapping[str, Any]) -> tuple[Plain, str]:
    """Return the data of the browser's window, and its title; the desktop gets the browser itself."""
    start = _start(desktop)
    every = {
        "tab": told.get("tab", 0),
        "tabs": told["tabs"],
        "users": told.get("users", {}),
        "web": start["web"],
        "data": patched(start["data"], told.get("data", {})),
    }
    browser, _ = restored_browser(every)
    desktop.resources["browser"] = actions.LiveBrowserState(browser, actions.home_of(desktop), {})
    tab = browser.tab
    values = page_view.entries(tab.page)
    fields = {key: Field(value, multiline=tab.page.nodes[int(key)].tag == "textarea") for key, value in values.items()}
    data: Plain = {"address": Field(told.get("address", _address(tab))), "fields": fields, "page": ""}
    data |= {"bookmarks": [tuple(map(str, mark)) for mark in told.get("bookmarks", ())], "closed": []}
    return data, (tab.title or "New Tab") + actions.SUFFIX


def _address(tab: Tab) -> str:
    return "" if tab.url == BLANK else tab.url


def _start(desktop: DesktopServices) -> Plain:
    """Return what is shown of the sites when the browser is first opened."""
    stated = dict(desktop.initial_state.sites)
    return _first_shown(json.dumps(stated, sort_keys=True), actions.home_of(desktop), desktop.seed)


@lru_cache(maxsize=16)
def _first_shown(stated: str, home: str, seed: int) -> Plain:
    sites = actions.started_sites(json.loads(stated), home, seed)
    shown = shown_browser(Browser(sites), sites)
    sites.close()
    return shown
