"""Calls such as `click(ref="e9")` in texts: writing them, reading them, and finding them among other words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*\(\s*")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_NEXT = re.compile(r"\s*(?:,\s*|(\)\s*)\Z)")
_DECODER = json.JSONDecoder()


def call_text(call: Mapping[str, Any]) -> str:
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
