"""The calls of a browser in two dialects: Playwright's tools, which an action is read into, and BrowserGym's calls.

>>> click = as_tool_call({"name": "click", "arguments": {"bid": "9"}})
>>> click
{'name': 'browser_click', 'arguments': {'ref': 'e9'}}
>>> call_text(click), browsergym_text(click)
('browser_click(ref="e9")', "click('9')")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agentworld_gym.core.actions.function_calls import call_text, calls_in
from agentworld_gym.core.actions.syntaxes import ActionSyntax, function_call, tool_call
from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction

Call = Mapping[str, Any]
"""A call `{"name": …, "arguments": {…}}`."""

MAX_CALLS = 20
"""How many calls of BrowserGym one action may hold."""

_RENAMED = MappingProxyType({"bid": "ref", "value": "text", "from_bid": "startRef", "to_bid": "endRef"})
_REFERENCES = ("bid", "from_bid", "to_bid")
_SAME: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "fill": ("browser_type", {}),
        "click": ("browser_click", {}),
        "dblclick": ("browser_click", {"doubleClick": True}),
        "hover": ("browser_hover", {}),
        "keyboard_press": ("browser_press_key", {}),
        "select_option": ("browser_select_option", {}),
        "drag_and_drop": ("browser_drag", {}),
        "tab_close": ("browser_tabs", {"action": "close"}),
        "tab_focus": ("browser_tabs", {"action": "select"}),
        "new_tab": ("browser_tabs", {"action": "new"}),
        "go_back": ("browser_navigate_back", {}),
        "go_forward": ("browser_navigate_forward", {}),
        "goto": ("browser_navigate", {}),
        "clear": ("browser_type", {"text": ""}),
    }
)
"""The calls of BrowserGym that a tool acts out as it is: the tool's name, and the arguments that the call fixes."""

_REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fill": ("bid", "value"),
        "click": ("bid",),
        "dblclick": ("bid",),
        "hover": ("bid",),
        "clear": ("bid",),
        "focus": ("bid",),
        "press": ("bid", "key_comb"),
        "select_option": ("bid", "options"),
        "drag_and_drop": ("from_bid", "to_bid"),
        "upload_file": ("bid", "file"),
        "keyboard_press": ("key",),
        "tab_focus": ("index",),
        "goto": ("url",),
        "scroll": ("delta_x", "delta_y"),
        "send_msg_to_user": ("text",),
        "report_infeasible": ("reason",),
    }
)
"""The arguments that BrowserGym's calls write without their names."""

_OPTIONAL = MappingProxyType({"click": ("button", "modifiers"), "dblclick": ("button", "modifiers")})


def as_tool_call(call: Call) -> dict[str, Any]:
    """Return the call of Playwright's tool that does the same as a call of BrowserGym.

    A bid is the number of a reference. A call that no tool acts out keeps its name, as does a tool's own.

    >>> as_tool_call({"name": "select_option", "arguments": {"bid": "e4", "options": "Tea"}})
    {'name': 'browser_select_option', 'arguments': {'ref': 'e4', 'values': ['Tea']}}
    >>> as_tool_call({"name": "press", "arguments": {"bid": "4", "key_comb": "Enter"}})
    {'name': 'press', 'arguments': {'bid': 'e4', 'key_comb': 'Enter'}}
    """
    name, arguments = call["name"], dict(call["arguments"])
    for key in _REFERENCES:
        if key in arguments:
            arguments[key] = reference(arguments[key])
    tool, fixed = _SAME.get(name, (name, {}))
    if tool == name:
        return {"name": name, "arguments": arguments}
    if "options" in arguments:
        options = arguments.pop("options")
        arguments["values"] = [options] if isinstance(options, str) else options
    arguments.pop("enable_autocomplete_menu", None)
    renamed = {_RENAMED.get(key, key): value for key, value in arguments.items()}
    return {"name": tool, "arguments": {**fixed, **renamed} if tool == "browser_tabs" else {**renamed, **fixed}}


def reference(bid: Any) -> Any:
    """Return the reference that a bid of BrowserGym means; a bid that is no number is one already.

    >>> reference("12"), reference("e12")
    ('e12', 'e12')
    """
    return f"e{bid}" if isinstance(bid, str) and bid.isascii() and bid.isdigit() else bid


