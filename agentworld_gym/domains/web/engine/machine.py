"""The machine of the grounded web: one simulated browser over the sites of a task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, Controls, EngineError, RestorableMachine, Scalar, Span
from agentworld_gym.domains.web.engine import flat_state
from agentworld_gym.domains.web.engine.addresses import host_of
from agentworld_gym.domains.web.engine.browser.browser import Browser, Unreachable
from agentworld_gym.domains.web.engine.http import Internet
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.strings import encodable
from agentworld_gym.domains.web.engine.structured_state.answers import REFERENCES, answered, text_of
from agentworld_gym.domains.web.engine.structured_state.browsers import kept_browser, restored_browser, shown_browser
from agentworld_gym.domains.web.engine.tools import browsergym_calls, browsergym_observation
from agentworld_gym.domains.web.engine.tools.call import NO_CALL, read_call
from agentworld_gym.domains.web.engine.tools.playwright_tools import TOOLS, call_tool, show
from agentworld_gym.domains.web.engine.tools.result import ToolResult
from agentworld_gym.kit.gui import plain


class WebMachine(RestorableMachine[Browser]):
    """One session: a simulated browser, and sites with databases of their own.

    >>> machine = WebMachine.start({"open": "http://shop.example/"}, seed=1)
    >>> machine.observation.splitlines()[1]
    '- Page URL: http://shop.example/'
    >>> print(machine.act({"name": "browser_click", "arguments": {"ref": "e999"}}))
    ### Error
    Error: Ref e999 not found in the current page snapshot. Try capturing new snapshot.
    """

    noun = "browser"

    def __init__(
        self,
        internet: Internet,
        url: str,
        controls: Controls = NO_CONTROLS,
        stated_hosts: frozenset[str] = frozenset(),
    ) -> None:
        """Open a browser at a URL; the hosts in `stated_hosts` show only what the task states."""
        self._controls, self._stated_hosts = controls, stated_hosts
        browser = Browser(internet)
        super().__init__(browser, "")
        self._action: Any = None
        browser.cookies = {host: dict(cookies) for host, cookies in getattr(internet, "cookies", {}).items()}
        self._calls = 0
        self._redrawn = False
        self._visited: frozenset[str] = frozenset()
        self._opened: frozenset[str] = frozenset()
        self._arrived = False
        with suppress(Unreachable):  # the error page is shown
            browser.go(url)
        self._result = ToolResult()
        show(browser, self._result)
        self._observation = self._result_text()

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Return a browser on the first page of a task.

        Args:
            state: The state of the sites (see `Sites.start`).
            seed: The seed of everything that the state leaves open.
            controls: The faults in force.
            hidden: What the sites know and the agent is never shown.

        Raises:
            SpecError: The state is wrong. The error names the key, its value and what was expected.
        """
        sites = Sites.start(state, seed, controls, hidden)
        return cls(sites, str(state["open"]), controls, flat_state.stated_hosts(state, sites.hosts))

    def observation_in(self, dialect: str) -> str:
        """Return what the browser shows in another dialect, of which there is `browsergym`.

        Raises:
            EngineError: There is no such dialect, or the machine is closed.
        """
        if dialect != "browsergym":
            raise EngineError(f"a browser does not speak {dialect!r}")
        return "\n".join(browsergym_observation.observation(self.browser, self._result))

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the tree, where a page is shown for the first time in that dialect and the task did not state it.

        BrowserGym shows the page after every action, so that a page counts as shown there before Playwright's tools
        show it.

        Raises:
            EngineError: There is no such dialect, or the machine is closed.
        """
        shown = self.observation_in(dialect)
        if not self._arrived:
            return ()
        head, _ = browsergym_observation.observation(self.browser, self._result)
        return (Span(len(head) + 1, len(shown), "pre-existing"),)

    @property
    def browser(self) -> Browser:
        """The browser of the session.

        Raises:
            EngineError: The machine is closed.
        """
        return self._open()

    def act(self, action: Any) -> str:
        """Answer one call `{"name": ..., "arguments": {...}}`, of Playwright's tools or of BrowserGym, or several.

        Anything may stand in a call; what is wrong is answered with an error. The first error ends several calls, and
        their answer is that of the last one, with the page.

        Raises:
            EngineError: The machine is closed.
        """
        if not isinstance(action, list):
            return self._say(self._called(action))
        result, done = ToolResult(errors=[NO_CALL]), 0
        for call in action:
            result = self._called(call)
            done += 1
            if result.errors:
                break
        if done > 1 and result.snapshot is None and not result.modal:
            show(self.browser, result)
        return self._say(result)

    def _called(self, action: Any) -> ToolResult:
        """Carry out one call and return its result."""
        browser = self.browser
        self._calls += 1
        self._action = action
        call = read_call(action)
        if call is None:
            return ToolResult(errors=[NO_CALL])
        name, arguments = call
        tool = TOOLS.get(name) or browsergym_calls.CALLS.get(name)
        if tool is None:
            return ToolResult(errors=[f'Tool "{encodable(name[:100])}" not found'])
        if name != "browser_wait_for" and name != "noop":
            browser.settle()
        self._redraw(browser, arguments)
        return call_tool(browser, name, encodable(arguments), tool)

    def state(self) -> dict[str, Scalar]:
        """Return the tabs with their fields, the cookies, and what the sites store, as flat fields."""
        return flat_state.state(self.browser)

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        result = self._result
        own = {
            "action": plain(self._action),
            "answer": [result.errors, result.results, result.modal, result.events],
            "calls": self._calls,
            "redrawn": self._redrawn,
            "stated": sorted(self._stated_hosts),
            "visited": sorted(self._visited),
            "opened": sorted(self._opened),
            "arrived": self._arrived,
            "spans": [[span.start, span.end, span.kind] for span in self._spans],
        }
        return {**kept_browser(self.browser, self._sites, shown), "machine": own}

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads.

        Raises:
            EngineError: The machine is closed, or its pages come from elsewhere than from sites.
        """
        said = {} if self._action is None else answered(self.browser, self._action, self._result)
        shown = shown_browser(self.browser, self._sites, reporting=bool(self._result.events))
        return {**shown, "said": said} if said else shown

    @property
    def _sites(self) -> Sites:
        internet = self.browser.internet
        if not isinstance(internet, Sites):
            raise EngineError("only sites have a structured state")
        return internet

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> WebMachine:
        """Return the machine of a complete state: equal actions on both give equal observations, states and spans."""
        shown, kept = structured_state["shown"], structured_state["kept"]
        own, web = kept["machine"], shown["web"]
        machine = object.__new__(cls)
        machine._system, _ = restored_browser(shown, kept)
        machine._controls = Controls(web.get("controls", {}), web.get("control_seed", 0))
        machine._stated_hosts = frozenset(own["stated"])
        machine._action, machine._calls, machine._redrawn = own["action"], own["calls"], own["redrawn"]
        machine._visited, machine._opened = frozenset(own["visited"]), frozenset(own["opened"])
        machine._arrived = own["arrived"]
        machine._spans = tuple(Span(*span) for span in own["spans"])
        errors, results, modal, events = own["answer"]
        machine._result = ToolResult(errors=errors, results=results, modal=modal, events=events)
        machine._observation = text_of(restored_browser(shown, kept)[0], shown.get("said", {}))
        return machine

    def _part_from(self, system: Browser) -> None:
        self._system = system.fork()

    def _free(self, system: Browser) -> None:
        system.internet.close()

    def _redraw(self, browser: Browser, arguments: Mapping[str, Any]) -> None:
        """Redraw the page where the control `stale-element` strikes, so that all references are out of date."""
        if not any(name in arguments for name in REFERENCES) and "fields" not in arguments:
            return
        if self._redrawn:
            self._redrawn = False
        elif self._controls.strikes("stale-element", self._calls, browser.tab.url):
            page = browser.page
            page.refs, page.listed, page.looks, page.start = {}, {}, (), page.last_ref
            self._redrawn = True

    def _say(self, result: ToolResult) -> str:
        self._result = result
        self._observation = self._result_text()
        return self._observation

    def _result_text(self) -> str:
        """Return the text of the result, and note whether it shows a page for the first time.

        Where it does, and the task did not state the page, its snapshot is a span.
        """
        self._spans = ()
        text, piece = self._result.text(), self._result.snapshot
        if piece:
            url = self.browser.tab.url
            if self._is_unseen(url, self._visited):
                start = text.index(piece)
                self._spans = (Span(start, start + len(piece), "pre-existing"),)
            self._visited |= {url}
        url = self.browser.tab.url
        self._arrived = not self._result.modal and self._is_unseen(url, self._opened)
        if not self._result.modal:
            self._opened |= {url}
        return text

    def _is_unseen(self, url: str, shown: frozenset[str]) -> bool:
        return url not in shown and host_of(url) not in self._stated_hosts
