"""BrowserGym's calls over a real browser: each is acted out by the tool that does the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from agentworld_gym.engines.web.browser import Refusal
from agentworld_gym.engines.web.browsergym import MAX_MESSAGE, MAX_WHEEL, arguments_of
from agentworld_gym.engines.web.realtools import PATIENCE_MS, TOOLS, RealCall
from agentworld_gym.engines.web.text import single_quoted

RealTool = Callable[[RealCall], Awaitable[None]]


def _as(tool: str, **fixed: Any) -> RealTool:
    async def act(call: RealCall) -> None:
        call.arguments = {**arguments_of(call.arguments), **fixed}
        await TOOLS[tool](call)

    return act


async def _noop(call: RealCall) -> None:
    wait = call.arguments.get("wait_ms", 1000)
    seconds = min(30_000, max(0, wait)) / 1000 if isinstance(wait, int | float) else 1.0
    await asyncio.sleep(seconds)
    if seconds >= 1:
        await call.tab.refreshed()
    call.ran(f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));")


def _say(kind: str) -> RealTool:
    async def say(call: RealCall) -> None:
        call.report.results.append(f"{kind}: {call.text('text' if kind == 'Message' else 'reason')[:MAX_MESSAGE]}")

    return say


async def _scroll(call: RealCall) -> None:
    by = [call.arguments.get(name) for name in ("delta_x", "delta_y")]
    x, y = (number if isinstance(number, int | float) and abs(number) < MAX_WHEEL else 0 for number in by)
    await call.tab.page.mouse.wheel(x, y)
    call.ran(f"await page.mouse.wheel({x:g}, {y:g});")


async def _select(call: RealCall) -> None:
    options = call.arguments.get("options")
    call.arguments = {"ref": call.arguments.get("bid"), "values": [options] if isinstance(options, str) else options}
    await TOOLS["browser_select_option"](call)


async def _press(call: RealCall) -> None:
    locator, code = await call.locator("bid")
    keys = call.text("key_comb")
    await call.tab.guarded(locator.press(keys, timeout=PATIENCE_MS))
    call.ran(f"await page.{code}.press({single_quoted(keys)});")


async def _focus(call: RealCall) -> None:
    locator, code = await call.locator("bid")
    await locator.focus(timeout=PATIENCE_MS)
    call.ran(f"await page.{code}.focus();")


async def _upload(call: RealCall) -> None:
    locator, code = await call.locator("bid")
    paths = call.arguments.get("file")
    names = [paths] if isinstance(paths, str) else paths
    if not isinstance(names, list):
        raise Refusal("Error: Invalid arguments: file: expected a path or an array of paths")
    names = [name[:1000] for name in names[:20] if isinstance(name, str)]
    files: list[Any] = [{"name": name.rsplit("/", 1)[-1], "mimeType": "text/plain", "buffer": b""} for name in names]
    await locator.set_input_files(files, timeout=PATIENCE_MS)
    call.ran(f"await page.{code}.setInputFiles({json.dumps(names, ensure_ascii=False)});")


CALLS: dict[str, RealTool] = {
    "noop": _noop,
    "send_msg_to_user": _say("Message"),
    "report_infeasible": _say("Infeasible"),
    "scroll": _scroll,
    "fill": _as("browser_type"),
    "select_option": _select,
    "click": _as("browser_click"),
    "dblclick": _as("browser_click", doubleClick=True),
    "hover": _as("browser_hover"),
    "press": _press,
    "keyboard_press": _as("browser_press_key"),
    "focus": _focus,
    "clear": _as("browser_type", text=""),
    "drag_and_drop": _as("browser_drag"),
    "upload_file": _upload,
    "tab_close": _as("browser_tabs", action="close"),
    "tab_focus": _as("browser_tabs", action="select"),
    "new_tab": _as("browser_tabs", action="new"),
    "go_back": _as("browser_navigate_back"),
    "go_forward": _as("browser_navigate_forward"),
    "goto": _as("browser_navigate"),
}

FREE = frozenset({"browser_handle_dialog", "browser_file_upload", "browser_tabs", "browser_navigate", "browser_close"})


async def called(call: RealCall, name: str) -> None:
    """Run a tool by its name, of either dialect.

    Raises:
        Refusal: there is no such tool, or a dialog has to be handled first.
    """
    tool = TOOLS.get(name) or CALLS.get(name)
    if tool is None:
        raise Refusal(f'Tool "{name[:100]}" not found')
    if call.tab.is_open and name not in FREE:
        raise Refusal(f'Error: Tool "{name}" does not handle the modal state.')
    await tool(call)
