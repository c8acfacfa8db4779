"""BrowserGym's calls, the second dialect: each is acted out by the tool that does the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.engines.web import keyboard
from agentworld_gym.engines.web.actionable import require
from agentworld_gym.engines.web.browser import Refusal
from agentworld_gym.engines.web.focus import focusable
from agentworld_gym.engines.web.text import single_quoted
from agentworld_gym.engines.web.tools import TOOLS, Call, set_files

MAX_MESSAGE = 4_000


def arguments_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """BrowserGym's arguments under the names that the tools have.

    >>> arguments_of({"bid": "e4", "value": "Ada"})
    {'ref': 'e4', 'text': 'Ada'}
    """
    names = {"bid": "ref", "value": "text", "from_bid": "startRef", "to_bid": "endRef"}
    return {names.get(name, name): value for name, value in arguments.items()}


def _as(tool: str, **fixed: Any) -> Callable[[Call], None]:
    """The tool of that name."""

    def act(call: Call) -> None:
        call.arguments = {**arguments_of(call.arguments), **fixed}
        TOOLS[tool](call)

    return act


def _noop(call: Call) -> None:
    wait = call.arguments.get("wait_ms", 1000)
    seconds = min(30_000, max(0, wait)) / 1000 if isinstance(wait, int | float) else 1.0
    if seconds >= 1:
        call.browser.settle()
    call.ran(f"await new Promise(f => setTimeout(f, {seconds:g} * 1000));")


MAX_WHEEL = 2**31
"""Beyond this many pixels the wheel does not turn."""


def _say(kind: str) -> Callable[[Call], None]:
    def say(call: Call) -> None:
        call.report.results.append(f"{kind}: {call.text('text' if kind == 'Message' else 'reason')[:MAX_MESSAGE]}")

    return say


def _scroll(call: Call) -> None:
    by = [call.arguments.get(name) for name in ("delta_x", "delta_y")]
    x, y = (number if isinstance(number, int | float) and abs(number) < MAX_WHEEL else 0 for number in by)
    call.ran(f"await page.mouse.wheel({x:g}, {y:g});")


def _select(call: Call) -> None:
    options = call.arguments.get("options")
    call.arguments = {"ref": call.arguments.get("bid"), "values": [options] if isinstance(options, str) else options}
    TOOLS["browser_select_option"](call)


def _press(call: Call) -> None:
    _focus(call, "press")
    keys = call.text("key_comb")
    keyboard.press(call.browser, keys)
    call.report.code[-1] = call.report.code[-1].replace(".focus()", f".press({single_quoted(keys)})")


def _focus(call: Call, verb: str = "focus") -> None:
    ref = call.arguments.get("bid")
    node = call.node(ref)
    where = call.locator(node)
    require(call.browser.page, node, str(ref), verb, enabled=False)
    if focusable(call.browser.page, node):
        call.browser.page.give_focus(node.index)
    call.ran(f"await page.{where}.focus();")


def _upload(call: Call) -> None:
    node, paths = call.node(call.arguments.get("bid")), call.arguments.get("file")
    if node.tag != "input" or node.type != "file":
        raise Refusal("Error: locator.setInputFiles: Error: Node is not an HTMLInputElement")
    names = [paths] if isinstance(paths, str) else paths
    if not isinstance(names, list):
        raise Refusal("Error: Invalid arguments: file: expected a path or an array of paths")
    names = [name[:1000] for name in names[:20] if isinstance(name, str)]
    where = call.locator(node)
    set_files(call.browser, node, names)
    call.ran(f"await page.{where}.setInputFiles({json.dumps(names, ensure_ascii=False)});")


CALLS: dict[str, Callable[[Call], None]] = {
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
