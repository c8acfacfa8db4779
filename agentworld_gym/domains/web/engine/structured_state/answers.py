"""What a tool has answered, as plain JSON data, and its text.

| key | what it says |
|---|---|
| `tool`, `ref` | the tool that was called, and the first reference in the call |
| `code` | the lines of code that ran |
| `quiet` | true: the answer does not show the page |
| `results` | the lines of the section `Result` |
| `tabs` | true: these are the open tabs |
| `error` | why nothing was done: a key of `ERRORS`, what was waited for in vain, or a text |
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from agentworld_gym.core.screens.sight import LOOK
from agentworld_gym.domains.web.engine.browser import javascript
from agentworld_gym.domains.web.engine.browser.actionability import tag_of, timeout_error
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.browser.interactions import field_of
from agentworld_gym.domains.web.engine.structured_state.pages import Plain
from agentworld_gym.domains.web.engine.tools.call import WebToolCall, missing, read_call
from agentworld_gym.domains.web.engine.tools.code import echo
from agentworld_gym.domains.web.engine.tools.playwright_tools import (
    console_lines,
    modal_lines,
    not_handled,
    show,
    unrelated,
)
from agentworld_gym.domains.web.engine.tools.result import ToolResult, tab_lines
from agentworld_gym.domains.web.screen_texts import QUIET_TOOLS

REFERENCES = ("ref", "startRef", "endRef", "bid", "from_bid", "to_bid")
_CALLS: Mapping[str, str] = {
    "browser_click": "locator.click",
    "browser_hover": "locator.hover",
    "browser_select_option": "locator.selectOption",
    "browser_type": "locator.fill",
}
_READING = frozenset({"browser_evaluate", "browser_console_messages", "browser_network_requests"})
ERRORS = {"ref": "no such reference", "modal": "something is open first", "none": "nothing is open"}
"""The errors that one word stands for, with what they mean."""
_WITHOUT = ("did not find some options", "option being selected is not enabled")
"""What is waited for in vain without saying more of the element than its tag."""
_VAIN = re.compile(r"TimeoutError: .*\n    - ([^\n]+)\n  - retrying [^\n]*", re.S)


def expected(browser: Browser, action: Any) -> Plain:
    """Return what the answer to a call is where all goes well, as far as the state before tells. Nothing is done.

    A look at the page shows the page alone, so that its answer is left out.
    """
    call = read_call(action)
    if call is None or call[0] == LOOK:
        return {}
    name, arguments = call
    said: Plain = {"tool": name[:100]}
    if refs := [arguments[key][:50] for key in REFERENCES if isinstance(arguments.get(key), str)]:
        said["ref"] = refs[0]
    with suppress(LookupError, TypeError, ValueError, AttributeError):
        said["code"] = echo(browser, name, arguments)
    if name in QUIET_TOOLS or name in _READING or (name == "browser_tabs" and arguments.get("action") == "list"):
        said["quiet"] = True
    if name == "browser_tabs":
        said["tabs"] = True
    elif results := _read(browser, name, arguments):
        said["results"] = results
    return {key: value for key, value in said.items() if value}


def _read(browser: Browser, name: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return what a tool that only reads finds."""
    if name == "browser_console_messages":
        return console_lines(browser)
    if name == "browser_evaluate":
        with suppress(Exception):
            ref = arguments.get("ref")
            node = None if ref is None else WebToolCall(browser, dict(arguments)).node(ref)
            return [javascript.printed(javascript.evaluate(browser, arguments["function"], node))]
    return []


def answered(browser: Browser, action: Any, result: ToolResult) -> Plain:
    """Return what a tool has answered, given the browser after the call."""
    said = expected(browser, action)
    if not result.errors:
        said.pop("code", None)
        said |= {"code": list(result.code)} if result.code else {}
        if "tabs" not in said:
            said.pop("results", None)
            said |= {"results": list(result.results)} if result.results else {}
        return said
    wanted = result.errors[0]
    vain = _VAIN.fullmatch(wanted)
    words = [*ERRORS, *([vain[1]] if vain else [])]
    found = (word for word in words if _error(browser, {**said, "error": word}) == wanted)
    return said | {"error": next(found, wanted)}


def text_of(browser: Browser, said: Mapping[str, Any]) -> str:
    """Return the text of an answer, given the browser after the call.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: There is no such answer.
    """
    if "error" in said:
        modal = modal_lines(browser) if said["error"] == "modal" else []
        return ToolResult(errors=[_error(browser, said)], modal=modal).text()
    result = ToolResult(code=list(said.get("code", ())), results=list(said.get("results", ())))
    if said.get("tabs"):
        result.results = tab_lines([(tab.title, tab.url) for tab in browser.tabs], browser.current)
    show(browser, result, not said.get("quiet"))
    return result.text()


def _error(browser: Browser, said: Mapping[str, Any]) -> str:
    word = said["error"]
    if word == "ref":
        return missing(said.get("ref", ""))
    if word in ("modal", "none"):
        return not_handled(said.get("tool", "")) if word == "modal" else unrelated(said.get("tool", ""))
    if not isinstance(word, str):
        raise TypeError(f"an error is a text, and not {json.dumps(word)[:80]}")
    page, tool, ref = browser.page, said.get("tool", ""), said.get("ref", "")
    if tool not in _CALLS or ref not in page.listed or word.startswith(("Error", "TimeoutError")):
        return word
    node = page.nodes[page.listed[ref]]
    node = field_of(page, node) if tool in ("browser_type", "browser_select_option") else node
    tag = f"<{node.tag}>…</{node.tag}>" if word in _WITHOUT else tag_of(page, node)
    return timeout_error(_CALLS[tool], ref, word, tag)
