"""The calls of BrowserGym that no tool acts out; the readers of their arguments serve Chromium as well."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from agentworld_gym.domains.web.engine.browser import keyboard
from agentworld_gym.domains.web.engine.browser.actionability import require_actionable
from agentworld_gym.domains.web.engine.browser.browser import Refusal
from agentworld_gym.domains.web.engine.document.focus import focusable
from agentworld_gym.domains.web.engine.strings import single_quoted
from agentworld_gym.domains.web.engine.tools.call import WebToolCall
from agentworld_gym.domains.web.engine.tools.playwright_tools import set_files

MAX_MESSAGE = 4_000
MAX_WHEEL = 2**31
"""Beyond this many pixels the wheel does not turn."""


def wait_seconds(arguments: Mapping[str, Any]) -> float:
    """Return how long `noop` waits, at most 30 seconds.

    >>> wait_seconds({}), wait_seconds({"wait_ms": 250}), wait_seconds({"wait_ms": "long"})
    (1.0, 0.25, 1.0)
    """
    wait = arguments.get("wait_ms", 1000)
    return min(30_000, max(0, wait)) / 1000 if isinstance(wait, int | float) else 1.0


def wheel_pixels(arguments: Mapping[str, Any]) -> tuple[float, float]:
    """Return how far `scroll` turns the wheel, in pixels to the right and down.

    >>> wheel_pixels({"delta_x": 0, "delta_y": 120}), wheel_pixels({"delta_y": "far"})
    ((0, 120), (0, 0))
    """
    pixels = [arguments.get(name) for name in ("delta_x", "delta_y")]
    x, y = (number if isinstance(number, int | float) and abs(number) < MAX_WHEEL else 0 for number in pixels)
    return x, y


def file_names(arguments: Mapping[str, Any]) -> list[str]:
    """Return the files that `upload_file` names, at most 20.

    >>> file_names({"bid": "e4", "file": "plan.txt"})
    ['plan.txt']

    Raises:
        Refusal: `file` is neither a path nor an array of paths.
    """
    paths = arguments.get("file")
    names = [paths] if isinstance(paths, str) else paths
    if not isinstance(names, list):
        raise Refusal("Error: Invalid arguments: file: expected a path or an array of paths")
    return [name[:1000] for name in names[:20] if isinstance(name, str)]


def _noop(call: WebToolCall) -> None:
    seconds = wait_seconds(call.arguments)
    if seconds >= 1:
        call.browser.settle()
    call.ran(f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));")


def _send_message(call: WebToolCall) -> None:
    call.result.results.append(f"Message: {call.text('text')[:MAX_MESSAGE]}")


def _report_infeasible(call: WebToolCall) -> None:
    call.result.results.append(f"Infeasible: {call.text('reason')[:MAX_MESSAGE]}")


def _scroll(call: WebToolCall) -> None:
    x, y = wheel_pixels(call.arguments)
    call.ran(f"await page.mouse.wheel({x:g}, {y:g});")


def _press(call: WebToolCall) -> None:
    _focus(call, "press")
    keys = call.text("key_comb")
    keyboard.press(call.browser, keys)
    call.result.code[-1] = call.result.code[-1].replace(".focus()", f".press({single_quoted(keys)})")


def _focus(call: WebToolCall, verb: str = "focus") -> None:
    ref = call.arguments.get("bid")
    node = call.node(ref)
    locator = call.locator(node)
    require_actionable(call.browser.page, node, str(ref), verb, enabled=False)
    if focusable(call.browser.page, node):
        call.browser.page.give_focus(node.index)
    call.ran(f"await page.{locator}.focus();")


def _upload(call: WebToolCall) -> None:
    node = call.node(call.arguments.get("bid"))
    if node.tag != "input" or node.type != "file":
        raise Refusal("Error: locator.setInputFiles: Error: Node is not an HTMLInputElement")
    names = file_names(call.arguments)
    locator = call.locator(node)
    set_files(call.browser, node, names)
    call.ran(f"await page.{locator}.setInputFiles({json.dumps(names, ensure_ascii=False)});")


CALLS: Mapping[str, Callable[[WebToolCall], None]] = MappingProxyType(
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
"""The calls by name, as the simulated browser acts them out."""
