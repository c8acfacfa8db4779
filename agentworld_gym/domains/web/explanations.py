"""Explains the answers of a browser: the element that a tool touches, and the page that opens or changes."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.domains.web.actions import reference as reference_of
from agentworld_gym.recipe.thinking.explainers.screens import called, explain_screen
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, plain, read_call, several

_URL = re.compile(r"^- Page URL: (.*)$", re.MULTILINE)
_TITLE = re.compile(r"^- Page Title: (.*)$", re.MULTILINE)
_CODE = "### Ran Playwright code\n```js\n"
_OWN = re.compile(r"(?:tab|browser|cookie|session)/")
_VERBS = {
    "browser_click": "clicks",
    "click": "clicks",
    "browser_type": "types into",
    "fill": "fills",
    "browser_select_option": "chooses in",
    "select_option": "chooses in",
    "browser_hover": "points at",
}
_SAID = ("url", "text", "values", "key", "value", "accept", "promptText", "options", "1")


def explain(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a page."""
    return explain_screen(turn, _touched, _OWN, _address, _tool)


def _touched(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
    name, arguments = read_call(turn.action)
    handle = str(arguments.get("ref", arguments.get("bid", arguments.get("0", ""))))
    reference = str(reference_of(handle))
    node = next((node for node in nodes if str(node.handle) == reference), None)
    said = [quote for key, value in arguments.items() if key in _SAID and (quote := turn.cite(_text(value), 80))]
    verb = _VERBS.get(name, f"calls {turn.cite(name) or 'a tool'} on")
    if node is None and not reference.startswith("e"):
        return f"The agent calls {turn.cite(name) or 'a tool'}" + (f" with {several(said)}" if said else ""), []
    asks = f"The agent {verb} {called(turn, node)}" + (f", with {several(said)}" if said else "")
    return asks, _of_node(turn, node, reference)


def _tool(turn: Situation) -> str:
    """Describe an error, or the code that ran where no page is shown."""
    text = turn.observation
    if text.startswith("### Error"):
        message = next((line for line in text.split("\n")[1:] if line.strip()), "")
        return f"That cannot be done: the tool reports {turn.show(message, 100)}, and the page stays as it was"
    if text == turn.before or not text.startswith(_CODE) or read_screen(turn.domain, text):
        return ""
    code = text.removeprefix(_CODE).partition("\n```")[0].split("\n")
    return f"The tool tells the code that ran, {turn.show(code[-1], 100)}, and does not show the page"


def _of_node(turn: Situation, node: ScreenNode | None, reference: str) -> list[str]:
    if node is None:
        return [f"The reference {turn.cite(reference)} is not in the snapshot"] if turn.cite(reference) else []
    address = node.value("url")
    clauses = [f"It leads to {quote}"] if address and (quote := turn.cite(address)) else []
    states = [flag for flag in node.flags if flag in ("checked", "disabled", "selected", "expanded")]
    return [*clauses, *([f"It is {' and '.join(states)}"] if states else [])]


def _address(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> str:
    """Describe the page that is open, if that is another one than before."""
    old, new = _found(_URL, turn.before), _found(_URL, turn.observation)
    if old == new or not new:
        return ""
    title = turn.show(_found(_TITLE, turn.observation), 80)
    return f"its address is {turn.show(new, 100)}" + (f" and its title {title}" if title else "")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else plain(value)
