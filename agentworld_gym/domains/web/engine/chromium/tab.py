"""One tab in Chromium, and the dialog or file chooser that is open on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.web.engine.tools.result import CHOOSER_LINE, dialog_line

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ConsoleMessage, Dialog, FileChooser, Frame, Page, Request, Response

SETTLE_S = 0.15
"""How long to wait for an action to lead to another page, in seconds."""


class ChromiumTab:
    """One tab, with its dialog or file chooser, its console and its requests.

    From the second document of a tab on, Playwright puts `f1`, `f2`, … before its references. An agent sees them
    without that prefix, as in published recordings, but for those of frames. `prefix` is that of the last snapshot, and
    `known` holds its references. `line` is a connection to the browser beside the page; it exists once a script was
    run. `leaving` is the request for the next document, until that document replaces this one.
    """

    def __init__(self, page: Page, settle_s: float = SETTLE_S) -> None:
        self.page, self._settle_s = page, settle_s
        self.dialog: Dialog | None = None
        self.chooser: FileChooser | None = None
        self.modal = asyncio.Event()
        self.crashed = False
        self.navigations = 0
        self.leaving: Request | None = None
        self.console: list[str] = []
        self.reported = 0
        self.requests: list[str] = []
        self.prefix = ""
        self.known: frozenset[str] = frozenset()
        self.line: CDPSession | None = None
        page.on("dialog", self._on_dialog)
        page.on("crash", self._on_crash)
        page.on("filechooser", self._on_chooser)
        page.on("request", self._on_request)
        page.on("framenavigated", self._on_document)
        page.on("response", self._on_response)
        page.on("requestfailed", self._on_failure)
        page.on("console", self._on_console)

    @property
    def is_open(self) -> bool:
        """Whether a dialog or a file chooser is open."""
        return self.dialog is not None or self.chooser is not None

    def _on_dialog(self, dialog: Dialog) -> None:
        self.dialog = dialog
        self.modal.set()

    def _on_crash(self, _: Page) -> None:
        self.crashed = True
        self.modal.set()

    def _on_chooser(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.modal.set()

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self.navigations += 1
            if request.frame.parent_frame is None:
                self.leaving = request
            if request.redirected_from is None:
                self.console.clear()
                self.requests.clear()
                self.reported = 0

    def _on_document(self, frame: Frame) -> None:
        if frame.parent_frame is None:
            self.leaving = None

    def _on_response(self, response: Response) -> None:
        asked = response.request
        if asked is self.leaving and response.status in (204, 205):  # These bring no document.
            self.leaving = None
        if asked.is_navigation_request():
            self.requests.append(f"[{asked.method}] {asked.url} => [{response.status}] {response.status_text}")

    def _on_failure(self, request: Request) -> None:
        if request is self.leaving:
            self.leaving = None
        if request.is_navigation_request():
            self.requests.append(f"[{request.method}] {request.url} => [FAILED] {request.failure}")

    def _on_console(self, message: ConsoleMessage) -> None:
        place = message.location
        if message.type not in ("error", "warning", "info", "log") or not place["url"]:
            return  # These are notes for developers, or about Playwright's own scripts.
        self.console.append(f"[{message.type.upper()}] {message.text} @ {place['url']}:{place['lineNumber']}")

    def modal_lines(self) -> list[str]:
        """Return the lines about an open dialog or file chooser."""
        if self.chooser is not None:
            return [CHOOSER_LINE]
        return [] if self.dialog is None else [dialog_line(self.dialog.type, self.dialog.message)]

    async def run_until_modal(self, work: Awaitable[Any]) -> None:
        """Run something until it ends or a dialog opens, and then wait for the page that it leads to."""
        before = self.navigations
        task = asyncio.ensure_future(work)
        waiting = asyncio.ensure_future(self.modal.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            waiting.cancel()
            task.result()
        else:
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await self.wait_for_load(before)

    async def wait_for_load(self, before: int) -> None:
        """Wait for a page to be loaded, if one was requested since `before`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.modal.wait(), self._settle_s)
        while not self.is_open and self.navigations > before:
            before = self.navigations
            for _ in range(250):
                if self.leaving is None or self.is_open:
                    break
                await asyncio.sleep(0.02)
            try:
                await self.page.wait_for_load_state("load", timeout=5000)
            except Exception:
                return
            await asyncio.sleep(self._settle_s / 2)

    async def wait_for_error_page(self) -> None:
        """Wait for the browser's own page about a URL that cannot be reached."""
        for _ in range(200):
            if self.page.url.startswith("chrome-error:"):
                break
            await asyncio.sleep(0.05)
        with suppress(Exception):
            await self.page.wait_for_load_state("load", timeout=2000)
        await asyncio.sleep(self._settle_s)

    async def wait_for_refresh(self) -> None:
        """Wait for a page that is about to reload itself."""
        if self.is_open:
            return
        before = self.navigations
        try:
            waits = await self.page.evaluate("() => !!document.querySelector('meta[http-equiv=refresh]')")
        except Exception:  # The page has been left in this moment.
            await self.wait_for_load(before - 1)
            return
        if waits:
            for _ in range(60):
                await asyncio.sleep(0.05)
                if self.navigations > before:
                    await self.wait_for_load(before)
                    return
