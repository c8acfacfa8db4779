"""The tool `browser_wait_for`: wait for a time, or until a text appears or disappears."""

from __future__ import annotations

from agentworld_gym.domains.web.engine.browser.actionability import TIMEOUT
from agentworld_gym.domains.web.engine.browser.browser import Browser, Refusal
from agentworld_gym.domains.web.engine.document.layout import layout_of
from agentworld_gym.domains.web.engine.strings import single_quoted, tidy
from agentworld_gym.domains.web.engine.tools import code
from agentworld_gym.domains.web.engine.tools.call import WebToolCall

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
