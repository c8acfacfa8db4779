"""The machine of world `chromium`: the same sites in a real Chromium, driven through Playwright."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, EngineError, Scalar, Span
from agentworld_gym.domains.web.engine.chromium.browser import ChromiumBrowser
from agentworld_gym.domains.web.engine.chromium.dispatch import act
from agentworld_gym.domains.web.engine.chromium.driver import ADVICE, Driver, chromium_version, driver, find_chromium
from agentworld_gym.domains.web.engine.flat_state import stated_hosts
from agentworld_gym.domains.web.engine.sites import Sites

__all__ = ["ChromiumEngine", "ChromiumMachine", "chromium_version"]


class ChromiumEngine:
    """Starts sessions in the installed Chromium.

    Raises:
        EngineError: Chromium or Playwright is missing. The error says what to install.
    """

    variant = "chromium"

    def __init__(self) -> None:
        find_chromium()
        if importlib.util.find_spec("playwright") is None:
            raise EngineError(f"Playwright is not installed; {ADVICE}")

    def start(
        self, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> ChromiumMachine:
        """Return a browser on the first page of a task; the arguments are those of `WebMachine.start`.

        Raises:
            SpecError: The state is wrong.
            EngineError: The browser does not start.
        """
        sites = Sites.start(state, seed, controls, hidden)
        return ChromiumMachine(driver(), sites, str(state["open"]), controls, stated_hosts(state, sites.hosts))


class ChromiumMachine:
    """One session: a context of the shared Chromium, and sites with databases of their own.

    A fork is another context in which all actions are repeated.
    """

    def __init__(
        self,
        driver: Driver,
        internet: Sites,
        url: str,
        controls: Controls = NO_CONTROLS,
        stated_hosts: frozenset[str] = frozenset(),
    ) -> None:
        """Open a browser context at a URL; the hosts in `stated_hosts` show only what the task states."""
        self._driver, self._url, self._controls, self._stated_hosts = driver, url, controls, stated_hosts
        self._origin = internet.fork()
        self._internet = internet
        self._actions: list[Any] = []
        self._spans: tuple[Span, ...] = ()
        self._closed = False
        try:
            self._browser = driver.run(ChromiumBrowser.open(driver, internet, url, controls))
        except Exception as error:
            raise EngineError(f"the browser does not start: {str(error).partition(chr(10))[0]}") from error
        self._observation = self._browser.first

    @property
    def observation(self) -> str:
        """What the browser shows since the last call."""
        return self._observation

    @property
    def spans(self) -> tuple[Span, ...]:
        """The snapshot, where the task does not state what its site shows."""
        text = self._observation
        start = text.find("### Snapshot\n```yaml\n")
        if start < 0 or any(f"Page URL: http://{host}/" in text for host in self._stated_hosts):
            return ()
        start += len("### Snapshot\n```yaml\n")
        return (Span(start, text.find("\n```", start), "pre-existing"),)

    def act(self, action: Any) -> str:
        """Answer one call `{"name": ..., "arguments": {...}}`; anything may stand in it.

        Raises:
            EngineError: The machine is closed, or the browser is gone.
        """
        self._open()
        self._actions.append(action)
        try:
            self._observation = self._driver.run(act(self._browser, action, undisturbed=_controls_are_suspended()))
        except Exception as error:  # The browser or one of its pages has crashed.
            raise EngineError(f"the browser failed: {error}") from error
        return self._observation

    def state(self) -> dict[str, Scalar]:
        """Return the tabs with their fields, the cookies, and what the sites store, as flat fields."""
        self._open()
        fields = self._driver.run(self._browser.fields())
        return fields | dict(self._internet.state())

    def screenshot(self) -> bytes:
        """Return a picture of the page as PNG."""
        self._open()
        return self._driver.run(self._browser.screenshot())

    def fork(self) -> ChromiumMachine:
        """Return a copy, made by repeating all actions in another context."""
        self._open()
        twin = ChromiumMachine(self._driver, self._origin.fork(), self._url, self._controls, self._stated_hosts)
        for action in self._actions:
            twin.act(action)
        return twin

    def close(self) -> None:
        """Close the context. It may be called twice."""
        if self._closed:
            return
        self._closed = True
        with suppress(EngineError):  # The browser may have gone already.
            self._driver.run(self._browser.close())
        self._internet.close()
        self._origin.close()

    def _open(self) -> None:
        if self._closed:
            raise EngineError("the browser was used after close()")


def _controls_are_suspended() -> bool:
    """Return whether controls are suspended in this thread, a value that the driver's thread needs."""
    return not Controls({"any": 1.0}).strikes("any")
