"""The tool `browser_evaluate` in Chromium: a script of the agent, with a time limit."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.web.engine.browser.browser import Refusal
from agentworld_gym.domains.web.engine.chromium.call import ChromiumCall
from agentworld_gym.domains.web.engine.strings import single_quoted

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

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
