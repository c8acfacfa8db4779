"""The tabs of one session in a real browser, and the tools over them."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Awaitable, Mapping
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from agentworld_gym.engines import Controls, Scalar
from agentworld_gym.engines.controls import suspended
from agentworld_gym.engines.web.browser.browser import MAX_TABS, Refusal
from agentworld_gym.engines.web.chromium import browsergym_calls, playwright_tools
from agentworld_gym.engines.web.chromium.session_server import SESSION
from agentworld_gym.engines.web.sites import Sites
from agentworld_gym.engines.web.tools.result import CHOOSER_LINE, Report, dialog_line, event_line, page_lines, tab_lines

if TYPE_CHECKING:
    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        ConsoleMessage,
        Dialog,
        FileChooser,
        Page,
        Request,
        Response,
    )

    from agentworld_gym.engines.web.chromium.driver import Driver

SETTLE_S = 0.15
"""How long to wait whether an action leads to another page."""

_PREFIX = re.compile(r"\[ref=(f\d+)?(e\d+)\]")
_NUMBERS = itertools.count(1)
_FIELDS = """() => [...document.querySelectorAll('input, select, textarea')].map((field, place) => [
    `${field.tagName.toLowerCase()}${place}:${field.id || field.name}`,
    ['checkbox', 'radio'].includes(field.type) ? field.checked : field.value])"""


class RealTab:
    """One tab, and what waits to be handled on it.

    From a tab's second document on, Playwright puts `f1`, `f2`, … before its references. An agent sees them without, as
    they stand in the recordings that were published; `prefix` is what the last snapshot had, `known` the references in
    it. `line` leads to the browser beside the page, once a script was run there.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dialog: Dialog | None = None
        self.chooser: FileChooser | None = None
        self.modal = asyncio.Event()
        self.navigations = 0
        self.console: list[str] = []
        self.reported = 0
        self.requests: list[str] = []
        self.prefix = ""
        self.known: frozenset[str] = frozenset()
        self.line: CDPSession | None = None
        page.on("dialog", self._on_dialog)
        page.on("filechooser", self._on_chooser)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_failure)
        page.on("console", self._on_console)

    @property
    def is_open(self) -> bool:
        """Whether a dialog or a file chooser waits."""
        return self.dialog is not None or self.chooser is not None

    def _on_dialog(self, dialog: Dialog) -> None:
        self.dialog = dialog
        self.modal.set()

    def _on_chooser(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.modal.set()

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self.navigations += 1
            if request.redirected_from is None:
                self.console.clear()
                self.requests.clear()
                self.reported = 0

    def _on_response(self, response: Response) -> None:
        asked = response.request
        if asked.is_navigation_request():
            self.requests.append(f"[{asked.method}] {asked.url} => [{response.status}] {response.status_text}")

    def _on_failure(self, request: Request) -> None:
        if request.is_navigation_request():
            self.requests.append(f"[{request.method}] {request.url} => [FAILED] {request.failure}")

    def _on_console(self, message: ConsoleMessage) -> None:
        place = message.location
        if message.type not in ("error", "warning", "info", "log") or not place["url"]:
            return  # what the browser notes for developers, or says of Playwright's own scripts
        self.console.append(f"[{message.type.upper()}] {message.text} @ {place['url']}:{place['lineNumber']}")

    def modal_lines(self) -> list[str]:
        """What waits, as it is told."""
        if self.chooser is not None:
            return [CHOOSER_LINE]
        return [] if self.dialog is None else [dialog_line(self.dialog.type, self.dialog.message)]

    async def guarded(self, work: Awaitable[Any]) -> None:
        """Do something until it is done or a dialog opens, and then wait for the page that it leads to."""
        before = self.navigations
        task = asyncio.ensure_future(work)
        waiting = asyncio.ensure_future(self.modal.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            waiting.cancel()
            task.result()
        else:
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await self.settled(before)

    async def settled(self, before: int) -> None:
        """Wait for a page to be loaded, if one has been asked for."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.modal.wait(), SETTLE_S)
        while not self.is_open and self.navigations > before:
            before = self.navigations
            try:
                await self.page.wait_for_load_state("load", timeout=5000)
            except Exception:
                return
            await asyncio.sleep(SETTLE_S / 2)

    async def failed(self) -> None:
        """Wait for the browser's own page about an address that cannot be reached."""
        for _ in range(40):
            if self.page.url.startswith("chrome-error:"):
                break
            await asyncio.sleep(0.05)
        with suppress(Exception):
            await self.page.wait_for_load_state("load", timeout=2000)
        await asyncio.sleep(SETTLE_S)

    async def refreshed(self) -> None:
        """Wait for a page that is about to load itself again."""
        if self.is_open:
            return
        before = self.navigations
        try:
            waits = await self.page.evaluate("() => !!document.querySelector('meta[http-equiv=refresh]')")
        except Exception:  # the page has gone on in this moment
            await self.settled(before - 1)
            return
        if waits:
            for _ in range(60):
                await asyncio.sleep(0.05)
                if self.navigations > before:
                    await self.settled(before)
                    return


class RealBrowser:
    """One session: a context with its tabs."""

    def __init__(self, driver: Driver, session: str, context: BrowserContext, controls: Controls) -> None:
        self.driver, self.session, self.context, self.controls = driver, session, context, controls
        self.tabs: list[RealTab] = []
        self.current = 0
        self.first = ""
        self._calls = 0
        self._redrawn = False

    @classmethod
    async def open(cls, driver: Driver, internet: Sites, url: str, controls: Controls) -> RealBrowser:
        """A context of the shared browser with one tab, which shows an address."""
        session = str(next(_NUMBERS))
        driver.server.internets[session] = internet
        chromium = await driver.browser_for(internet.hosts)
        context = await chromium.new_context(
            viewport={"width": 1280, "height": 720}, extra_http_headers={SESSION: session}, locale="en-US"
        )
        browser = cls(driver, session, context, controls)
        await context.add_cookies(
            [
                {"name": name, "value": value, "url": f"http://{host}/"}
                for host, cookies in internet.cookies.items()
                for name, value in cookies.items()
            ]
        )
        context.on("page", browser.added)
        await context.new_page()
        report = Report()
        try:
            await browser.tab.page.goto(url)
        except Exception:
            await browser.tab.failed()
        await browser.show(report)
        browser.first = report.text()
        return browser

    @property
    def tab(self) -> RealTab:
        """The tab that is shown."""
        return self.tabs[self.current]

    async def opened(self, count: int) -> None:
        """Wait for a tab that a link opens, until there are that many."""
        for _ in range(60):
            if len(self.tabs) >= count:
                with suppress(Exception):
                    await self.tabs[-1].page.wait_for_load_state("load", timeout=5000)
                return
            await asyncio.sleep(0.05)

    def added(self, page: Page) -> None:
        """Note a tab that was opened."""
        if len(self.tabs) < MAX_TABS:
            self.tabs.append(RealTab(page))

    async def act(self, action: Any, calm: bool = False) -> str:
        """Answer one call; no control strikes on a `calm` one."""
        self._calls += 1
        name = action.get("name") if isinstance(action, dict) else None
        arguments = action.get("arguments", {}) if isinstance(action, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return Report(errors=["Error: a tool call needs a 'name' and an object of 'arguments'"]).text()
        calm_sessions = self.driver.server.calm
        (calm_sessions.add if calm else calm_sessions.discard)(self.session)
        call = playwright_tools.RealCall(self, arguments)
        try:
            if name not in playwright_tools.WAITING:
                await self.tab.refreshed()
            with suspended() if calm else nullcontext():
                await self._redraw(arguments)
            await browsergym_calls.called(call, name)
        except Refusal as refusal:
            return Report(errors=[str(refusal)], modal=self.tab.modal_lines()).text()
        except Exception as error:  # whatever Playwright says is what the tool answers
            return Report(errors=[playwright_tools.said(error)]).text()
        if call.shows_page:
            await self._show_patiently(call.report)
        return call.report.text()

    async def _show_patiently(self, report: Report) -> None:
        """Show the page; once more where it goes on to another one in this very moment."""
        try:
            await self.show(report)
        except Exception:
            await self.tab.settled(self.tab.navigations - 1)
            await self.show(report)

    async def show(self, report: Report) -> None:
        """Add to a report what the browser shows."""
        tab = self.tab
        if len(self.tabs) > 1 and not report.results:
            report.tabs = tab_lines(await self.headers(), self.current)
        report.modal = tab.modal_lines()
        title = "" if tab.is_open else await tab.page.title()
        report.page = page_lines(title, tab.page.url)
        if not tab.is_open:
            text = await tab.page.aria_snapshot(mode="ai")
            first = _PREFIX.search(text)
            tab.prefix = (first[1] or "") if first else ""
            report.snapshot = _PREFIX.sub(r"[ref=\2]", text)
            tab.known = frozenset(match[2] for match in _PREFIX.finditer(text))
        report.events = [event_line(message) for message in tab.console[tab.reported :]]
        tab.reported = len(tab.console)

    async def headers(self) -> list[tuple[str, str]]:
        """The title and the address of each tab."""
        return [("" if tab.is_open else await tab.page.title(), tab.page.url) for tab in self.tabs]

    async def fields(self) -> dict[str, Scalar]:
        """What actions can change in the browser, as flat fields."""
        found: dict[str, Scalar] = {"browser/tab": self.current}
        for place, tab in enumerate(self.tabs):
            found[f"tab/{place}/url"] = tab.page.url
            if not tab.is_open:
                found[f"tab/{place}/title"] = await tab.page.title()
                found |= {f"tab/{place}/field/{name}": value for name, value in await tab.page.evaluate(_FIELDS)}
        for cookie in await self.context.cookies():
            found[f"cookie/{cookie.get('domain')}/{cookie.get('name')}"] = cookie.get("value")
        return found

    async def screenshot(self) -> bytes:
        """A picture of the page, as PNG."""
        return await self.tab.page.screenshot()

    async def close(self) -> None:
        """Close the context."""
        self.driver.server.internets.pop(self.session, None)
        self.driver.server.log.pop(self.session, None)
        for tab in self.tabs:
            if tab.dialog is not None:
                await tab.dialog.dismiss()
        await self.context.close()

    async def _redraw(self, arguments: Mapping[str, Any]) -> None:
        """Draw the page anew where the control says so: the references that the agent knows are gone."""
        if not any(name in arguments for name in (*playwright_tools.REFERENCES, "fields")):
            return
        if self._redrawn:
            self._redrawn = False
        elif self.controls.strikes("stale-element", self._calls, self.tab.page.url):
            await self.tab.page.evaluate("() => document.body.replaceWith(document.body.cloneNode(true))")
            self.tab.known = frozenset()
            self._redrawn = True
