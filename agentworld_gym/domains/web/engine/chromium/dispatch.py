"""Answers the actions of an agent in Chromium: finds the tool of a call, runs it, and shows the page.

The calls of BrowserGym that no tool acts out stand here as well.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.web.engine.browser.browser import Refusal
from agentworld_gym.domains.web.engine.chromium.browser import ChromiumBrowser
from agentworld_gym.domains.web.engine.chromium.call import PATIENCE_MS, ChromiumCall, error_text
from agentworld_gym.domains.web.engine.chromium.playwright_tools import TOOLS
from agentworld_gym.domains.web.engine.strings import single_quoted
from agentworld_gym.domains.web.engine.tools.browsergym_calls import MAX_MESSAGE, file_names, wait_seconds, wheel_pixels
from agentworld_gym.domains.web.engine.tools.call import NO_CALL, read_call
from agentworld_gym.domains.web.engine.tools.result import ToolResult
from agentworld_gym.domains.web.screen_texts import QUIET_TOOLS

WAITING_TOOLS = frozenset({"browser_wait_for", "noop"})
MODAL_TOOLS = frozenset(
    {"browser_handle_dialog", "browser_file_upload", "browser_tabs", "browser_navigate", "browser_close"}
)
"""The tools that may be called while a dialog or a file chooser is open."""
REFERENCES = ("ref", "startRef", "endRef", "bid", "from_bid", "to_bid", "fields")
"""The arguments that name elements."""


async def act(browser: ChromiumBrowser, action: Any, undisturbed: bool = False) -> str:
    """Answer one call of a tool, or several, of which the first error is the last.

    Args:
        browser: The session's browser.
        action: The call, `{"name": ..., "arguments": {...}}`, or a list; anything else is answered with an error.
        undisturbed: Whether no control may strike during the call.
    """
    if not isinstance(action, list):
        return (await _called(browser, action, undisturbed)).text()
    result, done = ToolResult(errors=[NO_CALL]), 0
    for call in action:
        result = await _called(browser, call, undisturbed)
        done += 1
        if result.errors:
            break
    if done > 1 and result.snapshot is None and not result.modal:
        await _show(browser, result, True)
    return result.text()


async def _called(browser: ChromiumBrowser, action: Any, undisturbed: bool) -> ToolResult:
    """Carry out one call and return its result."""
    browser.calls += 1
    read = read_call(action)
    if read is None:
        return ToolResult(errors=[NO_CALL])
    name, arguments = read
    sessions = browser.driver.server.undisturbed
    (sessions.add if undisturbed else sessions.discard)(browser.session)
    call = ChromiumCall(browser, arguments)
    try:
        if name not in WAITING_TOOLS:
            await browser.tab.wait_for_refresh()
        with suspended() if undisturbed else nullcontext():
            await _redraw(browser, arguments)
        await _run(call, name)
    except Refusal as refusal:
        return ToolResult(errors=[str(refusal)], modal=browser.tab.modal_lines())
    except Exception as error:  # The tool answers with whatever Playwright says.
        return ToolResult(errors=[error_text(error)])
    await _show(browser, call.result, call.shows_page and name not in QUIET_TOOLS)
    return call.result


async def _run(call: ChromiumCall, name: str) -> None:
    """Run the tool or the BrowserGym call of that name.

    Raises:
        Refusal: There is no such tool, or a dialog has to be handled first.
    """
    tool = TOOLS.get(name) or CALLS.get(name)
    if tool is None:
        raise Refusal(f'Tool "{name[:100]}" not found')
    if call.tab.is_open and name not in MODAL_TOOLS:
        raise Refusal(f'Error: Tool "{name}" does not handle the modal state.')
    await tool(call)


async def _show(browser: ChromiumBrowser, result: ToolResult, whole: bool) -> None:
    """Show the page; try once more where the tab is just going on to another page."""
    try:
        await browser.show(result, whole)
    except Exception:
        await browser.tab.wait_for_load(browser.tab.navigations - 1)
        await browser.show(result, whole)


async def _redraw(browser: ChromiumBrowser, arguments: Mapping[str, Any]) -> None:
    """Draw the page again where the control `stale-element` strikes, so that all references are out of date."""
    if not any(name in arguments for name in REFERENCES):
        return
    if browser.is_redrawn:
        browser.is_redrawn = False
    elif browser.controls.strikes("stale-element", browser.calls, browser.tab.page.url):
        await browser.tab.page.evaluate("() => document.body.replaceWith(document.body.cloneNode(true))")
        browser.tab.known = frozenset()
        browser.is_redrawn = True


ChromiumTool = Callable[[ChromiumCall], Awaitable[None]]


async def _noop(call: ChromiumCall) -> None:
    seconds = wait_seconds(call.arguments)
    await asyncio.sleep(seconds)
    if seconds >= 1:
        await call.tab.wait_for_refresh()
    call.ran(f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));")


async def _send_message(call: ChromiumCall) -> None:
    call.result.results.append(f"Message: {call.text('text')[:MAX_MESSAGE]}")


async def _report_infeasible(call: ChromiumCall) -> None:
    call.result.results.append(f"Infeasible: {call.text('reason')[:MAX_MESSAGE]}")


async def _scroll(call: ChromiumCall) -> None:
    x, y = wheel_pixels(call.arguments)
    await call.tab.page.mouse.wheel(x, y)
    call.ran(f"await page.mouse.wheel({x:g}, {y:g});")


async def _press(call: ChromiumCall) -> None:
    locator, code = await call.locator("bid")
    keys = call.text("key_comb")
    await call.tab.run_until_modal(locator.press(keys, timeout=PATIENCE_MS))
    call.ran(f"await page.{code}.press({single_quoted(keys)});")


async def _focus(call: ChromiumCall) -> None:
    locator, code = await call.locator("bid")
    await locator.focus(timeout=PATIENCE_MS)
    call.ran(f"await page.{code}.focus();")


async def _upload(call: ChromiumCall) -> None:
    locator, code = await call.locator("bid")
    names = file_names(call.arguments)
    files: list[Any] = [{"name": name.rsplit("/", 1)[-1], "mimeType": "text/plain", "buffer": b""} for name in names]
    await locator.set_input_files(files, timeout=PATIENCE_MS)
    call.ran(f"await page.{code}.setInputFiles({json.dumps(names, ensure_ascii=False)});")


CALLS: Mapping[str, ChromiumTool] = MappingProxyType(
    {
        "noop": _noop,
        "send_msg_to_user": _send_message,
        "report_infeasible": _report_infeasible,
        "scroll": _scroll,
        "press": _press,
        "focus": _focus,
        "upload_file": _upload,
    }
)
"""The calls by name, as Chromium acts them out."""
