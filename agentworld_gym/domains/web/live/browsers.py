"""The browsers of one live site: each is shared by a bounded number of sessions, and ends with the last of them."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentworld_gym.core.engines import EngineError, SystemLost
from agentworld_gym.domains.web.engine.chromium.driver import Driver
from agentworld_gym.kit.live import LiveLimits
from agentworld_gym.kit.live.process_watch import Watched, process_watch

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

ARGUMENTS = (
    # The gates look names up; nothing leaves the machine beside them.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # The same in a headless shell.
    "--disable-quic",
)
"""The arguments of the command line."""


class LiveBrowser:
    """One Chromium, and how many sessions are in it.

    Args:
        browser: The Chromium.
        pid: The number of its process.
        watched: How it is watched.
    """

    def __init__(self, browser: Browser, pid: int, watched: Watched) -> None:
        self.browser, self.pid, self.watched = browser, pid, watched
        self.members = 0

    @property
    def alive(self) -> bool:
        """Whether it runs. Where what drives it was ended, nobody tells that it ended as well."""
        if not self.browser.is_connected():
            return False
        try:
            os.kill(self.pid, 0)
        except OSError:
            return False
        return True

    @property
    def why(self) -> str:
        """Why it ended."""
        return self.watched.broken or "its process is gone"


class LiveBrowsers:
    """Starts browsers as sessions need them.

    Args:
        limits: What one session may take.
        most: How many sessions share a browser.

    Raises:
        EngineError: Chromium or Playwright is missing, or Playwright does not start.
    """

    def __init__(self, limits: LiveLimits, most: int) -> None:
        self.driver = Driver()
        self._limits, self._most = limits, most
        self._all: list[LiveBrowser] = []
        self._changing = asyncio.Lock()
        self.broken = False
        """Whether no browser starts any more, as where what drives them has ended."""

    async def join(self, **options: Any) -> tuple[LiveBrowser, BrowserContext]:
        """Return a browser with room, and a new context in it.

        Args:
            options: The options of the context.

        Raises:
            EngineError: No browser starts.
        """
        async with self._changing:
            self._all = [one for one in self._all if one.alive or one.members]
            found = next((one for one in self._all if one.alive and one.members < self._most), None)
            if found is None:
                found = await self._start()
                self._all.append(found)
            found.members += 1
        try:
            return found, await found.browser.new_context(**options)
        except BaseException as error:
            await self.leave(found)
            if isinstance(error, Exception):
                raise SystemLost(f"the browser opens no context: {str(error).splitlines()[0]}") from error
            raise

    async def _start(self) -> LiveBrowser:
        heap = f"--js-flags=--max-old-space-size={self._limits.memory_mb}"
        try:
            browser = await self.driver.launch(*ARGUMENTS, heap)
            line = await browser.new_browser_cdp_session()
            told = await line.send("SystemInfo.getProcessInfo")
            await line.detach()
        except Exception as error:
            self.broken = True
            raise SystemLost(f"the browser does not start: {str(error).splitlines()[0]}") from error
        pid = next(int(one["id"]) for one in told["processInfo"] if one["type"] == "browser")
        bounds = {"memory_mb": self._limits.memory_mb * self._most, "processes": self._limits.processes * self._most}
        return LiveBrowser(browser, pid, process_watch().add(pid, self._limits.model_copy(update=bounds)))

    async def leave(self, one: LiveBrowser) -> None:
        """Count one session less in a browser. The last one ends it, unless it is the only browser."""
        async with self._changing:
            one.members -= 1
            others = [other for other in self._all if other is not one and other.alive]
            if one.members or (one.alive and not others):
                return
            self._all = [other for other in self._all if other is not one]
        await self._end(one)

    async def _end(self, one: LiveBrowser) -> None:
        process_watch().remove(one.watched)
        with suppress(Exception):
            await asyncio.wait_for(one.browser.close(), 10.0)

    def close(self) -> None:
        """End all browsers, and what drives them; a second call does nothing."""
        with suppress(EngineError):
            self.driver.run(self._close(), 30.0)
        self.driver.close()

    async def _close(self) -> None:
        browsers, self._all = self._all, []
        await asyncio.gather(*map(self._end, browsers))
