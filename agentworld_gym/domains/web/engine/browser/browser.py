"""The simulated browser: tabs with their histories, cookies, and the loading of pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from http import HTTPStatus

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.document import forms
from agentworld_gym.domains.web.engine.document.dom import Document
from agentworld_gym.domains.web.engine.document.focus import focusable, show_modal
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.http import ConnectionReset, HttpRequest, Internet, PageSource

MAX_TABS = 20
MAX_HISTORY = 100
MAX_REDIRECTS = 20
BLANK = "about:blank"
ERROR_PAGE = "chrome-error://chromewebdata/"


class Refusal(Exception):
    """A tool cannot do what a call asks for; the text is the tool's answer."""


class Unreachable(Exception):
    """A page could not be loaded; the text is Chromium's code, such as `ERR_NAME_NOT_RESOLVED`."""


@dataclass(frozen=True, slots=True)
class JavaScriptDialog:
    """An open `alert`, `confirm` or `prompt`."""

    kind: str
    """One of `alert`, `confirm` and `prompt`."""
    message: str
    """The text of the dialog."""
    node: int
    """The index of the button or link that is activated once the dialog is accepted."""
    field: str = ""
    """The name of the field that takes the text of a prompt."""


@dataclass(frozen=True, slots=True)
class OpenFileChooser:
    """An open file chooser for the file field `node`."""

    node: int


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One step of a history: how its page is loaded, and which load showed it."""

    url: str
    load: int
    method: str = "GET"
    form: tuple[tuple[str, str], ...] = ()
    saved: forms.Saved = field(default_factory=dict)
    left: Page | Mapping[str, forms.FieldValue] = field(default_factory=dict)
    """The page as it was left, or its saved values by the names of their fields."""

    @property
    def fields(self) -> Mapping[str, forms.FieldValue]:
        """The saved values by the names of their fields."""
        return forms.field_values(self.left, passwords=False) if isinstance(self.left, Page) else self.left


@dataclass(slots=True)
class Tab:
    """One tab, which shows `entries[place]` of its history."""

    page: Page
    url: str = BLANK
    entries: list[HistoryEntry] = field(default_factory=lambda: [HistoryEntry(BLANK, 0)])
    place: int = 0
    load: int = 0
    status: int = 200
    refreshes: bool = False
    """Whether the page is about to reload itself."""
    fresh: bool = False
    """Whether a link opened the tab; the empty page before the link's page is no step of its history."""
    modal: JavaScriptDialog | OpenFileChooser | None = None
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    reported: int = 0
    source: PageSource | None = None
    """What its site made the page from; None for a page of the browser itself."""
    failed: str = ""
    """Why the browser shows a page of its own, as Chromium's code."""

    @property
    def body(self) -> str:
        """The HTML of the page."""
        return self.page.document.source

    @property
    def title(self) -> str:
        """The title of the page; empty while a dialog is open."""
        return "" if self.modal is not None else self.page.document.title

    def fork(self) -> Tab:
        """Return an exact copy."""
        return replace(
            self,
            page=self.page.fork(),
            entries=list(self.entries),
            requests=list(self.requests),
            console=list(self.console),
        )


