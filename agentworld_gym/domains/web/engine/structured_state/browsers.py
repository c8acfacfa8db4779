"""A browser and its sites as plain JSON data, in two parts: what the view reads, and what updates alone need.

`shown` has the tabs (`tabs`, by their numbers, each with the pages of its history), the current one (`tab`), who is
signed in (`users`), the rows of the sites (`data`), and what does not change (`web`). A page is its address, what its
site made it from, and what the user has changed in it (`pages`); its text follows from the rows. `kept` has sessions,
cookies, counters, and whatever of a page the view would do without. Both together are complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import Any

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.browser.browser import (
    BLANK,
    ERROR_PAGE,
    Browser,
    HistoryEntry,
    OpenFileChooser,
    Tab,
    console_error,
    loaded,
    resubmission,
    unreachable,
)
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.http import PageSource, Response
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.printing import pairs_of, plain_pairs
from agentworld_gym.domains.web.engine.structured_state.hidden_page_state import (
    plain_source,
    set_slots,
    slots,
    source_of,
)
from agentworld_gym.domains.web.engine.structured_state.pages import Plain, changed_page, modal_of, told_page
from agentworld_gym.kit.gui import frozen, plain

SIZE = (1280, 720)


def shown_browser(browser: Browser, sites: Sites, *, reporting: bool = False) -> Plain:
    """Return what the view reads of a browser on these sites. Nothing in it is shared with the browser.

    Args:
        browser: The browser.
        sites: The sites that its pages come from.
        reporting: Whether the last answer reported what the console of the page holds.
    """
    shown: Plain = {"tab": browser.current, "users": sites.users(browser.cookies), **sites.visible_state()}
    shown["tabs"] = {
        str(number): _shown_tab(sites, shown, tab, current=number == browser.current)
        for number, tab in enumerate(browser.tabs)
    }
    if reporting:
        shown["tabs"][str(browser.current)]["pages"][browser.tab.place].pop("old", None)
    if browser.size != SIZE:
        shown["size"] = list(browser.size)
    return shown


def kept_browser(browser: Browser, sites: Sites, shown: Mapping[str, Any]) -> Plain:
    """Return what updates alone need of a browser whose other part is `shown`. Nothing in it is shared."""
    return {
        **sites.hidden_state(),
        "cookies": {host: dict(sorted(cookies.items())) for host, cookies in sorted(browser.cookies.items())},
        "tabs": [_kept_tab(sites, shown, tab, shown["tabs"][str(number)]) for number, tab in enumerate(browser.tabs)],
    }


def restored_browser(shown: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> tuple[Browser, Sites]:
    """Return the browser of a state, and its sites. Without what is kept they are good for nothing but to show pages.

    Raises:
        Exception: The state is none of a browser. It may be a `SpecError`, an error of SQLite or of a template, or what
            Python raises where a value has another type or is missing.
    """
    kept = kept or {}
    sites = Sites.restore(shown, kept)
    browser = Browser(sites)
    inner = [*kept.get("tabs", ()), *({} for _ in shown["tabs"])]
    browser.tabs = [
        _tab(sites, shown, shown["tabs"][str(number)], inner[number], current=number == shown["tab"])
        for number in range(len(shown["tabs"]))
    ]
    browser.current = shown["tab"]
    page_place(shown)  # A tab that is counted from the end is none.
    browser.cookies = {host: dict(cookies) for host, cookies in kept.get("cookies", sites.cookies).items()}
    width, height = shown.get("size", SIZE)
    browser.size = (width, height)
    return browser, sites


def page_place(shown: Mapping[str, Any]) -> tuple[str, str, str, int]:
    """Return the path of the page in front.

    Raises:
        LookupError, TypeError: The state is none of a browser.
    """
    tab = str(shown["tab"])
    told = shown["tabs"][tab]
    return "tabs", tab, "pages", _place(told)


def _place(told: Mapping[str, Any]) -> int:
    """Return the number of the page of a tab that is in front.

    Raises:
        LookupError: There is none.
    """
    place: int = len(told["pages"]) - 1 - told.get("back", 0)
    if not 0 <= place < len(told["pages"]):
        raise LookupError("no page is in front")
    return place


def _shown_tab(sites: Sites, shown: Plain, tab: Tab, *, current: bool) -> Plain:
    pages = [_shown_entry(entry) for entry in tab.entries]
    pages[tab.place].pop("fields", None)
    pages[tab.place] |= _shown_page(sites, shown, tab, pages[tab.place], current=current)
    told: Plain = {"pages": pages}
    back = len(pages) - 1 - tab.place
    return {**told, "back": back} if back else told


def _shown_entry(entry: HistoryEntry) -> Plain:
    told: Plain = {"url": entry.url}
    if entry.method == "POST":
        told["sent"] = plain_pairs(entry.form)
    if entry.fields:
        told["fields"] = plain(entry.fields)
    return told


def _shown_page(sites: Sites, shown: Plain, tab: Tab, told: Plain, *, current: bool) -> Plain:
    """Return the data of the page of a tab beside its step of the history."""
    source: Plain = {}
    if tab.failed:
        source["failed"] = tab.failed
    elif tab.source is not None:
        source = _shown_source(tab.source)
        if tab.source.user != _user(sites, shown, told):
            source["user"] = tab.source.user
        if "controls" in shown["web"]:
            source["visit"] = tab.source.visit
    if not current:
        found: Plain = {}
        if _body(sites, shown, {**told, **source}) != tab.body:
            found["title"] = tab.page.document.title
    else:
        attempts: list[Plain] = [{}, {"status": tab.status}, {"body": tab.body}]
        found = next(extra for extra in attempts if _body(sites, shown, {**told, **source, **extra}) == tab.body)
    if tab.reported:
        found["old"] = True
    return source | found | told_page(tab.page, tab.body, tab.modal)


def _shown_source(source: PageSource) -> Plain:
    told: Plain = {}
    if source.flash is not None:
        kind, text = source.flash
        told["flash" if kind == "status" else "alert"] = text
    if source.errors is not None and source.errors:
        told["errors"] = dict(source.errors)
    if source.loading:
        told["loading"] = True
    return told


def _body(sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any]) -> str | None:
    """Return the text of a page as its address and the rows have it; None where they have none."""
    with suppress(Exception):
        return _printed(sites, shown, told).body
    return None


def _printed(sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any]) -> Response:
    """Return the described page.

    Raises:
        LookupError, TypeError, ValueError, sqlite3.Error, jinja2.TemplateError: There is no such page.
    """
    url = told["url"]
    if "body" in told:
        return Response(told.get("status", 200), told["body"])
    if "failed" in told:
        host = addresses.host_of(url)
        code = told["failed"]
        again = code == "ERR_CACHE_MISS"
        return Response(0, resubmission(host) if again else unreachable(code, _bare(host)))
    if url == BLANK:
        return Response(200, "")
    user = told["user"] if "user" in told else _user(sites, shown, told)
    return sites.printed(addresses.request_url(url), user, told)


def _bare(host: str) -> str:
    return host.partition(":")[0]


def _user(sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    return shown["users"].get(sites.name_of(addresses.host_of(addresses.request_url(told["url"]))))


def _tab(
    sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any], kept: Mapping[str, Any], *, current: bool
) -> Tab:
    """Return a tab. Without what is kept, of another one than the current one only title and address are good."""
    pages = told["pages"]
    place = _place(told)
    front = pages[place]
    inner = [*kept.get("entries", ()), *({} for _ in pages)]
    entries = [_entry(*pair) for pair in zip(pages, inner, strict=False)]
    if current or kept:
        page, response = _page(sites, shown, front, kept)
        modal = modal_of(page, front)
    else:
        page, response = _titled(sites, shown, front)
        modal = OpenFileChooser(0) if "modal" in front else None
    tab = Tab(page, ERROR_PAGE if "failed" in front else entries[place].url, entries, place)
    tab.status, tab.source = response.status, response.source
    tab.failed = front.get("failed", "")
    tab.modal, tab.refreshes = modal, response.refresh or (page.document.refreshes and not tab.failed)
    if response.status >= 400:
        tab.console = [console_error(response.status, addresses.request_url(entries[place].url))]
    tab.reported = len(tab.console) if front.get("old") else 0
    tab.load = kept.get("load", 0)
    tab.fresh = kept.get("fresh", False)
    tab.requests = list(kept.get("requests", ()))
    for name in ("status", "refreshes", "reported"):
        setattr(tab, name, kept.get(name, getattr(tab, name)))
    tab.console = list(kept.get("console", tab.console))
    return tab


def _entry(told: Mapping[str, Any], kept: Mapping[str, Any]) -> HistoryEntry:
    form = pairs_of(told["sent"]) if "sent" in told else ()
    saved = {frozen(key): value for key, value in kept.get("saved", ())}
    fields = {name: frozen(value) for name, value in kept.get("fields", {}).items()}
    url = told["url"]
    if not isinstance(url, str):
        raise TypeError(f"an address is a text, and not {url!r}")
    return HistoryEntry(url, kept.get("load", 0), "POST" if "sent" in told else "GET", form, saved, fields)


def _page(
    sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any], kept: Mapping[str, Any]
) -> tuple[Page, Response]:
    if "stale" in kept:
        response = Response(kept["stale"]["status"], kept["stale"]["body"], source=source_of(kept["stale"]["source"]))
        page = loaded(response.body)
    else:
        response = _printed(sites, shown, told)
        page = changed_page(response.body, told)
    set_slots(page, kept.get("page", {}))
    return page, response


def _titled(sites: Sites, shown: Mapping[str, Any], told: Mapping[str, Any]) -> tuple[Page, Response]:
    """Return a page of which the title alone counts."""
    if "title" in told:
        body = f"<title>{escape(told['title'])}</title>"
        return loaded(body), Response(200, body)
    response = _printed(sites, shown, told)
    return loaded(response.body), response


def _kept_entry(entry: HistoryEntry) -> Plain:
    if not entry.saved:
        return {"load": entry.load}
    saved = [[list(key), value] for key, value in sorted(entry.saved.items())]
    return {"load": entry.load, "saved": saved, "fields": plain(entry.fields)}


def _kept_tab(sites: Sites, shown: Mapping[str, Any], tab: Tab, told: Mapping[str, Any]) -> Plain:
    kept: Plain = {
        "load": tab.load,
        "fresh": tab.fresh,
        "requests": list(tab.requests),
        "console": list(tab.console),
        "reported": tab.reported,
        "status": tab.status,
        "refreshes": tab.refreshes,
        "entries": [_kept_entry(entry) for entry in tab.entries],
    }
    front = told["pages"][tab.place]
    built: Page | None = None
    if "body" not in front and _body(sites, shown, front) == tab.body:
        with suppress(Exception):
            built = changed_page(tab.body, front)
    if built is None:
        kept["stale"] = {"body": tab.body, "status": tab.status, "source": plain_source(tab.source)}
        built = loaded(tab.body)
    found, given = slots(tab.page), slots(built)
    kept["page"] = {name: value for name, value in found.items() if value != given[name]}
    return kept