def bid(ref: Any) -> Any:
    """Return the bid that BrowserGym has for a reference: the inverse of `reference`."""
    return ref[1:] if isinstance(ref, str) and re.fullmatch(r"e[0-9]+", ref) else ref


def browsergym_text(action: Call | Sequence[Call]) -> str:
    """Write a call, or several, as BrowserGym does; one that BrowserGym lacks is written as `call_text` does.

    >>> browsergym_text({"name": "browser_type", "arguments": {"element": "Search", "ref": "e7", "text": "tea"}})
    "fill('7', 'tea')"
    >>> browsergym_text({"name": "browser_handle_dialog", "arguments": {"accept": True}})
    'browser_handle_dialog(accept=true)'
    >>> browsergym_text([{"name": "noop", "arguments": {}}, {"name": "browser_click", "arguments": {"ref": "e9"}}])
    "noop()\\nclick('9')"
    """
    return "\n".join(map(_browsergym_call, action if isinstance(action, Sequence) else (action,)))


def _browsergym_call(call: Call) -> str:
    for name, (tool, fixed) in _SAME.items():
        if tool == call["name"] and (found := _write_call(name, call["arguments"], fixed)) is not None:
            return found
    if call["name"] in _REQUIRED or call["name"] == "noop":
        return _write_call(call["name"], call["arguments"], {}) or call_text(call)
    return call_text(call)


def _write_call(name: str, arguments: Mapping[str, Any], fixed: Mapping[str, Any]) -> str | None:
    """Write arguments as those of one call of BrowserGym; None where they say something that the call cannot say."""
    left = {key: value for key, value in arguments.items() if key not in ("element", "startElement", "endElement")}
    if any(left.pop(key, None) != value for key, value in fixed.items()):
        return None
    said = []
    for key in _REQUIRED.get(name, ()):
        source = next((other for other in (key, _RENAMED.get(key), "values") if other in left), None)
        if source is None:
            return None
        value = left.pop(source)
        said.append(repr(bid(value) if key in _REFERENCES else value))
    optional = _OPTIONAL.get(name, ("wait_ms",) if name == "noop" else ())
    if left.keys() - set(optional):
        return None
    return f"{name}({', '.join([*said, *(f'{key}={left[key]!r}' for key in optional if key in left)])})"


def read_call(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read a tool call or a function call, of Playwright's tools or of BrowserGym, as the call of one of these tools.

    >>> tools = Toolset([{"name": "click", "parameters": {"properties": {"bid": {}}}}], "spec.yaml")
    >>> read_call("click('12')", tools)
    {'name': 'browser_click', 'arguments': {'ref': 'e12'}}
    """
    call = tool_call(text, tools) or function_call(text, tools)
    return None if call is None else as_tool_call(tools.ordered(call))


def read_calls(text: str, tools: Toolset) -> dict[str, Any] | list[dict[str, Any]] | None:
    """Read a call as `read_call` does, or several, as BrowserGym does: what stands between calls is passed over.

    >>> tools = Toolset([{"name": "click", "parameters": {"properties": {"bid": {}}}}], "spec.yaml")
    >>> [call["arguments"] for call in read_calls("click('1') then click('2')", tools)]
    [{'ref': 'e1'}, {'ref': 'e2'}]
    """
    calls, between = ((), "") if text.lstrip().startswith("{") else calls_in(text)
    if not calls or (between and not all(tools.knows(call.partition("(")[0].strip()) for call in calls)):
        return read_call(text, tools)
    if len(calls) > MAX_CALLS:
        raise UnreadableAction(f"the action has {len(calls)} calls, the limit is {MAX_CALLS}")
    read = [call for text in calls if (call := read_call(text, tools)) is not None]
    return read[0] if len(read) == 1 else read


PLAYWRIGHT = ActionSyntax(
    read_call, "a call of a browser's tool", lambda call, _screen: call_text(call), rewrites_own=True, calls_tools=True
)
"""The syntax `playwright_call`."""

BROWSERGYM = ActionSyntax(
    read_calls,
    "calls of BrowserGym",
    lambda action, _screen: browsergym_text(action),
    rewrites_own=True,
    calls_tools=True,
)
"""The syntax `browsergym_call`."""
