"""Describes a browser to a world model before an action: the page in front, and the target of the action.

An aim is an element with what lies behind it: the address of a link, the request that a form would send, the field that
takes a text. Of a request it lists the rows that its route reads or writes, since what follows depends on them. What
does follow is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.core.domain.view import compact
from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.accessibility.tree import tree_of
from agentworld_gym.domains.web.engine.browser import data_attributes, interactions, keyboard
from agentworld_gym.domains.web.engine.browser.actionability import obstacle
from agentworld_gym.domains.web.engine.browser.browser import Browser, JavaScriptDialog, Refusal
from agentworld_gym.domains.web.engine.document import forms
from agentworld_gym.domains.web.engine.document.focus import focusable, is_details_summary, tab_order
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.concerned_rows import Concerned
from agentworld_gym.domains.web.engine.sites.printing import plain_pairs
from agentworld_gym.domains.web.engine.structured_state.browsers import page_place
from agentworld_gym.domains.web.engine.structured_state.pages import named
from agentworld_gym.domains.web.engine.tools.call import read_call
from agentworld_gym.domains.web.engine.tools.playwright_tools import shows_text
from agentworld_gym.kit.gui import plain

_LONGEST, _SHORT = 80, 24
"""The largest number of characters of a name or of a text, and of what is in a field already."""
_STEPS = {"browser_navigate_back": -1, "browser_navigate_forward": 1}
_UNTOLD = frozenset(("url", "body", "sent"))
"""The keys of a page that are left out."""


def context_lines(shown: Mapping[str, Any], browser: Browser, sites: Sites, action: Any) -> Iterator[str]:
    """Yield the lines that tell of a state before an action."""
    _, tab, _, place = page_place(shown)
    pages = shown["tabs"][tab]["pages"]
    front = {key: _short(key, value) for key, value in sorted(pages[place].items()) if key not in _UNTOLD}
    words = [pages[place]["url"], *([compact(front)] if front else []), f"<{place}"]
    words += [f">{len(pages) - 1}"] if len(pages) - 1 > place else []
    words += [f"tabs/{tab} of {len(browser.tabs)}"] if len(browser.tabs) > 1 else []
    yield " ".join(words)
    user = shown["users"].get(sites.name_of(addresses.host_of(browser.tab.url)))
    yield " | ".join(filter(None, [browser.tab.title, "" if user is None else str(user)]))
    call = read_call(action)
    if call is not None:
        yield from ActionTargets(browser, sites, user).of(*call)


def _short(key: str, value: Any) -> Any:
    """Describe a page in few words; of messages and errors say only that they are there."""
    if key in ("flash", "alert", "errors"):
        return 1
    if not isinstance(value, dict):
        return value
    return {name: part[:_SHORT] if isinstance(part, str) else part for name, part in sorted(value.items())}


def behind(browser: Browser, sites: Sites, user: Any, index: int) -> Iterator[str]:
    """Yield the lines that tell what lies behind an element of the page in front, by its number, if it is clicked."""
    yield from ActionTargets(browser, sites, user).behind(browser.page.nodes[index])


class ActionTargets:
    """What calls are aimed at on one page.

    Args:
        browser: The browser with the page in front.
        sites: The sites.
        user: Who is signed in at the site of the page; None for nobody.
    """

    def __init__(self, browser: Browser, sites: Sites, user: Any) -> None:
        self.browser, self.sites, self.user = browser, sites, user
        self.given: dict[str, Any] = {}
        """The values that the lines so far tell, by name: elements, what is entered, and what a request gives."""
        self.concerned = Concerned()
        """The rows that the last request reads or writes, and what it gives."""
        self.page: Page = browser.page
        if not self.page.refs:
            tree_of(self.page)

    def of(self, name: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines that tell what a call is aimed at."""
        page, modal = self.page, self.browser.tab.modal
        if name == "browser_handle_dialog":
            if isinstance(modal, JavaScriptDialog):
                yield from self.behind(page.nodes[modal.node], dialog=modal, text=arguments.get("promptText"))
        elif name == "browser_navigate":
            yield from self._request("GET", addresses.from_address_bar(str(arguments.get("url"))))
        elif name in _STEPS:
            tab = self.browser.tab
            place = tab.place + _STEPS[name]
            if 0 <= place < len(tab.entries):
                yield f"{tab.entries[place].method} {tab.entries[place].url}"
        elif name == "browser_press_key":
            yield from self._key(str(arguments.get("key")))
        elif name == "browser_wait_for":
            text = arguments.get("text") or arguments.get("textGone")
            if isinstance(text, str):
                yield "shown" if shows_text(self.browser, text) else "not shown"
        elif name == "browser_fill_form":
            for field in arguments.get("fields", ())[:8]:
                yield from self._element(field.get("ref"), "browser_type", {"text": field.get("value"), **field})
        else:
            for key in ("ref", "bid", "startRef"):
                if key in arguments:
                    yield from self._element(arguments[key], name, arguments)

    def _element(self, ref: Any, name: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        page = self.page
        index = page.listed.get(ref) if isinstance(ref, str) else None
        if index is None:
            yield "no such element"
            return
        node = page.nodes[index]
        if reason := obstacle(page, node):
            yield reason
        role, label, _ = page.refs[index]
        head = f'{role} "{label[:_LONGEST]}"' if label else role
        target = interactions.field_of(page, node)
        if name in ("browser_type", "browser_select_option") and target.tag in ("input", "textarea", "select"):
            self._named("focus", target)
            yield f"{head} {self._field(target)}"
            yield from self._entered(target, name, arguments)
            return
        below = next((place for place in (node, *node.ancestors()) if place.index and focusable(page, place)), None)
        focus = " no focus" if below is None else f" focus {self._named('focus', below)}"
        yield head + focus if below is not node else head
        if name == "browser_click":
            yield from self.behind(node)

    def _field(self, node: DomNode) -> str:
        """Return the name of a field with its value."""
        name, value = self._value(self.page, node)
        return f"fields/{name} {compact(value[:_LONGEST] if isinstance(value, str) else value)}" if name else "no field"

    def _value(self, page: Page, node: DomNode) -> tuple[str, forms.FieldValue]:
        """Return the name of a field, and its value on a page; the name is empty where it has none."""
        fields = forms.named_fields(page.document).items()
        name, nodes = next(((name, nodes) for name, nodes in fields if node in nodes), ("", (node,)))
        return name, forms.field_value(page, nodes) if name else ""

    def _holds(self, page: Page, node: DomNode) -> None:
        """Give what a field holds on a page under its name."""
        name, value = self._value(page, node)
        if name:
            self.given[name] = plain(value)

    def _entered(self, node: DomNode, name: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a text or an option means for a field: the option's value, and the request of its form."""
        page = self.page.fork()
        sends = arguments.get("submit") is True
        if node.tag == "select":
            wanted = arguments.get("values") or [arguments.get("text")]
            options = [option for option in page.document.options(node) if _is_called(page, option, wanted)]
            if not options:
                yield "no such option"
                return
            yield f"option {compact([page.option_value(option) for option in options])}"
            page.chosen[node.index] = tuple(option.index for option in options)
        elif isinstance(arguments.get("text"), str):
            interactions.set_text(page, node, arguments["text"])
            if page.value(node) != arguments["text"]:
                yield f"value {compact(page.value(node)[:_LONGEST])}"
        self._holds(page, node)
        form = page.document.form_of(node)
        if form is not None and (sends or data_attributes.sends_itself(self.browser, node)):
            button = next(
                (control for control in page.document.controls.get(form.index, []) if _submits(page, control)), None
            )
            yield from self._sent(page, form, button if sends else None)

    def behind(self, node: DomNode, dialog: JavaScriptDialog | None = None, text: Any = None) -> Iterator[str]:
        """Yield what lies behind an element that is activated."""
        page = self.page
        for place in (node, *node.ancestors()):
            target = page.document.target(place) if place.tag == "label" else None
            if target is not None:
                yield self._field(target)
                yield from self.behind(target)
                return
            if dialog is None and (asked := data_attributes.dialog_before(page, place)) is not None:
                yield f"{asked.kind} {self._named('modal', place)}"
                return
            if page.is_button(place):
                yield from self._button(place, dialog, text)
                return
            if place.tag == "a" and "href" in place.attrs:
                yield from self._request("GET", addresses.resolved(self.browser.tab.url, place.attrs["href"]))
                return
            if place.tag == "summary" and is_details_summary(place):
                details = [one for one in page.nodes if one.tag == "details"]
                is_open = place.parent is not None and page.attr(place.parent, "open") is not None
                yield f"open/{details.index(place.parent)} {compact(is_open)}" if place.parent else ""
                return
            if place.attrs.get("role") == "tab":
                yield f"tab {place.attrs.get('id') or f'#{place.index}'}"
                return
            if place.tag in ("input", "select", "textarea"):
                yield self._field(place)
                after = page.fork()
                if place.type in ("radio", "checkbox"):
                    after.set_checked(place, place.type == "radio" or not page.is_checked(place))
                if place.type == "radio":
                    self._holds(after, place)
                form = page.document.form_of(place)
                if form is not None and data_attributes.sends_itself(self.browser, place):
                    yield from self._sent(after, form, None)
                return

    def _button(self, button: DomNode, dialog: JavaScriptDialog | None, text: Any) -> Iterator[str]:
        form = self.page.document.form_of(button)
        if button.attrs.get("role") == "tab":
            yield f"tab {button.attrs.get('id') or f'#{button.index}'}"
        elif "data-closes" in button.attrs:
            yield "closes the dialog"
        elif form is not None and button.type not in ("button", "reset"):
            extra = (dialog.field, str(text or "")) if dialog is not None and dialog.field else None
            yield from self._sent(self.page, form, button, extra)
        elif "data-reload" in button.attrs:
            yield from self._request("GET", self.browser.tab.entries[self.browser.tab.place].url)

    def _sent(
        self, page: Page, form: DomNode, button: DomNode | None, extra: tuple[str, str] | None = None
    ) -> Iterator[str]:
        """Yield the request that a form would send, or the field that the browser refuses to send."""
        sending = interactions.request_of(page, form, button, self.browser.tab.url, extra)
        if isinstance(sending, DomNode):
            yield f"refused at {self._named('refused', sending)}"
        elif sending is not None:
            yield from self._request(*sending)

    def _request(self, method: str, url: str, form: tuple[tuple[str, str], ...] = ()) -> Iterator[str]:
        """Yield a request, and the rows that its route reads or writes."""
        sent = f" {compact(dict(form))}" if form else ""
        self.given["url"] = url
        if method == "POST":
            self.given["sent"] = plain_pairs(form)
        yield f"{'' if method == 'GET' else method + ' '}> {url}{sent}"
        self.concerned = self.sites.concerned(method, addresses.request_url(url), form, self.user)
        yield from (row.line for row in self.concerned.rows)

    def _named(self, name: str, node: DomNode) -> str:
        """Return the reference of an element, and give it under a name."""
        self.given[name] = named(self.page, node.index)
        return str(self.given[name])

    def _key(self, key: str) -> Iterator[str]:
        page = self.page
        focus = None if page.focus is None else page.nodes[page.focus]
        if key in ("Tab", "Shift+Tab"):
            stops = tab_order(page)
            step = -1 if key.startswith("Shift") else 1
            place = stops.index(focus) + step if focus in stops else 0 if step > 0 else len(stops) - 1
            if 0 <= place < len(stops):
                yield f"next {self._named('focus', stops[place])}"
        elif focus is not None:
            try:
                held, pressed = keyboard.parse(key)
            except Refusal:
                yield "no such key"
                return
            role, label, _ = page.refs.get(focus.index, (focus.tag, "", ""))
            yield f'{role} "{label[:_LONGEST]}" {self._field(focus)}'
            activates = pressed in ("Enter", "Space", " ") and not held
            if activates and (focus.tag in ("a", "summary") or page.is_button(focus)):
                yield from self.behind(focus)
            elif activates and pressed == "Enter" and focus.tag == "input":
                form = page.document.form_of(focus)
                if form is not None:
                    controls = page.document.controls.get(form.index, [])
                    button = next((control for control in controls if _submits(page, control)), None)
                    yield from self._sent(page, form, button)


def _is_called(page: Page, option: DomNode, wanted: list[Any]) -> bool:
    label = " ".join((option.attrs.get("label") or option.text()).split())
    return label in wanted or page.option_value(option) in wanted


def _submits(page: Page, control: DomNode) -> bool:
    return page.is_button(control) and control.type in ("submit", "image")
