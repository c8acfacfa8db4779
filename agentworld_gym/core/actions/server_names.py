"""Tools under the names of Claude Code, `mcp__SERVER__TOOL`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

_PREFIX = "mcp__"
_MOST_PARTS = 8
_IN_TAGS = re.compile(r"""(<(?:function=|invoke name="))(mcp__[\w.-]+)""")
_IN_A_LINE = re.compile(
    r"^([ \t`]*(?=[\w.-]+\()|[ \t]*\**action\s*:\**[ \t]*`?)(mcp__[\w.-]+)", re.IGNORECASE | re.MULTILINE
)
"""Where the name of a call stands outside JSON."""

Objects = Callable[[str], Iterable[tuple[int, int, Any]]]


def known_tool(name: str, names: Collection[str]) -> str:
    """Return the tool that `mcp__SERVER__TOOL` names, if it is one alone; else the name.

    The server may be the one that the tool's own name begins with, or one that an agent program gave a name.

    >>> known_tool("mcp__shop__list_orders", ["shop-list_orders", "shop-pay"])
    'shop-list_orders'
    >>> known_tool("mcp__agentworld__shop-pay", ["shop-list_orders", "shop-pay"])
    'shop-pay'
    >>> known_tool("mcp__shop__steal", ["shop-list_orders", "shop-pay"])
    'mcp__shop__steal'
    """
    parts = name.removeprefix(_PREFIX).split("__")
    if not name.startswith(_PREFIX) or not 2 <= len(parts) <= _MOST_PARTS or name in names:
        return name
    splits = [("__".join(parts[:place]), "__".join(parts[place:])) for place in range(1, len(parts))]
    meant = {f"{server}-{tool}" for server, tool in splits} & {*names}
    if not meant:
        twice = {tool for tool, count in Counter(one.partition("-")[2] for one in names).items() if count > 1}
        meant = {tool for _, tool in splits if tool not in twice} & {*names}
    return meant.pop() if len(meant) == 1 else name


def with_known_tools(text: str, names: Collection[str], objects: Objects) -> str:
    r"""Return a text whose calls name tools by their own names; what stands in arguments is left alone.

    Args:
        text: The text.
        names: The names of the tools.
        objects: What finds the outermost JSON objects in a text, each with its place.
    """
    if _PREFIX not in text:
        return text
    parts, end = [], 0
    for start, stop, value in objects(text):
        parts += [_outside(text[end:start], names), _call(text[start:stop], value, names)]
        end = stop
    return "".join([*parts, _outside(text[end:], names)])


def _outside(text: str, names: Collection[str]) -> str:
    written = _IN_TAGS if _IN_TAGS.search(text) else _IN_A_LINE
    return written.sub(lambda found: found[1] + known_tool(found[2], names), text)


def _call(text: str, value: Any, names: Collection[str]) -> str:
    """Return a call that names its tool by its own name; any other object, and one that names no tool, as it stands."""
    if not isinstance(value, Mapping):
        return text
    key = next((key for key in ("functionCall", "function") if isinstance(value.get(key), Mapping)), None)
    call = value if key is None else value[key]
    if not isinstance(call.get("name"), str) or (name := known_tool(call["name"], names)) == call["name"]:
        return text
    named = {**call, "name": name}
    return json.dumps(named if key is None else {**value, key: named}, ensure_ascii=False)