class Browser:
    """A browser: its tabs, and the cookies of the hosts.

    Args:
        internet: The sites that answer its requests; the browser closes them.
    """

    def __init__(self, internet: Internet) -> None:
        self.internet = internet
        self.tabs: list[Tab] = [blank_tab()]
        self.current = 0
        self.cookies: dict[str, dict[str, str]] = {}
        self.size = (1280, 720)

    @property
    def tab(self) -> Tab:
        """The current tab."""
        return self.tabs[self.current]

    @property
    def page(self) -> Page:
        """The page of the current tab."""
        return self.tab.page

    def fork(self) -> Browser:
        """Return an exact copy."""
        twin = object.__new__(Browser)
        twin.internet = self.internet.fork()
        twin.tabs = [tab.fork() for tab in self.tabs]
        twin.current, twin.size = self.current, self.size
        twin.cookies = {host: dict(cookies) for host, cookies in self.cookies.items()}
        return twin

    def go(
        self,
        url: str,
        method: str = "GET",
        form: tuple[tuple[str, str], ...] = (),
        tab: Tab | None = None,
    ) -> None:
        """Open a URL in a tab, as the next step of its history.

        Raises:
            Unreachable: Nothing answers; the tab shows the browser's own error page.
        """
        tab = tab or self.tab
        page_url = addresses.without_fragment(url)
        same = method == "GET" and url == tab.url
        if "#" in url and method == "GET" and page_url == addresses.without_fragment(tab.url):
            if not same:
                self._push(tab, HistoryEntry(url, tab.load))
                tab.url = url
            target = tab.page.document.by_id.get(url.partition("#")[2])
            if target is not None:
                tab.page.give_focus(target.index if focusable(tab.page, target) else None)
            return
        self._leave(tab)
        entry = HistoryEntry(url, self._next_load(tab), method, form)
        if tab.fresh:
            tab.entries, tab.fresh = [entry], False
        elif same:
            tab.entries[tab.place] = entry
        else:
            self._push(tab, entry)
        self._load(tab)

    def travel(self, steps: int) -> bool:
        """Go back (a number below 0) or forward in the history; False if there is no such step.

        Raises:
            Unreachable: The page could not be loaded again.
        """
        tab = self.tab
        place = tab.place + steps
        if not 0 <= place < len(tab.entries):
            return False
        self._leave(tab)
        tab.place = place
        entry = tab.entries[place]
        if entry.load == tab.load:
            tab.url = entry.url
            return True
        if entry.method == "POST":
            body = resubmission(addresses.host_of(entry.url))
            show(tab, body, ERROR_PAGE, 0, failed="ERR_CACHE_MISS")
            raise Unreachable("ERR_CACHE_MISS")
        old = entry.load
        load = self._next_load(tab)
        tab.entries = [replace(item, load=load) if item.load == old else item for item in tab.entries]
        self._load(tab)
        forms.restore_values(tab.page, entry.saved)
        return True

    def reload(self) -> None:
        """Reload the page.

        Raises:
            Unreachable: It could not be loaded.
        """
        tab = self.tab
        entry = tab.entries[tab.place]
        tab.entries[tab.place] = replace(entry, load=self._next_load(tab), saved={}, left={})
        self._load(tab)

    def settle(self) -> None:
        """Let a page reload itself that asked for it. An unreachable page leaves the error page."""
        tab = self.tab
        if tab.refreshes and tab.modal is None:
            try:
                self.reload()
            except Unreachable:
                return

    def open_tab(self) -> Tab:
        """Open an empty tab behind the others.

        Raises:
            Refusal: There are too many tabs.
        """
        if len(self.tabs) >= MAX_TABS:
            raise Refusal(f"Error: browserContext.newPage: the browser has {MAX_TABS} tabs open already")
        tab = blank_tab()
        self.tabs.append(tab)
        return tab

    def close_tab(self, index: int) -> None:
        """Close a tab, and show its neighbour. The last tab leaves an empty one."""
        del self.tabs[index]
        if not self.tabs:
            self.tabs.append(blank_tab())
        if self.current >= index:
            self.current = max(0, self.current - 1) if self.current > index else min(index, len(self.tabs) - 1)

    def _push(self, tab: Tab, entry: HistoryEntry) -> None:
        tab.entries = [*tab.entries[: tab.place + 1], entry][-MAX_HISTORY:]
        tab.place = len(tab.entries) - 1

    def _next_load(self, tab: Tab) -> int:
        tab.load += 1
        return tab.load

    def _leave(self, tab: Tab) -> None:
        values = forms.changed_values(tab.page)
        if values:
            tab.entries[tab.place] = replace(tab.entries[tab.place], saved=values, left=tab.page)

    def _load(self, tab: Tab) -> None:
        """Load the page of the current step of the history.

        Raises:
            Unreachable: Nothing answers.
        """
        entry = tab.entries[tab.place]
        tab.requests.clear()
        tab.console.clear()
        tab.reported = 0
        tab.load = entry.load
        if entry.url == BLANK:
            show(tab, "", BLANK, 200)
            return
        try:
            self._fetch(tab, entry)
        except Unreachable as error:
            host = addresses.host_of(tab.entries[tab.place].url)
            body = unreachable(str(error), host.partition(":")[0])
            show(tab, body, ERROR_PAGE, 0, failed=str(error))
            raise

    def _fetch(self, tab: Tab, entry: HistoryEntry) -> None:
        url, method, form = addresses.request_url(entry.url), entry.method, entry.form
        for _ in range(MAX_REDIRECTS):
            host = addresses.host_of(url)
            if addresses.scheme_of(url) != "http":
                raise Unreachable(_unserved(addresses.scheme_of(url), host in self.internet.hosts))
            try:
                response = self.internet.fetch(HttpRequest(method, url, form, dict(self.cookies.get(host, {}))))
            except ConnectionReset:
                tab.requests.append(f"[{method}] {url} => [FAILED] net::ERR_CONNECTION_RESET")
                raise Unreachable("ERR_CONNECTION_RESET") from None
            if response is None:
                tab.requests.append(f"[{method}] {url} => [FAILED] net::ERR_NAME_NOT_RESOLVED")
                raise Unreachable("ERR_NAME_NOT_RESOLVED")
            self._keep_cookies(host, response.cookies)
            reason = _reason(response.status)
            tab.requests.append(f"[{method}] {url} => [{response.status}] {reason}")
            if response.location is None:
                break
            fragment = entry.url.partition("#")[2]
            target = addresses.resolved(url, response.location)
            if response.status not in (307, 308):
                method, form = "GET", ()
            url = addresses.request_url(target)
            address = target if "#" in target or not fragment else f"{target}#{fragment}"
            entry = tab.entries[tab.place] = replace(entry, url=address, method=method, form=form)
        else:
            raise Unreachable("ERR_TOO_MANY_REDIRECTS")
        if response.status >= 400:
            tab.console.append(console_error(response.status, url))
        show(tab, response.body, entry.url, response.status, response.source)
        tab.refreshes = response.refresh or tab.page.document.refreshes

    def _keep_cookies(self, host: str, cookies: Mapping[str, str]) -> None:
        if not cookies:
            return
        kept = self.cookies.setdefault(host, {})
        for name, value in cookies.items():
            if value:
                kept[name] = value
            else:
                kept.pop(name, None)


