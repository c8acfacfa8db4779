"""The tools of Playwright's MCP server on the simulated browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.accessibility.snapshot import snapshot
from agentworld_gym.domains.web.engine.browser import interactions, javascript, keyboard
from agentworld_gym.domains.web.engine.browser.actionability import TIMEOUT, require_actionable, timeout_error
from agentworld_gym.domains.web.engine.browser.browser import (
    Browser,
    JavaScriptDialog,
    OpenFileChooser,
    Refusal,
    Unreachable,
)
from agentworld_gym.domains.web.engine.document.focus import focusable
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.strings import single_quoted, tidy
from agentworld_gym.domains.web.engine.tools import code
from agentworld_gym.domains.web.engine.tools.call import WebToolCall
from agentworld_gym.domains.web.engine.tools.result import (
    CHOOSER_LINE,
    ToolResult,
    dialog_line,
    event_line,
    page_lines,
    tab_lines,
)
from agentworld_gym.domains.web.screen_texts import QUIET_TOOLS

MAX_SIZE = 10_000


def _navigate(call: WebToolCall) -> None:
    url = addresses.from_address_bar(call.text("url"))
    browser = call.browser
    if reason := addresses.refusal(url) if url else addresses.INVALID:
        raise Refusal(reason)
    try:
        browser.go(url)
    except Unreachable as error:
        raise Refusal(f"Error: page.goto: net::{error} at {url}") from None
    call.ran(code.goto(url))


def _travel(steps: int, verb: str) -> Callable[[WebToolCall], None]:
    def travel(call: WebToolCall) -> None:
        try:
            call.browser.travel(steps)
        except Unreachable as error:
            raise Refusal(f"Error: page.{verb}: net::{error}") from None
        call.ran(code.travel(verb))

    return travel


def _snapshot(call: WebToolCall) -> None:
    call.browser.settle()


def _click(call: WebToolCall) -> None:
    ref = call.arguments.get("ref")
    node = call.node(ref)
    twice = call.arguments.get("doubleClick") is True
    verb = "dblclick" if twice else "click"
    locator = call.locator(node)
    require_actionable(call.browser.page, node, str(ref), verb)
    button, held = call.arguments.get("button"), code.held_keys(call.arguments)
    call.ran(code.click(locator, call.arguments))
    link = node if node.tag == "a" else node.closest("a")
    if button == "middle" or (link is not None and {"Control", "ControlOrMeta", "Shift"} & set(held)):
        interactions.open_in_background(call.browser, node)
        return
    if button == "right" or (link is not None and "Alt" in held):
        interactions.press_down(call.browser.page, node)
        return
    load = call.browser.tab.load
    interactions.click(call.browser, node)
    if twice and call.browser.tab.load == load and call.browser.tab.modal is None:
        interactions.click(call.browser, node)


def _type(call: WebToolCall) -> None:
    ref = call.arguments.get("ref")
    node, text = call.node(ref), call.text("text")
    page, locator = call.browser.page, call.locator(node)
    if call.arguments.get("slowly") is True:
        require_actionable(page, node, str(ref), "pressSequentially", enabled=False)
        call.ran(code.acted(locator, "pressSequentially", text))
        if focusable(page, node) and page.focus != node.index:
            page.give_focus(node.index)
            # Playwright puts the caret before the text where it can; in an untouched field it stands there.
            if (node.tag == "input" and node.type not in ("email", "number")) or node.index not in page.values:
                page.tail = len(page.value(node))
        keyboard.type_text(call.browser, text)
    else:
        _fill(call, node, str(ref), text)
    if call.arguments.get("submit") is True and call.browser.tab.modal is None:
        call.ran(code.acted(locator, "press", "Enter"))
        keyboard.press(call.browser, "Enter")


def _fill(call: WebToolCall, node: DomNode, ref: str, text: str) -> None:
    page, locator = call.browser.page, call.locator(node)
    target = interactions.field_of(page, node)
    if target.tag in ("input", "textarea"):
        require_actionable(page, target, ref, "fill", enabled=page.is_disabled(target))
        if "readonly" in target.attrs:
            raise Refusal(timeout_error("locator.fill", ref, "element is not editable", f"<{target.tag} readonly/>"))
    interactions.fill(call.browser, node, text)
    call.ran(code.acted(locator, "fill", text))


def _fill_form(call: WebToolCall) -> None:
    fields = call.arguments.get("fields")
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        raise Refusal("Error: Invalid arguments: fields: expected array of objects")
    for field in fields[:100]:
        ref, kind, value = field.get("ref"), field.get("type"), field.get("value")
        node, value = call.node(ref), value if isinstance(value, str) else json.dumps(value)
        if kind in ("checkbox", "radio"):
            _check(call, node, str(ref), value == "true")
        elif kind == "combobox":
            _select(call, node, str(ref), [value], labels_only=True)
        else:
            _fill(call, node, str(ref), value)
        if call.browser.tab.modal is not None:
            return


def _check(call: WebToolCall, node: DomNode, ref: str, wanted: bool) -> None:
    page, locator = call.browser.page, call.locator(node)
    target = interactions.field_of(page, node)
    if target.tag != "input" or target.type not in ("checkbox", "radio"):
        raise Refusal("Error: locator.setChecked: Error: Not a checkbox or radio button")
    if page.is_checked(target) != wanted:
        require_actionable(page, node, ref, "setChecked")
        interactions.click(call.browser, node)
        if target.type == "radio" and not wanted:
            raise Refusal("Error: locator.setChecked: Clicking the checkbox did not change its state")
    call.ran(code.acted(locator, "check" if wanted else "uncheck"))


def _select_option(call: WebToolCall) -> None:
    ref, values = call.arguments.get("ref"), call.arguments.get("values")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Refusal("Error: Invalid arguments: values: expected array of strings")
    _select(call, call.node(ref), str(ref), values[:100])


def _select(call: WebToolCall, node: DomNode, ref: str, values: list[str], labels_only: bool = False) -> None:
    page, locator = call.browser.page, call.locator(node)
    target = interactions.field_of(page, node)
    if target.tag == "select":
        require_actionable(page, target, ref, "selectOption", enabled=page.is_disabled(target))
    outcome = interactions.select_options(call.browser, node, values, labels_only)
    if isinstance(outcome, str):
        raise Refusal(timeout_error("locator.selectOption", ref, outcome, f"<{target.tag}>…</{target.tag}>"))
    call.ran(code.selected(locator, values))


def _hover(call: WebToolCall) -> None:
    ref = call.arguments.get("ref")
    node = call.node(ref)
    locator = call.locator(node)
    require_actionable(call.browser.page, node, str(ref), "hover", enabled=call.browser.page.modals != ())
    call.ran(code.acted(locator, "hover"))


def _drag(call: WebToolCall) -> None:
    start, end = call.arguments.get("startRef"), call.arguments.get("endRef")
    first, second = call.node(start), call.node(end)
    locators = [call.locator(node) for node in (first, second)]
    require_actionable(call.browser.page, first, str(start), "dragTo", enabled=call.browser.page.modals != ())
    require_actionable(call.browser.page, second, str(end), "dragTo", enabled=call.browser.page.modals != ())
    interactions.press_down(call.browser.page, first)
    call.ran(code.dragged(*locators))


def _press_key(call: WebToolCall) -> None:
    key = call.text("key")
    keyboard.press(call.browser, key)
    call.ran(code.pressed(key))


def _handle_dialog(call: WebToolCall) -> None:
    text = call.arguments.get("promptText")
    interactions.answer_dialog(
        call.browser, call.arguments.get("accept") is True, text if isinstance(text, str) else None
    )


def _file_upload(call: WebToolCall) -> None:
    chooser = call.browser.tab.modal
    paths = call.arguments.get("paths")
    call.browser.tab.modal = None
    if isinstance(chooser, OpenFileChooser) and isinstance(paths, list):
        names = [path[:1000] for path in paths[:20] if isinstance(path, str)]
        set_files(call.browser, call.browser.page.nodes[chooser.node], names)
        call.ran(code.chosen(names))


def set_files(browser: Browser, node: DomNode, names: list[str]) -> None:
    """Give files to a file field. Only their names count."""
    browser.page.files[node.index] = tuple(names if "multiple" in node.attrs else names[:1])


def _evaluate(call: WebToolCall) -> None:
    source = call.text("function")
    ref = call.arguments.get("ref")
    node = None if ref is None else call.node(ref)
    call.shows_page = False
    value = javascript.evaluate(call.browser, source, node)
    call.result.results.append(javascript.printed(value))
    call.ran(code.evaluated(None if node is None else call.locator(node), source))


MAX_WAIT = 30.0


def wait_for(call: WebToolCall) -> None:
    """Wait as the tool `browser_wait_for` does. A page that reloads itself does so meanwhile.

    Raises:
        Refusal: The call names nothing to wait for, or the text does not appear or disappear.
    """
    time, text, gone = (call.arguments.get(name) for name in ("time", "text", "textGone"))
    seconds = max(0.0, min(MAX_WAIT, time)) if isinstance(time, int | float) and time == time else None
    wanted, state = (text, "visible") if isinstance(text, str) and text else (gone, "hidden")
    if isinstance(wanted, str) and wanted:
        call.browser.settle()
        if shows_text(call.browser, wanted) != (state == "visible"):
            limit = TIMEOUT if seconds is None else round(seconds * 1000)
            raise Refusal(
                f"TimeoutError: locator.waitFor: Timeout {limit}ms exceeded.\nCall log:\n"
                f"  - waiting for getByText({single_quoted(wanted)}).first() to be {state}"
            )
        call.ran(code.waited_for(wanted, state))
    elif seconds:
        if seconds >= 1:
            call.browser.settle()
        call.ran(code.waited(seconds))
    else:
        raise Refusal("Error: Either time, text or textGone must be provided")


def shows_text(browser: Browser, text: str) -> bool:
    """Return whether the page shows a text, whatever its capitals and spaces."""
    page = browser.page
    layout, query = layout_of(page), tidy(text).lower()
    for node in page.nodes:
        if not layout.box[node.index] or node.tag in ("option", "optgroup"):
            continue
        if node.tag == "input":
            if page.is_button(node) and query in page.value(node).lower():
                return True
        elif node.index and query in tidy(node.text()).lower():
            return True
    return False


def _tabs(call: WebToolCall) -> None:
    browser, action, index = call.browser, call.arguments.get("action"), call.arguments.get("index")
    if action == "new":
        browser.open_tab()
        browser.current = len(browser.tabs) - 1
    elif action in ("close", "select"):
        if index is None and action == "select":
            raise Refusal("Error: Tab index is required")
        place = browser.current if index is None else index
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(browser.tabs):
            raise Refusal(f"Error: Tab {str(place)[:20]} not found")
        if action == "close":
            browser.close_tab(place)
        else:
            browser.current = place
    elif action != "list":
        raise Refusal("Error: Invalid arguments: action: expected one of list|new|close|select")
    call.result.results += tab_lines([(tab.title, tab.url) for tab in browser.tabs], browser.current)
    call.shows_page = action != "list"


def _console(call: WebToolCall) -> None:
    call.result.results += console_lines(call.browser)
    call.shows_page = False


def console_lines(browser: Browser) -> list[str]:
    """Return what the console of the page holds."""
    messages = browser.tab.console
    return [f"Total messages: {len(messages)} (Errors: {len(messages)}, Warnings: 0)", "", *messages]


def _network(call: WebToolCall) -> None:
    call.result.results += call.browser.tab.requests or ["No requests since the page was loaded."]
    call.shows_page = False


def _resize(call: WebToolCall) -> None:
    size = [call.arguments.get(name) for name in ("width", "height")]
    if not all(isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= MAX_SIZE for side in size):
        raise Refusal(f"Error: page.setViewportSize: width and height must be whole numbers from 1 to {MAX_SIZE}")
    call.browser.size = (int(size[0] or 1), int(size[1] or 1))
    call.ran(code.resized(*size))


def _close(call: WebToolCall) -> None:
    call.browser.close_tab(call.browser.current)
    call.ran(code.CLOSED)


Tool = Callable[[WebToolCall], None]

TOOLS: dict[str, Tool] = {
    "browser_navigate": _navigate,
    "browser_navigate_back": _travel(-1, "goBack"),
    "browser_navigate_forward": _travel(1, "goForward"),
    "browser_snapshot": _snapshot,
    "browser_click": _click,
    "browser_type": _type,
    "browser_fill_form": _fill_form,
    "browser_select_option": _select_option,
    "browser_hover": _hover,
    "browser_drag": _drag,
    "browser_press_key": _press_key,
    "browser_handle_dialog": _handle_dialog,
    "browser_file_upload": _file_upload,
    "browser_evaluate": _evaluate,
    "browser_wait_for": wait_for,
    "browser_tabs": _tabs,
    "browser_console_messages": _console,
    "browser_network_requests": _network,
    "browser_resize": _resize,
    "browser_close": _close,
}

IGNORES_MODAL = frozenset({"browser_tabs", "browser_navigate", "browser_close"})


def call_tool(browser: Browser, name: str, arguments: dict[str, Any], tool: Tool) -> ToolResult:
    """Call a tool and return its result; a refusal becomes an error in the result."""
    call = WebToolCall(browser, arguments)
    modal = browser.tab.modal
    clears = {"browser_handle_dialog": JavaScriptDialog, "browser_file_upload": OpenFileChooser}.get(name)
    try:
        if clears is not None and not isinstance(modal, clears):
            raise Refusal(unrelated(name))
        if clears is None and modal is not None and name not in IGNORES_MODAL:
            call.result.modal = modal_lines(browser)
            raise Refusal(not_handled(name))
        tool(call)
    except Refusal as refusal:
        return ToolResult(errors=[str(refusal)], modal=call.result.modal)
    show(browser, call.result, call.shows_page and name not in QUIET_TOOLS)
    return call.result


def not_handled(name: str) -> str:
    """Return the error of a tool that cannot be used while a dialog is open."""
    return f'Error: Tool "{name}" does not handle the modal state.'


def unrelated(name: str) -> str:
    """Return the error of a tool for dialogs where none is open."""
    return f'Error: The tool "{name}" can only be used when there is related modal state present.'


def modal_lines(browser: Browser) -> list[str]:
    """Return what is open and has to be handled first: a dialog or a file chooser."""
    modal = browser.tab.modal
    if modal is None:
        return []
    return [CHOOSER_LINE if isinstance(modal, OpenFileChooser) else dialog_line(modal.kind, modal.message)]


def show(browser: Browser, result: ToolResult, whole: bool = True) -> None:
    """Add to a result what the browser shows: tabs, page and snapshot only if `whole` is true."""
    tab = browser.tab
    if whole:
        if len(browser.tabs) > 1 and not result.results:
            result.tabs = tab_lines([(other.title, other.url) for other in browser.tabs], browser.current)
        result.page = page_lines(tab.title, tab.url, tab.console)
        if tab.modal is None:
            result.snapshot = snapshot(tab.page)
    result.modal = modal_lines(browser)
    result.events = [event_line(message) for message in tab.console[tab.reported :]]
    tab.reported = len(tab.console)
