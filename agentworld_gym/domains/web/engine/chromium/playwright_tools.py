"""The tools of Playwright's MCP server in Chromium."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.browser.browser import MAX_TABS, Refusal
from agentworld_gym.domains.web.engine.browser.keyboard import MODIFIERS
from agentworld_gym.domains.web.engine.chromium.call import PATIENCE_MS, ChromiumCall
from agentworld_gym.domains.web.engine.strings import single_quoted
from agentworld_gym.domains.web.engine.tools.result import tab_lines

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

    from agentworld_gym.domains.web.engine.chromium.browser import ChromiumBrowser


async def _navigate(call: ChromiumCall) -> None:
    url = addresses.from_address_bar(call.text("url"))
    if reason := addresses.refusal(url) if url else addresses.INVALID:
        raise Refusal(reason)
    try:
        await call.tab.run_until_modal(call.tab.page.goto(url))
    except Exception:
        await call.tab.wait_for_error_page()
        raise
    call.ran(f"await page.goto({single_quoted(url)});")


def _travel(back: bool) -> Callable[[ChromiumCall], Awaitable[None]]:
    async def travel(call: ChromiumCall) -> None:
        page = call.tab.page
        await call.tab.run_until_modal(page.go_back() if back else page.go_forward())
        call.ran(f"await page.{'goBack' if back else 'goForward'}();")

    return travel


async def _snapshot(call: ChromiumCall) -> None:
    await call.tab.wait_for_refresh()


async def _click(call: ChromiumCall) -> None:
    locator, code = await call.locator("ref")
    twice = call.arguments.get("doubleClick") is True
    button = call.arguments.get("button")
    modifiers = call.arguments.get("modifiers")
    held = [key for key in modifiers if key in sorted(MODIFIERS)] if isinstance(modifiers, list) else []
    options: dict[str, Any] = {"timeout": PATIENCE_MS}
    printed = []
    if button in ("right", "middle"):
        options["button"] = button
        printed.append(f"button: {single_quoted(button)}")
    if held:
        options["modifiers"] = held
        printed.append(f"modifiers: [{', '.join(map(single_quoted, held))}]")
    tabs = len(call.browser.tabs)
    opens = await locator.evaluate("element => !!element.closest('a[target=_blank]')", timeout=PATIENCE_MS)
    await call.tab.run_until_modal(locator.dblclick(**options) if twice else locator.click(**options))
    if opens and not call.tab.is_open and tabs < MAX_TABS:
        await call.browser.wait_for_tabs(tabs + 1)
    call.ran(
        f"await page.{code}.{'dblclick' if twice else 'click'}({'{ ' + ', '.join(printed) + ' }' if printed else ''});"
    )


async def _type(call: ChromiumCall) -> None:
    locator, code = await call.locator("ref")
    text = call.text("text")
    if call.arguments.get("slowly") is True:
        await call.tab.run_until_modal(locator.press_sequentially(text, timeout=PATIENCE_MS * 4))
        call.ran(f"await page.{code}.pressSequentially({single_quoted(text)});")
    else:
        await call.tab.run_until_modal(locator.fill(text, timeout=PATIENCE_MS))
        call.ran(f"await page.{code}.fill({single_quoted(text)});")
    if call.arguments.get("submit") is True and not call.tab.is_open:
        await call.tab.run_until_modal(locator.press("Enter", timeout=PATIENCE_MS))
        call.ran(f"await page.{code}.press('Enter');")


async def _fill_form(call: ChromiumCall) -> None:
    fields = call.arguments.get("fields")
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        raise Refusal("Error: Invalid arguments: fields: expected array of objects")
    for field in fields[:100]:
        locator, code = await call.locator("ref", field.get("ref") or "")
        kind, value = field.get("type"), field.get("value")
        value = value if isinstance(value, str) else json.dumps(value)
        if kind in ("checkbox", "radio"):
            await call.tab.run_until_modal(locator.set_checked(value == "true", timeout=PATIENCE_MS))
            call.ran(f"await page.{code}.{'check' if value == 'true' else 'uncheck'}();")
        elif kind == "combobox":
            await call.tab.run_until_modal(locator.select_option(label=value, timeout=PATIENCE_MS))
            call.ran(f"await page.{code}.selectOption({single_quoted(value)});")
        else:
            await call.tab.run_until_modal(locator.fill(value, timeout=PATIENCE_MS))
            call.ran(f"await page.{code}.fill({single_quoted(value)});")
        if call.tab.is_open:
            return


async def _select(call: ChromiumCall) -> None:
    values = call.arguments.get("values")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Refusal("Error: Invalid arguments: values: expected array of strings")
    locator, code = await call.locator("ref")
    await call.tab.run_until_modal(locator.select_option(values[:100], timeout=PATIENCE_MS))
    printed = single_quoted(values[0]) if len(values) == 1 else f"[{', '.join(map(single_quoted, values))}]"
    call.ran(f"await page.{code}.selectOption({printed});")


async def _hover(call: ChromiumCall) -> None:
    locator, code = await call.locator("ref")
    await locator.hover(timeout=PATIENCE_MS)
    call.ran(f"await page.{code}.hover();")


async def _drag(call: ChromiumCall) -> None:
    start, first = await call.locator("startRef")
    end, second = await call.locator("endRef")
    await call.tab.run_until_modal(start.drag_to(end, timeout=PATIENCE_MS))
    call.ran(f"await page.{first}.dragTo(page.{second});")


async def _press_key(call: ChromiumCall) -> None:
    key = call.text("key")
    await call.tab.run_until_modal(call.tab.page.keyboard.press(key))
    call.ran(f"await page.keyboard.press({single_quoted(key)});")


async def _handle_dialog(call: ChromiumCall) -> None:
    tab, dialog = call.tab, call.tab.dialog
    if dialog is None:
        raise Refusal(
            'Error: The tool "browser_handle_dialog" can only be used when there is related modal state present.'
        )
    tab.dialog = None
    tab.modal.clear()
    before = tab.navigations
    text = call.arguments.get("promptText")
    if call.arguments.get("accept") is True:
        await (dialog.accept(text) if isinstance(text, str) else dialog.accept())
    else:
        await dialog.dismiss()
    await tab.wait_for_load(before)


async def _file_upload(call: ChromiumCall) -> None:
    tab, chooser, paths = call.tab, call.tab.chooser, call.arguments.get("paths")
    if chooser is None:
        raise Refusal(
            'Error: The tool "browser_file_upload" can only be used when there is related modal state present.'
        )
    tab.chooser = None
    tab.modal.clear()
    if isinstance(paths, list):
        names = [path[:1000] for path in paths[:20] if isinstance(path, str)]
        files = [{"name": name.rsplit("/", 1)[-1], "mimeType": "text/plain", "buffer": b""} for name in names]
        await chooser.set_files(files if chooser.is_multiple() else files[:1])  # type: ignore[arg-type]
        call.ran(f"await fileChooser.setFiles({json.dumps(names, ensure_ascii=False)})")


async def _wait_for(call: ChromiumCall) -> None:
    time, text, gone = (call.arguments.get(name) for name in ("time", "text", "textGone"))
    seconds = float(max(0.0, min(30.0, time))) if isinstance(time, int | float) else None
    wanted, state = (text, "visible") if isinstance(text, str) and text else (gone, "hidden")
    if isinstance(wanted, str) and wanted:
        timeout = PATIENCE_MS if seconds is None else seconds * 1000
        await call.tab.wait_for_refresh()
        await call.tab.page.get_by_text(wanted).first.wait_for(state=state, timeout=timeout)  # type: ignore[arg-type]
        call.ran(
            f"await page.getByText({json.dumps(wanted, ensure_ascii=False)}).first().waitFor({{ state: '{state}' }});"
        )
    elif seconds:
        await asyncio.sleep(seconds)
        if seconds >= 1:
            await call.tab.wait_for_refresh()
        call.ran(f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));")
    else:
        raise Refusal("Error: Either time, text or textGone must be provided")


async def _tabs(call: ChromiumCall) -> None:
    browser, action, index = call.browser, call.arguments.get("action"), call.arguments.get("index")
    if action == "new":
        if len(browser.tabs) >= MAX_TABS:
            raise Refusal(f"Error: browserContext.newPage: the browser has {MAX_TABS} tabs open already")
        await browser.context.new_page()
        browser.current = len(browser.tabs) - 1
    elif action in ("close", "select"):
        if index is None and action == "select":
            raise Refusal("Error: Tab index is required")
        place = browser.current if index is None else index
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(browser.tabs):
            raise Refusal(f"Error: Tab {str(place)[:20]} not found")
        if action == "close":
            await close_tab(browser, place)
        else:
            browser.current = place
    elif action != "list":
        raise Refusal("Error: Invalid arguments: action: expected one of list|new|close|select")
    call.result.results += tab_lines(await browser.headers(), browser.current)
    call.shows_page = action != "list"


async def close_tab(browser: ChromiumBrowser, index: int) -> None:
    """Close a tab, and show its neighbour. The last tab leaves an empty one."""
    tab = browser.tabs.pop(index)
    if tab.dialog is not None:
        await tab.dialog.dismiss()
    await tab.page.close()
    if not browser.tabs:
        await browser.context.new_page()
    browser.current = max(0, min(browser.current - (browser.current > index), len(browser.tabs) - 1))


async def _close(call: ChromiumCall) -> None:
    await close_tab(call.browser, call.browser.current)
    call.ran("await page.close()")


async def _console(call: ChromiumCall) -> None:
    messages = call.tab.console
    call.result.results += [f"Total messages: {len(messages)} (Errors: {len(messages)}, Warnings: 0)", "", *messages]
    call.shows_page = False


async def _network(call: ChromiumCall) -> None:
    call.result.results += call.tab.requests[-200:] or ["No requests since the page was loaded."]
    call.shows_page = False


async def _resize(call: ChromiumCall) -> None:
    width, height = (call.arguments.get(name) for name in ("width", "height"))
    if not all(
        isinstance(side, int) and not isinstance(side, bool) and 1 <= side <= 10_000 for side in (width, height)
    ):
        raise Refusal("Error: page.setViewportSize: width and height must be whole numbers from 1 to 10000")
    await call.tab.page.set_viewport_size({"width": int(width or 1), "height": int(height or 1)})
    call.ran(f"await page.setViewportSize({{ width: {width}, height: {height} }});")


SCRIPT_S = 5.0
"""The time limit of a script in seconds."""


async def run_script(call: ChromiumCall) -> None:
    """Run a script, and answer with its value or with the dialog that it opens.

    Raises:
        Refusal: The script takes too long.
    """
    source = call.text("function")
    values: list[Any] = []
    target: Page | Locator
    if call.arguments.get("ref") is None:
        target, where = call.tab.page, "page"
    else:
        target, code = await call.locator("ref")
        where = f"page.{code}"

    async def read() -> None:
        values.append(await asyncio.wait_for(target.evaluate(source), SCRIPT_S))

    tab = call.tab
    # A busy page answers nothing, so the connection that can stop its script is made before.
    tab.line = tab.line or await call.browser.context.new_cdp_session(tab.page)
    try:
        await tab.run_until_modal(read())
    except TimeoutError:
        with suppress(Exception):
            await asyncio.wait_for(tab.line.send("Runtime.terminateExecution"), SCRIPT_S)
        raise Refusal(f"TimeoutError: {where}.evaluate: Timeout {SCRIPT_S * 1000:.0f}ms exceeded.") from None
    call.shows_page = tab.is_open
    call.result.results += [
        "undefined" if value is None else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        for value in values
    ]
    call.ran(f"await {where}.evaluate({single_quoted(source)});")


ChromiumTool = Callable[[ChromiumCall], Awaitable[None]]

TOOLS: dict[str, ChromiumTool] = {
    "browser_navigate": _navigate,
    "browser_navigate_back": _travel(True),
    "browser_navigate_forward": _travel(False),
    "browser_snapshot": _snapshot,
    "browser_click": _click,
    "browser_type": _type,
    "browser_fill_form": _fill_form,
    "browser_select_option": _select,
    "browser_hover": _hover,
    "browser_drag": _drag,
    "browser_press_key": _press_key,
    "browser_handle_dialog": _handle_dialog,
    "browser_file_upload": _file_upload,
    "browser_evaluate": run_script,
    "browser_wait_for": _wait_for,
    "browser_tabs": _tabs,
    "browser_console_messages": _console,
    "browser_network_requests": _network,
    "browser_resize": _resize,
    "browser_close": _close,
}
