"""Reads pages as the tools of Playwright show them, and as the tree of BrowserGym does."""

from __future__ import annotations

import ast
import json
import re

from agentworld_gym.core.screens.node import ScreenNode

QUIET_TOOLS = frozenset({"browser_type", "browser_fill_form", "browser_press_key", "browser_select_option"})
"""The tools that answer with the code that ran, and not with the page."""

_START = re.compile(r"(?m)^(?:### Snapshot|- Page Snapshot:?)\s*$")
_PAGE = re.compile(r"(?ms)^### (?:Open tabs|Page)\n.*?^### Snapshot\n```yaml\n.*?^```$")
_URL = re.compile(r"(?m)^(?:- Page )?URL: (.*)$")
_TITLE = re.compile(r"(?m)^- Page Title: (.*)$")
_ROOT = re.compile(r"(?m)^RootWebArea ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_ITEM = re.compile(
    r"(?P<role>/?[A-Za-z][\w-]*)"
    r'(?: "(?P<name>(?:[^"\\]|\\.)*)")?'
    r"(?P<attributes>(?: \[[^\]]*\])*)"
    r"(?P<colon>:(?: (?P<value>.*))?)?"
)
_ATTRIBUTE = re.compile(r"\[([^\]]*)\]")
_SINGLE = re.compile(r"'((?:[^']|'')*)'(:(?: .*)?)?$")
_BID = re.compile(
    r"(?P<indent>[\t ]*)(?:\[(?P<bid>\w+)\] )?(?P<role>[A-Za-z]\w*)"
    r"(?: (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))"
    r"(?: value=(?P<value>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?"
    r"(?P<flags>(?:, [^,]+)*)"
)


def read(observation: str) -> list[ScreenNode]:
    """Return the nodes of a snapshot section, or of a `bid` tree; there are none where no page is shown.

    A bid that is a number is the number of the reference which the element has in a snapshot: the handle is `e12`.
    """
    begin = _START.search(observation)
    if begin is None:
        return _bids(observation)
    first = observation.count("\n", 0, begin.end()) + 1
    lines = observation[begin.end() + 1 :].split("\n")
    if lines and lines[0].startswith("```"):
        lines, first = lines[1:], first + 1
    nodes: list[ScreenNode] = []
    for number, line in enumerate(lines, first):
        if line.startswith(("```", "### ")):
            break
        body = line.lstrip(" ")
        if body.startswith("- "):
            _add(nodes, body[2:], (len(line) - len(body)) // 2, number)
    return nodes


def location(observation: str) -> tuple[str, str]:
    """Return the address and the title of the page; they are empty where the observation does not name them.

    >>> location("### Page\\n- Page URL: https://a.example/\\n- Page Title: A")
    ('https://a.example/', 'A')
    """
    url = _URL.search(observation)
    title = _TITLE.search(observation)
    if title is None and (root := _ROOT.search(observation)) is not None:
        return url[1].strip() if url else "", _literal(root[1])
    return url[1].strip() if url else "", title[1].strip() if title else ""


def is_page(observation: str) -> bool:
    """Whether an observation shows a page, which may be empty.

    >>> is_page("### Snapshot"), is_page("### Error")
    (True, False)
    """
    return _START.search(observation) is not None or _ROOT.search(observation) is not None


def page_of(observation: str) -> str:
    """Return the part of an observation that shows the page, without the code that ran and what was reported.

    An observation that holds no page in this form stays as it is.

    >>> page = "### Page\\n- Page URL: https://a.example/\\n### Snapshot\\n```yaml\\n- main [ref=e2]\\n```"
    >>> page_of(f"### Ran Playwright code\\n```js\\nawait page.goBack();\\n```\\n{page}\\n### Events\\n- a") == page
    True
    """
    match = _PAGE.search(observation)
    return observation if match is None else match[0]


def _add(nodes: list[ScreenNode], item: str, depth: int, line: int) -> None:
    """Read one item; a property such as `/url` becomes a flag of the node above it."""
    if item.startswith("'") and (quoted := _SINGLE.match(item)):
        item = quoted[1].replace("''", "'") + (quoted[2] or "")
    match = _ITEM.fullmatch(item)
    if match is None:
        return
    role, name, attributes, _, value = match.groups()
    text = _scalar(value) if value else ""
    if role.startswith("/"):
        for place in range(len(nodes) - 1, -1, -1):
            if nodes[place].depth < depth:
                nodes[place] = nodes[place]._replace(flags=(*nodes[place].flags, f"{role[1:]}={text}"))
                return
        return
    ref, flags = None, []
    if attributes:
        for attribute in _ATTRIBUTE.findall(attributes):
            if attribute.startswith("ref="):
                ref = attribute[4:]
            else:
                flags.append(attribute)
    if name and "\\" in name:
        name = _json(f'"{name}"')
    nodes.append(ScreenNode(role, name or "", text, "", ref, None, tuple(flags), depth, line))


def _scalar(value: str) -> str:
    value = value.strip()
    if value.startswith('"'):
        return _json(value)
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


def _json(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')


def _bids(observation: str) -> list[ScreenNode]:
    nodes: list[ScreenNode] = []
    if "] " not in observation and "RootWebArea" not in observation:
        return nodes
    lines = observation.split("\n")
    for number, line in enumerate(lines):
        match = _BID.fullmatch(line)
        if match is None or (match["bid"] is None and match["role"] not in ("RootWebArea", "StaticText")):
            continue
        flags = tuple(flag.strip() for flag in match["flags"].split(", ") if flag.strip())
        name, text = _literal(match["name"]), _literal(match["value"])
        ref = f"e{match['bid']}" if (match["bid"] or "").isdigit() else match["bid"]
        nodes.append(ScreenNode(match["role"], name, text, "", ref, None, flags, len(match["indent"]), number))
    return nodes


def _literal(text: str | None) -> str:
    if not text:
        return ""
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text[1:-1]