def blank_tab() -> Tab:
    """Return an empty tab."""
    return Tab(Page(Document.parse("")))


def show(tab: Tab, body: str, url: str, status: int, source: PageSource | None = None, failed: str = "") -> None:
    """Show a page that was just loaded."""
    tab.page = loaded(body)
    tab.url, tab.status, tab.refreshes, tab.modal = url, status, False, None
    tab.source, tab.failed = source, failed


def loaded(body: str) -> Page:
    """Return the page of an HTML text as it is when it has just been loaded."""
    page = Page(Document.parse(body))
    open_at_load(page)
    return page


def console_error(status: int, url: str) -> str:
    """Return what the console says of a page that could not be found, or that failed."""
    return (
        f"[ERROR] Failed to load resource: the server responded with a status of {status} ({_reason(status)}) @ {url}:0"
    )


def open_at_load(page: Page) -> None:
    """Show the dialogs that a page opens by itself, and put the focus where the page wants it."""
    for node in page.nodes:
        if "autofocus" in node.attrs and page.focus is None and focusable(page, node):
            page.focus = node.index
    for node in page.nodes:
        if node.tag == "dialog" and "data-modal" in node.attrs and "open" not in node.attrs:
            show_modal(page, node)


def _unserved(scheme: str, known: bool) -> str:
    """Return the error of a URL with another scheme than http, the only one that the sites answer."""
    if scheme != "https":
        return "ERR_UNKNOWN_URL_SCHEME" if scheme else "ERR_INVALID_REDIRECT"
    return "ERR_SSL_PROTOCOL_ERROR" if known else "ERR_NAME_NOT_RESOLVED"


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


_CAUSES = {
    "ERR_NAME_NOT_RESOLVED": (
        "<strong>{host}</strong>’s server IP address could not be found.",
        "Checking the proxy, firewall, and DNS configuration",
    ),
    "ERR_CONNECTION_RESET": ("The connection was reset.", "Checking the proxy and the firewall"),
    "ERR_TOO_MANY_REDIRECTS": ("<strong>{host}</strong> redirected you too many times.", ""),
    "ERR_SSL_PROTOCOL_ERROR": ("<strong>{host}</strong> sent an invalid response.", ""),
}


def unreachable(code: str, host: str) -> str:
    """Return the page for a site that cannot be reached."""
    name = escape(host)
    cause, advice = _CAUSES.get(code, ("The webpage might be temporarily down.", ""))
    tries = (
        f'<div><p>Try:</p><ul><li>Checking the connection</li><li><a href="#buttons">{advice}</a></li></ul></div>'
        if advice
        else ""
    )
    is_insecure = code == "ERR_SSL_PROTOCOL_ERROR"
    heading = "This site can’t provide a secure connection" if is_insecure else "This site can’t be reached"
    details = "" if is_insecure else "<button type=button>Details</button>"
    return (
        f"<title>{name}</title><body tabindex=-1><div><div><div><div><div><h1>{heading}</h1>"
        f"<p>{cause.format(host=name)}</p>{tries}<div>{code}</div></div></div></div>"
        f"<div><div><button data-reload>Reload</button></div>{details}</div></div></div>"
    )


def resubmission(host: str) -> str:
    """Return the page for a form that would have to be sent again."""
    return (
        f"<title>{escape(host)}</title><body tabindex=-1><div><div><div><div><div><h1>Confirm Form Resubmission</h1>"
        "<p>This webpage requires data that you entered earlier in order to be properly displayed. You can send this "
        "data again, but by doing so you will repeat any action this page previously performed.</p><div><p></p><ul><li>"
        "Press the reload button to resubmit the data needed to load the page.</li></ul></div><div>ERR_CACHE_MISS</div>"
        "</div></div></div></div></div>"
    )
