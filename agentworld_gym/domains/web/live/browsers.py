"""The browsers of one live site: each is shared by a bounded number of sessions; one that nobody uses is kept."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from agentworld_gym.core.engines import SystemLost
from agentworld_gym.domains.web.engine.chromium.driver import Driver
from agentworld_gym.kit.live import LiveLimits
from agentworld_gym.kit.live.process_watch import Watched, parent_of, process_watch

if TYPE_CHECKING:
    from playwright.async_api import Browser

ARGUMENTS = (
    # The gates look names up; nothing leaves the machine beside them.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # The same in a headless shell.
    "--disable-quic",
)
"""The arguments of the command line."""


class LiveBrowser:
    """One Chromium with the process of Playwright that drives it, and how many sessions are in it.

    Whoever ends either ends both, and no other browser.

    Args:
        driver: What drives it.
        browser: The Chromium.
        pid: The number of its process.
        watched: How it is watched.
    """

    def __init__(self, driver: Driver, browser: Browser, pid: int, watched: Watched) -> None:
        self.driver, self.browser, self.watched = driver, browser, watched
        self._pid, self._parent = pid, parent_of(pid)
        self.root = pid
        """The number of the process that this one started, which is that of Playwright."""
        while (parent := parent_of(self.root)) not in (None, 0, 1, os.getpid()):
            self.root = parent
        self.members = 0

    @property
    def alive(self) -> bool:
        """Whether it runs. Where what drives it was ended, nobody tells, but it has lost its parent."""
        if not self.browser.is_connected():
            return False
        try:
            os.kill(self._pid, 0)
        except OSError:
            return False
        return parent_of(self._pid) == self._parent

    @property
    def why(self) -> str:
        """Why it ended."""
        return self.watched.broken or "its process, or that of Playwright, is gone"

    def close(self) -> None:
        """End it, and what drives it."""
        process_watch().remove(self.watched)
        self.driver.close()


class LiveBrowsers:
    """Starts browsers as sessions need them.

    Args:
        limits: What one session may take.
        most: How many sessions share a browser.
    """

    def __init__(self, limits: LiveLimits, most: int) -> None:
        self._limits, self._most = limits, most
        self._all: list[LiveBrowser] = []
        self._changing = threading.Lock()

    def join(self) -> LiveBrowser:
        """Return a browser with room, in which there is one session more.

        Raises:
            SystemLost: No browser starts.
        """
        with self._changing:
            self._all = [one for one in self._all if one.alive or one.members]
            found = next((one for one in self._all if one.alive and one.members < self._most), None)
            if found is None:
                found = self._start()
                self._all.append(found)
            found.members += 1
            return found

    def _start(self) -> LiveBrowser:
        driver = None
        try:
            driver = Driver()
            browser, pid = driver.run(self._launched(driver), self._limits.start_seconds)
        except Exception as error:
            if driver is not None:
                driver.close()
            raise SystemLost(f"the browser does not start: {str(error).partition(chr(10))[0]}") from error
        bounds = {"memory_mb": self._limits.memory_mb * self._most, "processes": self._limits.processes * self._most}
        return LiveBrowser(driver, browser, pid, process_watch().add(pid, self._limits.model_copy(update=bounds)))

    async def _launched(self, driver: Driver) -> tuple[Browser, int]:
        browser = await driver.launch(*ARGUMENTS, f"--js-flags=--max-old-space-size={self._limits.memory_mb}")
        line = await browser.new_browser_cdp_session()
        told = await line.send("SystemInfo.getProcessInfo")
        await line.detach()
        return browser, next(int(one["id"]) for one in told["processInfo"] if one["type"] == "browser")

    def leave(self, one: LiveBrowser) -> None:
        """Count one session less in a browser. The last one ends it, unless no other is empty: episodes that begin
        while those before them end need room in a second browser, which would start again each time.
        """
        with self._changing:
            one.members -= 1
            spare = any(other.alive and not other.members for other in self._all if other is not one)
            if one.members or (one.alive and not spare):
                return
            self._all = [other for other in self._all if other is not one]
        one.close()

    def close(self) -> None:
        """End all browsers, and what drives them; a second call does nothing."""
        with self._changing:
            browsers, self._all = self._all, []
        for one in browsers:
            one.close()
