"""One browser context on a live site."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts.verdict import Verdict
from agentworld_gym.core.domain.splits import split_seed
from agentworld_gym.core.engines import EngineError, Inspection, SystemLate, SystemLost
from agentworld_gym.domains.web.engine.chromium.browser import ChromiumBrowser
from agentworld_gym.domains.web.engine.chromium.dispatch import act
from agentworld_gym.domains.web.engine.tools.result import ToolResult
from agentworld_gym.domains.web.live import bids, miniwob
from agentworld_gym.domains.web.live.browsers import LiveBrowser
from agentworld_gym.domains.web.live.config import RequestLine, SiteCommandReset, origin_of
from agentworld_gym.domains.web.live.elements import actions_on, named_actions
from agentworld_gym.domains.web.live.gate import Gate, Streams
from agentworld_gym.domains.web.live.requests import RequestAnswer, ask, read_request
from agentworld_gym.domains.web.live.server import LiveSiteServer
from agentworld_gym.domains.web.live.site import LiveSite
from agentworld_gym.domains.web.screen_texts import read
from agentworld_gym.kit.live import LiveAbout, LiveSession, LiveStart

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

Result = TypeVar("Result")

SCRIPTS = "browser_evaluate"
"""The tool that runs scripts, which a page that pays for steps could not stand."""

NO_SCRIPTS = f'### Error\nTool "{SCRIPTS}" not found'

CLOSE_SECONDS = 10.0
"""How long a context may take to close."""


class _State(Strict):
    """What a task states to its site."""

    open: RequestLine | None = None
    """The address that the browser opens, which counts from that of the site."""

    seed: int | None = None
    """The seed of the episode, where the page takes one; without it that follows the seed of the environment."""

    requests: tuple[RequestLine, ...] = ()
    """Requests that are sent before the browser opens the site; each has to succeed."""


class SiteSession(LiveSession):
    """A context that plays one episode.

    Args:
        site: The site.

    Raises:
        EngineError: No context can be opened.
    """

    def __init__(self, site: LiveSite) -> None:
        self._site, self._config = site, site.config
        self._server: LiveSiteServer | None = None
        self._gate: Gate | None = None
        self._home: LiveBrowser | None = None
        self._context: BrowserContext | None = None
        self._browser: ChromiumBrowser | None = None
        self._page: Page | None = None
        self._address = self._verified = ""
        self._closed = self._spent = False
        self._snapshot = self._text = ""
        try:
            if self._config.command is not None:
                assert site.confinement is not None
                self._server = LiveSiteServer(self._config, site.confinement)
                self._verified = self._verification()
            self._open()
        except BaseException:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Run something on the loop of the browser.

        Raises:
            SystemLate: It takes too long.
            SystemLost: The browser ended.
            EngineError: It fails.
        """
        if self._home is None:
            work.close()
            raise EngineError("the context is closed")
        try:
            return self._home.driver.run(work, seconds)
        except EngineError:
            self._check()
            raise
        except Exception as error:
            self._check()
            raise EngineError(f"the browser failed: {str(error).partition(chr(10))[0]}") from error

    def _open(self) -> None:
        """Open a context in a browser with room.

        Raises:
            SystemLost: No browser starts, or it opens no context.
            SystemLate: That takes too long.
        """
        self._home = self._site.browsers.join()
        try:
            self._run(self._opened(self._home.browser), self._config.limits.start_seconds)
        except SystemLate:
            raise
        except EngineError as error:
            raise SystemLost(f"the browser opens no context: {error}") from error

    async def _opened(self, browser: Browser) -> None:
        self._gate = await Gate(self._dial).open()
        self._context = await browser.new_context(
            proxy={"server": f"socks5://127.0.0.1:{self._gate.port}"},
            viewport={"width": 1280, "height": 720},
            locale="en-US",
            timezone_id="UTC",
            accept_downloads=False,
            service_workers="block",
        )

    async def _dial(self, host: str, port: int) -> Streams:
        try:
            return await self._site.dial(host, port, self._server)
        except EngineError as error:  # The server of the site ended, which the session finds by itself.
            raise ConnectionRefusedError(str(error)) from error

    def about(self) -> LiveAbout:
        """Return the versions of the browser, and the page that an episode begins with."""
        site = self._site
        told: dict[str, Any] = {"state": {"open": site.address}}
        if site.scripts is None:
            try:
                self._run(self._begun(site.address, None), self._config.limits.start_seconds)
                told["first_observation"] = self._text
                told["menu"] = () if site.offers else (*named_actions(read(self._text)), "finish")
            finally:
                self._spent = self._server is not None  # It was asked for a page, which it may remember.
                self._fresh()
        return LiveAbout(site.parts(), told)

    def _fresh(self) -> None:
        """Open another context in place of this one."""
        self._leave()
        self._open()

    def begin(self, start: LiveStart) -> str:
        """Reset the site, make the requests of a task, and open the page."""
        wanted = validated(_State, dict(start.state), "task state")
        if self._config.shared:
            self._site.playing = self
            self._reset_site()
        for number, line in enumerate(wanted.requests):
            answer = self._asked(line)
            if not answer.succeeded:
                expected = f"a request that succeeds; the site answers {answer.status} {answer.text[:300]!r}"
                raise SpecError("task state", f"requests.{number}", line, expected)
        seed = split_seed(start.split, start.seed) if wanted.seed is None else wanted.seed
        address = read_request(wanted.open, self._site.address).url if wanted.open else self._site.address
        self.verdict = None
        self._run(self._begun(address, seed), self._config.limits.start_seconds)
        if self._config.shared and self._config.verify is None:
            self._check_start(digest_of([address, wanted.requests, None if self._site.scripts is None else seed]))
        return self._text

    async def _begun(self, address: str, seed: int | None) -> None:
        """Open a page, and begin its episode."""
        assert self._context is not None and self._home is not None
        browser = ChromiumBrowser(self._home.driver, "", self._context, settle_s=self._config.settle_seconds)
        self._browser = browser
        scripts = self._site.scripts
        # A page that plays episodes has to be whole, so that one which loads too slowly is late.
        await browser.begin(address, None if scripts is None else 2 * self._config.limits.start_seconds)
        page = browser.tab.page
        self._page, self._address = page, page.url
        if page.url.startswith("chrome-error:"):
            raise SystemLost(f"{address} does not answer")
        if scripts is not None and seed is not None:
            if scripts.begin is not None:
                number = miniwob.page_seed(seed) if self._config.miniwob is not None else seed
                from playwright.async_api import Error

                try:
                    await page.evaluate(scripts.begin, number)
                except Error as error:  # As where a file of the page did not come, which another try mends.
                    why = str(error).partition("\n")[0]
                    raise SystemLost(f"{address} did not load, or its episode cannot begin: {why}") from error
            self.instruction = str(await page.evaluate(scripts.instruction)) if scripts.instruction else None
        result = ToolResult()
        await browser.show(result)
        self._text = result.text()
        await self._look()

    def act(self, action: Any) -> str:
        """Answer a call of a tool, or several."""
        if self._config.shared and self._site.playing is not self:
            raise SystemLost("another episode has reset this site since, which all of them share")
        self._run(self._act(action), self._config.limits.step_seconds)
        self._check()
        return self._text

    async def _act(self, action: Any) -> None:
        browser = self._browser
        if browser is None:
            raise EngineError("the episode has not begun")
        if self._site.scripts is not None and any(_names(one) == SCRIPTS for one in _calls(action)):
            self._text = NO_SCRIPTS
        else:
            browser.seen = None
            await browser.have_tab()
            self._text = await act(browser, action)
            await browser.have_tab()
        await self._look()
        if self._site.scripts is not None:
            self.verdict = await self._judged(self._site.scripts.verdict)

    async def _look(self) -> None:
        """Take in the page as it is, whatever of it the answer shows, so that its references are always the same."""
        browser = self._browser
        assert browser is not None
        if not browser.tab.is_open:
            if browser.seen is None:
                await self._again(browser.look)
            self._snapshot = browser.seen or ""
        else:
            self._snapshot = ""
        if self._site.offers:
            nodes = read(f"### Snapshot\n{self._snapshot}")
            self.offers = actions_on(nodes, self.instruction or "")

    async def _again(self, look: Callable[[], Awaitable[Result]]) -> Result:
        """Return what a look at the page gives; where that is just going on to another one, look again."""
        try:
            return await look()
        except Exception:
            browser = self._browser
            assert browser is not None
            await browser.tab.wait_for_load(browser.tab.navigations - 1)
            return await look()

    async def _judged(self, script: str) -> Verdict | None:
        """Return what the page says of the last action. Who leaves it has lost."""
        browser = self._browser
        assert browser is not None
        tab = browser.tab
        if tab.is_open:
            return Verdict()
        if tab.page is not self._page or tab.page.url != self._address:
            return Verdict(0.0, terminated=True, success=False)
        told = await self._again(partial(tab.page.evaluate, script))
        if tab.page.url != self._address:
            return Verdict(0.0, terminated=True, success=False)
        if not isinstance(told, Mapping):
            raise EngineError(f"the page's verdict is {told!r}, expected an object with a reward")
        reward, won = told.get("reward") or 0.0, told.get("success")
        if isinstance(reward, bool) or not isinstance(reward, int | float) or not isfinite(reward):
            raise EngineError(f"the page pays {reward!r}, expected a finite number")
        terminated, truncated = told.get("terminated") is True, told.get("truncated") is True
        return Verdict(float(reward), terminated, truncated, won if isinstance(won, bool) else None)

    def in_browsergym(self) -> str:
        """Return what the browser shows, in the form of BrowserGym."""
        browser = self._browser
        assert browser is not None
        tabs = self._run(browser.headers(), self._config.limits.step_seconds)
        return bids.observation(self._text, self._snapshot, tabs, browser.current)

    def screenshot(self) -> bytes:
        """Return a picture of the page as PNG.

        Raises:
            EngineError: The browser ended, or a dialog hides the page.
        """
        browser = self._browser
        if browser is None or browser.tab.is_open:
            raise EngineError("no page can be seen")
        return self._run(browser.screenshot(), self._config.limits.step_seconds)

    def inspect(self, command: str) -> Inspection:
        """Send the request of a check, with the cookies of the browser."""
        try:
            request = read_request(command, self._site.address)
        except ValueError as error:
            raise SpecError("task success", "run", command, str(error)) from error
        answer = self._asked(command, self._run(self._cookies(request.url), self._config.limits.step_seconds))
        return Inspection(answer.succeeded, answer.text)

    async def _cookies(self, url: str) -> str:
        if self._context is None:
            return ""
        cookies = await self._context.cookies(url)
        return "; ".join(f"{one.get('name')}={one.get('value')}" for one in cookies)

    def _asked(self, line: str, cookies: str = "") -> RequestAnswer:
        """Send a request to the site.

        Raises:
            SystemLost: It cannot be reached.
            SystemLate: It does not answer in time.
        """
        site, request = self._site, read_request(line, self._site.address)
        own = origin_of(request.url) == origin_of(site.address)
        served = self._server or site.pages
        connect = served.connect if served is not None and own else None
        return ask(request, self._config.limits.step_seconds, cookies, connect)

    def _reset_site(self) -> None:
        """Bring the site back to its start, and make sure that it is there.

        Raises:
            EngineError: It is not.
        """
        reset, site = self._config.reset, self._site
        assert reset is not None and not isinstance(reset, str)
        if isinstance(reset, SiteCommandReset):
            assert site.confinement is not None
            port = str(site.config.origin[1] if self._server is None else self._server.port)
            site.confinement.reset([word.replace("{port}", port) for word in reset.command], {"PORT": port})
        else:
            answer = self._asked(reset.request)
            if not answer.succeeded:
                told = f"{answer.status} {answer.text[:300]!r}"
                raise EngineError(f"the site cannot be reset: {reset.request} is answered by {told}")
        if reset.verify is not None:
            shown = self._verification()
            # The first reset of a shared site shows what the others have to.
            first = self._verified if self._server is not None else site.verified.setdefault("", shown)
            if shown != first:
                raise EngineError(
                    f"the reset did not bring the site back: {reset.verify} is answered by {shown[:300]!r}, "
                    f"and at first by {first[:300]!r}"
                )

    def _check_start(self, start: str) -> None:
        """Make sure that an episode on a shared site begins with the same page as others that state the same.

        Raises:
            EngineError: It does not.
        """
        shown = self._site.masks.without(self._text)
        first = self._site.verified.setdefault(start, shown)
        if shown != first:
            line, before = next(pair for pair in zip_longest(shown.split("\n"), first.split("\n")) if len({*pair}) > 1)
            raise EngineError(
                f"the reset did not bring the site back: its first page shows {(line or '')[:300]!r}, and at first "
                f"{(before or '')[:300]!r}. Where that varies by itself, name a request under reset.verify, or a "
                "pattern under masks"
            )

    def _verification(self) -> str:
        """Return the answer to the request that verifies resets; an empty text where there is none."""
        verify = self._config.verify
        if verify is None:
            return ""
        answer = self._asked(verify)
        return self._site.masks.without(f"{answer.status} {answer.text}")

    def reset(self) -> bool:
        """Reset the server of this session and open a fresh context, where the configuration says how; a server that
        all episodes share is reset when the next one begins.
        """
        if self._server is None or self._config.reset == "restart":
            return False
        self._reset_site()
        self.verdict = self.offers = self.instruction = None
        self._fresh()
        return True

    @property
    def alive(self) -> bool:
        """Whether the browser runs, and no page of the session has crashed."""
        if self._closed or self._spent or self._home is None or not self._home.alive:
            return False
        if self._server is not None and not self._server.alive:
            return False
        return self._browser is None or not any(tab.crashed for tab in self._browser.tabs)

    def _check(self) -> None:
        """Make sure that the session can go on.

        Raises:
            SystemLost: It cannot.
        """
        if self._home is not None and not self._home.alive:
            raise SystemLost(f"the browser ended: {self._home.why}")
        if self._server is not None and not self._server.alive:
            raise SystemLost(f"the server of the site ended: {self._server.why}")
        if self._browser is not None and any(tab.crashed for tab in self._browser.tabs):
            raise SystemLost("the page crashed")

    @property
    def pids(self) -> list[int]:
        """The process of the server, and that of Playwright with its browser, which other sessions may share."""
        found = [] if self._server is None or not self._server.alive else [self._server.pid]
        return [*found, *([self._home.root] if self._home is not None and self._home.alive else [])]

    def close(self) -> None:
        """Close the context; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._leave()
        if self._server is not None:
            self._server.close()

    def _leave(self) -> None:
        """Close the context, and leave the browser; nothing where there is none."""
        home = self._home
        if home is None:
            return
        try:
            with suppress(EngineError):
                home.driver.run(self._left(), CLOSE_SECONDS + 1)
        finally:
            self._home = None
            self._site.browsers.leave(home)

    async def _left(self) -> None:
        context, gate, browser = self._context, self._gate, self._browser
        self._context = self._gate = self._browser = None
        try:
            if browser is not None:
                for tab in browser.tabs:
                    if tab.dialog is not None:
                        with suppress(Exception):
                            await tab.dialog.dismiss()
            if context is not None:
                with suppress(Exception):
                    await asyncio.wait_for(context.close(), CLOSE_SECONDS / 2)
        finally:
            if gate is not None:
                await gate.close()


def _calls(action: Any) -> list[Any]:
    return action if isinstance(action, list) else [action]


def _names(call: Any) -> str:
    return str(call.get("name")) if isinstance(call, Mapping) else ""
