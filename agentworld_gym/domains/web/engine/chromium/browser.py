"""The Chromium of one session: a browser context with its tabs."""

from __future__ import annotations

import asyncio
import itertools
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from agentworld_gym.core.engines import NO_CONTROLS, Controls, Scalar
from agentworld_gym.domains.web.engine.browser.browser import MAX_TABS
from agentworld_gym.domains.web.engine.chromium.session_server import SESSION
from agentworld_gym.domains.web.engine.chromium.tab import SETTLE_S, ChromiumTab
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.tools.result import (
    ToolResult,
    event_line,
    page_lines,
    tab_lines,
)

if TYPE_CHECKING:
    from playwright.async_api import (
        BrowserContext,
        Page,
    )

    from agentworld_gym.domains.web.engine.chromium.driver import Driver

_PREFIX = re.compile(r"\[ref=(f\d+)?(e\d+)\]")
_NUMBERS = itertools.count(1)
_FIELDS = """() => [...document.querySelectorAll('input, select, textarea')].map((field, place) => [
    `${field.tagName.toLowerCase()}${place}:${field.id || field.name}`,
    ['checkbox', 'radio'].includes(field.type) ? field.checked : field.value])"""


class ChromiumBrowser:
    """A browser context with its tabs, and the controls that strike in it."""

    def __init__(
        self,
        driver: Driver,
        session: str,
        context: BrowserContext,
        controls: Controls = NO_CONTROLS,
        settle_s: float = SETTLE_S,
    ) -> None:
        self.driver, self.session, self.context, self.controls = driver, session, context, controls
        self.settle_s = settle_s
        self.tabs: list[ChromiumTab] = []
        self.current = 0
        self.first = ""
        self.seen: str | None = None
        """The snapshot that was taken last; who wants to know whether there is a new one sets it to None."""
        self.calls = 0
        self.is_redrawn = False

    @classmethod
    async def open(cls, driver: Driver, internet: Sites, url: str, controls: Controls) -> ChromiumBrowser:
        """Open a context of the shared Chromium with one tab that shows a URL."""
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
        result = ToolResult()
        await browser.begin(url)
        await browser.show(result)
        browser.first = result.text()
        return browser

    async def begin(self, url: str, seconds: float | None = None) -> None:
        """Open the first tab, with a URL; one that cannot be reached shows the browser's own page about that.

        Args:
            url: The URL.
            seconds: How long the page may load before it is taken as it is; None leaves that to Playwright.
        """
        self.context.on("page", self.add_tab)
        await self.context.new_page()
        try:
            await self.tab.page.goto(url, timeout=None if seconds is None else 1000 * seconds)
        except Exception:
            await self.tab.wait_for_error_page()

    @property
    def tab(self) -> ChromiumTab:
        """The current tab."""
        return self.tabs[self.current]

    async def wait_for_tabs(self, count: int) -> None:
        """Wait until a link has opened a tab, so that there are `count` of them."""
        for _ in range(60):
            if len(self.tabs) >= count:
                with suppress(Exception):
                    await self.tabs[-1].page.wait_for_load_state("load", timeout=5000)
                return
            await asyncio.sleep(0.05)

    def add_tab(self, page: Page) -> None:
        """Add a tab that was opened."""
        if len(self.tabs) < MAX_TABS:
            self.tabs.append(ChromiumTab(page, self.settle_s))
            page.on("close", self._drop_tab)

    def _drop_tab(self, page: Page) -> None:
        """Forget a tab that a script has closed; that which opened it is shown again."""
        index = next((place for place, tab in enumerate(self.tabs) if tab.page is page), None)
        if index is not None:
            del self.tabs[index]
            self.current = max(0, min(self.current - (self.current >= index), len(self.tabs) - 1))

    async def show(self, result: ToolResult, whole: bool = True) -> None:
        """Add to a result what the browser shows: tabs, page and snapshot only if `whole` is true."""
        tab = self.tab
        result.modal = tab.modal_lines()
        if whole:
            if len(self.tabs) > 1 and not result.results:
                result.tabs = tab_lines(await self.headers(), self.current)
            title = "" if tab.is_open else await tab.page.title()
            result.page = page_lines(title, tab.page.url, tab.console)
            if not tab.is_open:
                result.snapshot = await self.look()
        result.events = [event_line(message) for message in tab.console[tab.reported :]]
        tab.reported = len(tab.console)

    async def have_tab(self) -> None:
        """Open an empty tab where a script has closed the last one."""
        if not self.tabs:
            await self.context.new_page()
            self.current = 0

    async def look(self) -> str:
        """Return the snapshot of the page, whose references can be used from then on."""
        tab = self.tab
        text = await tab.page.aria_snapshot(mode="ai")
        first = _PREFIX.search(text)
        tab.prefix = (first[1] or "") if first else ""
        known = set()

        def shown(match: re.Match[str]) -> str:
            ref = match[2] if (match[1] or "") == tab.prefix else f"{match[1] or ''}{match[2]}"
            known.add(ref)
            return f"[ref={ref}]"

        self.seen = _PREFIX.sub(shown, text)
        tab.known = frozenset(known)
        return self.seen

    async def headers(self) -> list[tuple[str, str]]:
        """Return the title and the URL of each tab."""
        return [("" if tab.is_open else await tab.page.title(), tab.page.url) for tab in self.tabs]

    async def fields(self) -> dict[str, Scalar]:
        """Return everything that actions can change in the browser, as flat fields."""
        fields: dict[str, Scalar] = {"browser/tab": self.current}
        for place, tab in enumerate(self.tabs):
            fields[f"tab/{place}/url"] = tab.page.url
            if not tab.is_open:
                fields[f"tab/{place}/title"] = await tab.page.title()
                fields |= {f"tab/{place}/field/{name}": value for name, value in await tab.page.evaluate(_FIELDS)}
        for cookie in await self.context.cookies():
            fields[f"cookie/{cookie.get('domain')}/{cookie.get('name')}"] = cookie.get("value")
        return fields

    async def screenshot(self) -> bytes:
        """Return a picture of the page as PNG."""
        return await self.tab.page.screenshot()

    async def close(self) -> None:
        """Close the context."""
        self.driver.server.internets.pop(self.session, None)
        self.driver.server.log.pop(self.session, None)
        for tab in self.tabs:
            if tab.dialog is not None:
                await tab.dialog.dismiss()
        await self.context.close()
