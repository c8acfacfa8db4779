"""The calls of a browser in two dialects: Playwright's tools, which an action is read into, and BrowserGym's calls.

>>> click = as_tool_call({"name": "click", "arguments": {"bid": "9"}})
>>> click
{'name': 'browser_click', 'arguments': {'ref': 'e9'}}
>>> call_text(click), browsergym_text(click)
('browser_click(ref="e9")', "click('9')")
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

Call = Mapping[str, Any]
"""A call `{"name": …, "arguments": {…}}`."""

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
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*\(\s*")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_NEXT = re.compile(r"\s*(?:,\s*|(\)\s*)\Z)")


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


def call_text(call: Call) -> str:
    """Write a call with its arguments by name, as JSON.

    >>> print(call_text({"name": "browser_type", "arguments": {"ref": "e7", "text": "Zoë", "submit": True}}))
    browser_type(ref="e7", text="Zoë", submit=true)
    """
    arguments = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call["arguments"].items())
    return f"{call['name']}({', '.join(arguments)})"


def read_call_text(text: str) -> tuple[str, dict[str, str]] | None:
    """Read what `call_text` writes: the name, and the arguments as JSON; None where the text is something else.

    >>> read_call_text('browser_wait_for(time=2, text="a, b=1")')
    ('browser_wait_for', {'time': '2', 'text': '"a, b=1"'})
    >>> read_call_text("click('e9')") is None
    True
    """
    begin = _NAME.match(text)
    if begin is None:
        return None
    arguments: dict[str, str] = {}
    at = begin.end()
    if text[at:].rstrip() == ")":
        return begin[1], arguments
    while (key := _KEY.match(text, at)) and key[1] not in arguments:
        try:
            _, end = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            return None
        arguments[key[1]] = text[key.end() : end]
        follows = _NEXT.match(text, end)
        if follows is None:
            return None
        if follows[1]:
            return begin[1], arguments
        at = follows.end()
    return None


_DECODER = json.JSONDecoder()


def calls_in(text: str) -> tuple[tuple[str, ...], str]:
    """Return the calls with literal arguments that stand in a text, in their order, and what stands between them.

    Comments of Python are neither. A text among the arguments may hold line breaks.

    >>> calls_in("I fill it in:\\nfill('7', 'a (b)')  # not click('1')\\nclick('9')")
    (("fill('7', 'a (b)')", "click('9')"), 'I fill it in:')
    """
    calls, between, place = [], "", 0
    while place < len(text):
        if comment := _COMMENT.match(text, place):
            place = comment.end()
        elif (begin := _NAME.match(text, place)) and (end := _end_of_call(text, begin.end())):
            call = _LINE_BREAK_IN_TEXT.sub(_escaped, text[begin.start(1) : end])
            if _is_literal(call):
                calls.append(call)
                place = end
            else:
                between, place = between + text[place : begin.end()], begin.end()
        else:
            word = _WORD.match(text, place)
            after = word.end() if word else place + 1
            between, place = between + text[place:after], after
    return tuple(calls), between.strip()


def _end_of_call(text: str, place: int) -> int:
    """Return where the parenthesis closes that was opened before a place; 0 where it does not."""
    depth = 1
    while depth and (piece := _PIECE.search(text, place)):
        place = piece.end()
        depth += (piece[0] in "([{") - (piece[0] in ")]}")
    return place if not depth else 0


def _escaped(quoted: re.Match[str]) -> str:
    return quoted[0].replace("\\\n", "").replace("\r", "\\r").replace("\n", "\\n")


def _is_literal(call: str) -> bool:
    try:
        tree = ast.parse(call, mode="eval").body
        arguments = [*tree.args, *(word.value for word in tree.keywords)] if isinstance(tree, ast.Call) else []
        for argument in arguments:
            if not (isinstance(argument, ast.Name) and argument.id in ("true", "false", "null")):
                ast.literal_eval(argument)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    return isinstance(tree, ast.Call)


_WORD = re.compile(r"\s+|\w+")
_COMMENT = re.compile(r"\s*#[^\n]*")
_QUOTED = r"'(?:[^'\\]|\\[\s\S])*'|\"(?:[^\"\\]|\\[\s\S])*\""
_LINE_BREAK_IN_TEXT = re.compile(_QUOTED)
_PIECE = re.compile(rf"{_QUOTED}|[()\[\]{{}}]")


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
