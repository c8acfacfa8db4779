"""Playwright and its browsers, driven from a thread; sessions that visit the same hosts share a browser."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from agentworld_gym.base.errors import install
from agentworld_gym.core.engines import EngineError, SystemLate
from agentworld_gym.domains.web.engine.chromium.session_server import SessionServer

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
VARIABLE = "AGENTWORLD_CHROMIUM"
LIMIT_S = 90.0
"""How long anything may take, in seconds: longer than any tool waits."""
ADVICE = (
    f"install Chromium (on Debian: apt-get install chromium) or set {VARIABLE} to its executable, "
    f"and install Playwright: {install('browser')}"
)


def find_chromium() -> str:
    """Return the path of Chromium: the variable `AGENTWORLD_CHROMIUM`, or else the first one on the search path.

    Raises:
        EngineError: There is none. The error says what to install.
    """
    variable = os.environ.get(VARIABLE)
    path = shutil.which(variable) if variable else next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = (
            f"{VARIABLE}={variable!r} is no executable" if variable else f"none of {', '.join(NAMES)} is on the path"
        )
        raise EngineError(f"{missing}; {ADVICE}")
    return path


def _unheard(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
    """Take down what nobody waits for, as an error of Playwright's process: whoever acts is told of it as well."""
    logger.debug("Playwright: %s", told.get("message"), exc_info=told.get("exception"))


async def _end_all_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # What they closed tells so a turn later.


@lru_cache(maxsize=8)
def _version(executable: str) -> str:
    process = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=30, check=False)
    words = process.stdout.split()
    return next((word for word in words if word[:1].isdigit()), "unknown")


def chromium_version() -> str:
    """Return the version of the installed Chromium.

    Raises:
        EngineError: There is none.
    """
    return _version(find_chromium())


class Driver:
    """A thread whose event loop runs Playwright, the browsers and the HTTP server of the sites.

    Raises:
        EngineError: Chromium or Playwright is missing, or Playwright does not start.
    """

    def __init__(self) -> None:
        executable = find_chromium()
        try:
            from playwright.async_api import async_playwright
        except ImportError as error:
            raise EngineError(f"Playwright is not installed; {ADVICE}") from error
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(_unheard)
        self.server = SessionServer()
        self._executable = executable
        self._browsers: dict[frozenset[str], Browser] = {}
        self._launching = asyncio.Lock()
        self._playwright: Playwright
        self._start = async_playwright
        self._closed = False
        self._port: int | None = None
        self._thread = threading.Thread(target=self._serve, name="agentworld-chromium", daemon=True)
        self._thread.start()
        try:
            self.run(self._begin())
        except Exception as error:
            self.close()
            raise EngineError(f"Playwright does not start: {str(error).splitlines()[0]}; {ADVICE}") from error
        atexit.register(self.close)

    def _serve(self) -> None:
        self.loop.run_forever()
        # What is left of a Playwright that was killed ends here, and not when Python finds it.
        self.loop.run_until_complete(_end_all_others())
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, Result], seconds: float = LIMIT_S) -> Result:
        """Run a coroutine in the thread, and wait for its result.

        Args:
            work: The coroutine.
            seconds: How long it may take.

        Raises:
            EngineError: The driver is closed.
            SystemLate: The browser does not answer, since a script keeps its page busy.
        """
        if self._closed:
            work.close()
            raise EngineError("the browser was used after it was closed")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(seconds)
        except BaseException as error:
            if isinstance(error, TimeoutError) and not future.done():
                future.cancel()
                raise SystemLate(f"the browser does not answer within {seconds:g} seconds") from None
            future.cancel()
            raise

    def close(self) -> None:
        """Close the browsers and end the thread. It may be called twice."""
        if self._closed:
            return
        atexit.unregister(self.close)
        with suppress(Exception):  # Whatever the browser does, the process has to go on.
            asyncio.run_coroutine_threadsafe(self._shut(), self.loop).result(timeout=10)
        self._closed = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)

    async def browser_for(self, hosts: Iterable[str]) -> Browser:
        """Return a browser that resolves these hosts and no others; a crashed one is started again."""
        key = frozenset(hosts)
        async with self._launching:
            browser = self._browsers.get(key)
            if browser is None or not browser.is_connected():
                browser = self._browsers[key] = await self._launch(sorted(key))
        return browser

    async def _begin(self) -> None:
        self._playwright = await self._start().start()

    async def _launch(self, hosts: list[str]) -> Browser:
        if self._port is None:
            self._port = await self.server.start()
        server = f"127.0.0.1:{self._port}"
        rules = ", ".join(f"MAP {host}:{port} {server}" for host in hosts for port in (80, 443))
        return await self.launch(f"--host-resolver-rules={rules}, MAP * ~NOTFOUND")

    async def launch(self, *arguments: str) -> Browser:
        """Start a browser with some arguments of the command line."""
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        return await self._playwright.chromium.launch(
            executable_path=self._executable,
            args=[*arguments, *(["--no-sandbox"] if is_root else [])],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _shut(self) -> None:
        self.server.close()
        for browser in self._browsers.values():
            await browser.close()
        if hasattr(self, "_playwright"):
            await self._playwright.stop()


@lru_cache(maxsize=1)
def driver() -> Driver:
    """Return the driver that all sessions share.

    Raises:
        EngineError: Chromium or Playwright is missing, or Playwright does not start.
    """
    return Driver()
