"""The state of a browser as flat fields: everything that actions can change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.web.engine.browser.browser import Browser, OpenFileChooser, Tab
from agentworld_gym.domains.web.engine.document.page import Page


def stated_hosts(state: Mapping[str, Any], hosts: Iterable[str]) -> frozenset[str]:
    """Return the hosts whose rows the state of a task spells out."""
    sites = state.get("sites")
    named = [name for name, tables in sites.items() if tables] if isinstance(sites, Mapping) else []
    return frozenset(host for host in hosts if host.partition(".")[0] in named)


def state(browser: Browser) -> dict[str, Scalar]:
    """Return the tabs, the cookies and what the sites store, as flat fields."""
    fields: dict[str, Scalar] = {"browser/tab": browser.current, "browser/size": "x".join(map(str, browser.size))}
    for place, tab in enumerate(browser.tabs):
        fields.update(_tab(f"tab/{place}", tab))
    for host, cookies in browser.cookies.items():
        fields.update({f"cookie/{host}/{name}": value for name, value in cookies.items()})
    fields.update(browser.internet.state())
    return fields


def _tab(prefix: str, tab: Tab) -> dict[str, Scalar]:
    fields: dict[str, Scalar] = {
        f"{prefix}/url": tab.url,
        f"{prefix}/title": tab.title,
        f"{prefix}/history": tab.place,
        f"{prefix}/load": tab.load,
    }
    if tab.modal is not None:
        modal = tab.modal
        fields[f"{prefix}/modal"] = (
            "file chooser" if isinstance(modal, OpenFileChooser) else f"{modal.kind}: {modal.message}"
        )
    page = tab.page
    if page.focus is not None:
        fields[f"{prefix}/focus"] = _stable_name(page, page.focus)
    for index, value in page.values.items():
        fields[f"{prefix}/value/{_stable_name(page, index)}"] = value
    for index, checked in page.checked.items():
        fields[f"{prefix}/checked/{_stable_name(page, index)}"] = checked
    for index, chosen in page.chosen.items():
        labels = (" ".join(page.nodes[option].text().split()) for option in chosen)
        fields[f"{prefix}/chosen/{_stable_name(page, index)}"] = ", ".join(labels)
    for index, files in page.files.items():
        fields[f"{prefix}/files/{_stable_name(page, index)}"] = ", ".join(files)
    for (index, name), changed in page.attrs.items():
        fields[f"{prefix}/{name}/{_stable_name(page, index)}"] = changed
    return fields


def _stable_name(page: Page, index: int) -> str:
    """Return a name for an element that stays the same from one load of its page to the next."""
    node = page.nodes[index]
    name = node.attrs.get("id") or node.attrs.get("name") or ""
    return f"{node.tag}{index}" + (f":{name}" if name else "")
