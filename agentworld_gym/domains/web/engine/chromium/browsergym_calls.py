"""The calls of BrowserGym that no tool acts out, in Chromium."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from agentworld_gym.domains.web.engine.chromium.call import PATIENCE_MS, ChromiumCall
from agentworld_gym.domains.web.engine.strings import single_quoted
from agentworld_gym.domains.web.engine.tools.browsergym_calls import (
    MAX_MESSAGE,
    file_names,
    wait_seconds,
    wheel_pixels,
)

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
