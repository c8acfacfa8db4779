"""The view of the web: it prints what a browser shows from a structured state.

It also computes the request that a form or a link would send and the usual totals of a basket (`describe_for_model`,
`named_values`), and completes added rows with what the schema gives them. Whether and where these effects stand is for
the model to say. Where its rows break a rule of the tables, a request that the site refuses is refused in the site's
words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from agentworld_gym.core.domain.view import Choices, Entries, StructuredState, View
from agentworld_gym.core.engines import Controls, Scalar
from agentworld_gym.core.screens.sight import LOOK
from agentworld_gym.domains.web.engine import flat_state
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.strings import encodable
from agentworld_gym.domains.web.engine.structured_state.action_context import context_lines
from agentworld_gym.domains.web.engine.structured_state.answers import answered, expected, text_of
from agentworld_gym.domains.web.engine.structured_state.browsers import page_place, restored_browser, shown_browser
from agentworld_gym.domains.web.engine.structured_state.known_values import (
    column_choices,
    field_choices,
    known_values,
    site_called,
)
from agentworld_gym.domains.web.engine.tools.call import read_call
from agentworld_gym.domains.web.engine.tools.playwright_tools import TOOLS, call_tool
from agentworld_gym.kit.tables.plain_rows import completed_row, predicted_rows

_TABLE, _COLUMN = 3, 5
"""The lengths of the paths of a table, and of a column: `data/shop/cart/jana,103/quantity`."""
predicted = partial(predicted_rows, "site")
"""Reads predicted rows."""

_OPENING = ("browser_navigate", "browser_click")
"""The tools that open pages."""


class WebView(View):
    """Prints browsers.

    >>> view = WebView()
    >>> state = view.begin({"open": "http://shop.example/", "sites": {"shop": None}}, seed=0)
    >>> state["tabs"]["0"]["pages"].append({"url": "http://shop.example/help/delivery"})
    >>> print(view.view(state).splitlines()[2])
    - Page Title: Delivery - Fernhill Home
    """

    knows_fields = True

    def begin(
        self, state: Mapping[str, Any], seed: int, controls: Mapping[str, float] | None = None, control_seed: int = 0
    ) -> StructuredState:
        """Return the structured state of a browser at the start.

        Raises:
            SpecError: The state of the task is wrong.
        """
        return WebMachine.start(state, seed, Controls(controls or {}, control_seed)).visible_state()

    def view(self, shown: StructuredState) -> str:
        """Return the answer of the last tool, as Playwright's MCP server prints it.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            browser, _ = restored_browser(shown)
            return text_of(browser, shown.get("said", {}))

    def place(self, shown: StructuredState) -> tuple[str | int, ...]:
        """Return the path of the page in front.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            return page_place(shown)

    def noted(self, shown: StructuredState, action: Any) -> StructuredState:
        """Return the state with the action noted that is about to be answered, as tools repeat it in their answers.

        What follows from the action is not said, but that a page has been seen once somebody has looked at it.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            if action is None:
                return shown
            browser, _ = restored_browser(shown)
            noted = {key: value for key, value in shown.items() if key != "said"}
            if said := expected(browser, action):
                noted["said"] = said
            call = read_call(action)
            looks = call is not None and call[0] == LOOK and browser.tab.modal is None
            if browser.tab.console or looks:
                _, tab, _, page = page_place(shown)
                pages = [dict(told) for told in shown["tabs"][tab]["pages"]]
                if browser.tab.console:
                    pages[page]["old"] = True
                if looks:
                    pages[page].pop("unseen", None)
                noted["tabs"] = {**shown["tabs"], tab: {**shown["tabs"][tab], "pages": pages}}
            return noted

    def describe_for_model(self, shown: StructuredState, action: Any) -> str:
        """Return the page in front, and what an action is aimed at: an element, and its link or the form it sends.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            browser, sites = restored_browser(shown)
            return "\n".join(context_lines(shown, browser, sites, action))

    def named_values(self, shown: StructuredState, action: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the values to which a change can refer: those of the action, and those of the rows that it concerns.

        >>> view = WebView()
        >>> state = view.begin({"open": "http://wiki.example/", "sites": {"wiki": None}}, seed=0)
        >>> call = {"name": "browser_navigate", "arguments": {"url": "wiki.example/all"}}
        >>> given, found = view.named_values(state, call)
        >>> given["url"], given["now"]
        ('http://wiki.example/all', '2026-03-04T09:30:00Z')

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            browser, sites = restored_browser(shown)
            return known_values(shown["users"], browser, sites, action)

    def fields(self, shown: StructuredState) -> Mapping[str, Scalar]:
        """Return the fields of a state by name, as `WebMachine.state` tells its own.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            return flat_state.state(restored_browser(shown)[0])

    def state_after_opening(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an address or a link is opened; None after any other action.

        Raises:
            AnswerError: This is no state of a browser.
        """
        call = read_call(action)
        return _without_storing(shown, action) if call is not None and call[0] in _OPENING else None

    def refused(self, shown: StructuredState, action: Any) -> StructuredState | None:
        """Return the state after an action that stores nothing, such as a form that its site refuses.

        It is None after any other action, and under controls, whose draws are not in the state.

        Raises:
            AnswerError: This is no state of a browser.
        """
        controlled = any(shown["web"].get("controls", {}).values())
        return None if controlled or read_call(action) is None else _without_storing(shown, action)

    def counts(self, shown: StructuredState, path: tuple[str, ...]) -> bool:
        """Whether the sites change a number by an amount, such as a stock.

        >>> view = WebView()
        >>> state = view.begin({"open": "http://shop.example/", "sites": {"shop": None}}, seed=0)
        >>> view.counts(state, ("data", "shop", "products", "103", "stock"))
        True
        """
        if len(path) != _COLUMN or path[0] != "data":
            return False
        with predicted():
            return (path[2], path[4]) in site_called(shown, path[1]).counting

    def completed(self, shown: StructuredState, path: tuple[str, ...], entries: Entries, entry: Any) -> Any:
        """Return a row that is added, with the next number of its table and the defaults of its columns.

        >>> view = WebView()
        >>> state = view.begin({"open": "http://shop.example/", "sites": {"shop": None}}, seed=0)
        >>> view.completed(state, ("data", "shop", "returns"), [{"id": 3}], {"order_id": 5001})
        {'id': 4, 'order_id': 5001, 'status': 'requested'}

        Raises:
            AnswerError: This is no state of a browser.
        """
        if len(path) != _TABLE or path[0] != "data" or not isinstance(entry, dict):
            return entry
        with predicted():
            site = site_called(shown, path[1])
            columns, _ = site.keys[path[2]]
            return completed_row(columns, path[2] in site.numbered, site.defaults[path[2]], entries, entry)

    def choices(self, shown: StructuredState, path: tuple[str, ...]) -> Choices | None:
        """Return the options of a list of the page in front, or the keys of the rows that a column refers to.

        Raises:
            AnswerError: This is no state of a browser.
        """
        with predicted():
            if path[0] == "data" and len(path) == _COLUMN:
                return column_choices(shown, path[1], path[2], path[4])
            if path[-2:-1] == ("fields",) and path[:-2] == tuple(map(str, page_place(shown))):
                browser, _ = restored_browser(shown)
                return field_choices(browser.page, path[-1])
            return None


def _without_storing(shown: StructuredState, action: Any) -> StructuredState | None:
    """Return the state after an action; None where the sites store what it does.

    Raises:
        AnswerError: This is no state of a browser.
    """
    call = read_call(action)
    assert call is not None
    with predicted():
        browser, sites = restored_browser(shown)
        before = _stored(browser, sites)
        name, arguments = call
        browser.settle()
        result = call_tool(browser, name, encodable(arguments), TOOLS[name])
        if _stored(browser, sites) != before:
            return None
        after = shown_browser(browser, sites, reporting=bool(result.events))
        return {**after, "said": answered(browser, action, result)}


def _stored(browser: Browser, sites: Sites) -> list[Any]:
    """Return what the sites store, and who is signed in."""
    return [sites.visible_state()["data"], sites.users(browser.cookies)]
