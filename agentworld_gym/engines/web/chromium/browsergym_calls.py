"""BrowserGym's calls in Chromium."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from agentworld_gym.engines.web.chromium.call import PATIENCE_MS, ChromiumCall
from agentworld_gym.engines.web.chromium.playwright_tools import TOOLS
from agentworld_gym.engines.web.strings import single_quoted
from agentworld_gym.engines.web.tools.browsergym_calls import (
    MAX_MESSAGE,
    TOOL_CALLS,
    file_names,
    option_arguments,
    tool_arguments,
    wait_seconds,
    wheel_pixels,
)

ChromiumTool = Callable[[ChromiumCall], Awaitable[None]]


def _by_tool(tool: str, fixed: Mapping[str, Any]) -> ChromiumTool:
    async def act(call: ChromiumCall) -> None:
        call.arguments = {**tool_arguments(call.arguments), **fixed}
        await TOOLS[tool](call)

    return act


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


async def _select(call: ChromiumCall) -> None:
    call.arguments = option_arguments(call.arguments)
    await TOOLS["browser_select_option"](call)


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
        **{name: _by_tool(tool, fixed) for name, (tool, fixed) in TOOL_CALLS.items()},
        "noop": _noop,
        "send_msg_to_user": _send_message,
        "report_infeasible": _report_infeasible,
        "scroll": _scroll,
        "select_option": _select,
        "press": _press,
        "focus": _focus,
        "upload_file": _upload,
    }
)
"""Every call by its name, as Chromium acts it out."""
