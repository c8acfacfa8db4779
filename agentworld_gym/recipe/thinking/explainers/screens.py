"""Explains the next screen: which element an action touches, and whether that opens something, changes it, or does
nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentworld_gym.core.actions.browser_calls import reference as reference_of
from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.recipe.thinking.explainers.state_changes import file_clauses, record_clauses, words
from agentworld_gym.recipe.thinking.situation import Explanation, Situation, plain, read_call, several

_POINT = re.compile(r"(?:pyautogui\.\w+\(|coordinates=\[)(\d+), ?(\d+)")
_URL = re.compile(r"^- Page URL: (.*)$", re.MULTILINE)
_CODE = "### Ran Playwright code\n```js\n"
_TITLE = re.compile(r"^- Page Title: (.*)$", re.MULTILINE)
_VERBS = {
    "browser_click": "clicks",
    "click": "clicks",
    "browser_type": "types into",
    "fill": "fills",
    "browser_select_option": "chooses in",
    "select_option": "chooses in",
    "browser_hover": "points at",
    "double_tap": "taps twice on",
    "long_press": "holds",
    "input_text": "types into",
}


Identity = Callable[[Situation, list[ScreenNode], list[ScreenNode]], str]
"""A function of a turn and the elements before and after it, which describes what is in front now if it is new."""

Doing = Callable[[Situation, list[ScreenNode]], tuple[str, list[str]]]
"""A function of a turn and the elements before it, which returns what the action asks for and what it touches."""


def explain_page(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a page."""
    return _explain(turn, _web, re.compile(r"(?:tab|browser|cookie|session)/"), _address)


def explain_desktop(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a desktop, whose files may change too."""
    own = re.compile(r"(?:pointer|windows/|browser/|order|clipboard|folders/|files/)")
    explanation = _explain(turn, _desktop, own, _front("frame", "dialog"))
    kept = [change for change in turn.changes if change.field.startswith("files/")]
    paths = [change.model_copy(update={"field": change.field.removeprefix("files")}) for change in kept]
    return replace(explanation, changes=[*explanation.changes, *file_clauses(turn, paths, "/")])


def explain_phone(turn: Situation) -> Explanation:
    """Return the parts of the reasoning about a phone."""
    return _explain(turn, _android, re.compile(r"(?:tasks/|front|launcher|keyboard|recents|time)"), _front("TextView"))


def _explain(turn: Situation, doing: Doing, own: re.Pattern[str], identity: Identity) -> Explanation:
    """Explain a turn on a screen.

    Args:
        turn: The turn.
        doing: What tells what the action does.
        own: The fields that only the engine keeps.
        identity: What tells what is in front.
    """
    nodes = read_screen(turn.domain, turn.before)
    asks, reads = doing(turn, nodes)
    changes = record_clauses(turn, lambda field: own.match(field) is None)
    return Explanation(asks, reads, changes, _shows(turn, nodes, identity))


def _web(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
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


_SAID = ("url", "text", "values", "key", "value", "accept", "promptText", "options", "1")


def _android(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
    try:
        action: dict[str, Any] = json.loads(turn.action)
    except ValueError:
        action = {}
    kind = str(action.get("action_type", ""))
    said = [quote for key in ("text", "app_name", "direction") if (quote := turn.cite(str(action.get(key, ""))))]
    if "index" in action:
        node = next((node for node in nodes if node.handle == action["index"]), None)
    elif "x" in action and "y" in action:
        node = _hit(nodes, action["x"], action["y"])
    else:
        asks = f"The agent does {turn.cite(kind) or 'something'}" + (f" with {several(said)}" if said else "")
        return asks, []
    verb = _VERBS.get(kind, f"does {turn.cite(kind) or 'something'} on")
    return f"The agent {verb} {called(turn, node)}" + (f", with {several(said)}" if said else ""), _of_row(
        nodes, node, turn
    )


def _desktop(turn: Situation, nodes: list[ScreenNode]) -> tuple[str, list[str]]:
    lines = [line for line in turn.action.split("\n") if line.strip()]
    quotes = [turn.cite(line, 100) for line in lines]
    asks = f"The code is {several(quotes, 3)}" if any(quotes) else "The code is run line by line"
    reads = []
    for x, y in _POINT.findall(turn.action)[:3]:
        node = _hit(nodes, int(x), int(y))
        reads.append(f"The point {turn.cite(x)}, {turn.cite(y)} lies on {called(turn, node)}")
    if any(call in turn.action for call in ("pyautogui.write", "typewrite", "Agent.type")):
        focused = next((node for node in nodes if "focused" in node.flags or "focused" in node.description), None)
        reads.append(
            f"What is typed goes to {called(turn, focused)}" if focused else "Typing goes to what has the focus"
        )
    return asks, reads


def _of_node(turn: Situation, node: ScreenNode | None, reference: str) -> list[str]:
    if node is None:
        return [f"The reference {turn.cite(reference)} is not in the snapshot"] if turn.cite(reference) else []
    address = node.value("url")
    clauses = [f"It leads to {quote}"] if address and (quote := turn.cite(address)) else []
    states = [flag for flag in node.flags if flag in ("checked", "disabled", "selected", "expanded")]
    return [*clauses, *([f"It is {' and '.join(states)}"] if states else [])]


def _of_row(nodes: list[ScreenNode], node: ScreenNode | None, turn: Situation) -> list[str]:
    """Describe what stands in the row that an element without a name spans, and which of its states are set."""
    if node is None:
        return []
    clauses = []
    if not node.label and node.box is not None:
        inner = [
            other for other in nodes if other.label and other.box and other.line > node.line and _inside(other, node)
        ]
        labels = several([turn.cite(other.label) for other in inner])
        clauses += [f"In it stands {labels}"] if labels else []
    states = [flag for flag in node.flags if flag in ("checked", "disabled", "selected", "focused")]
    return [*clauses, *([f"It is {' and '.join(states)}"] if states else [])]


def _inside(inner: ScreenNode, outer: ScreenNode) -> bool:
    assert inner.box is not None and outer.box is not None
    x, y = inner.box.centre
    return _holds(outer, x, y)


def _hit(nodes: list[ScreenNode], x: Any, y: Any) -> ScreenNode | None:
    """Return the smallest element around a point."""
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        return None
    around = [node for node in nodes if node.box is not None and _holds(node, x, y)]
    return min(around, key=lambda node: node.box.width * node.box.height if node.box else 0, default=None)


def _holds(node: ScreenNode, x: float, y: float) -> bool:
    box = node.box
    return box is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def called(turn: Situation, node: ScreenNode | None) -> str:
    """Return an element's role and name."""
    if node is None:
        return "nothing that the screen lists"
    label = turn.cite(node.label)
    return f"the {words(node.role)} {label}" if label else f"a {words(node.role)} without a name"


def _shows(turn: Situation, before: list[ScreenNode], identity: Identity) -> str:
    text = turn.observation
    if text.startswith("### Error"):
        message = next((line for line in text.split("\n")[1:] if line.strip()), "")
        return f"That cannot be done: the tool reports {turn.show(message, 100)}, and the page stays as it was"
    if text == turn.before and turn.changes:
        return "Nothing of that shows on the screen, so it stays as it is, to the letter"
    if text == turn.before:
        return "That has no effect here, so the screen stays as it is, to the letter"
    after = read_screen(turn.domain, text)
    if not after and text.startswith(_CODE):
        code = text.removeprefix(_CODE).partition("\n```")[0].split("\n")
        return f"The tool tells the code that ran, {turn.show(code[-1], 100)}, and does not show the page"
    if not after:
        return f"The answer is no screen but {turn.show(text)}"
    come, gone = _difference(before, after), _difference(after, before)
    new = [turn.show(label) for label in come]
    old = [turn.cite(label) for label in gone]
    opened = identity(turn, before, after)
    if opened or len(come) + len(gone) > (len(before) + len(after)) / 3:
        where = f": {opened}" if opened else ""
        shown = several(new, 4) or "other elements"
        return f"This leads to another screen{where}. On it are {shown}; what belongs to the old one alone is gone"
    parts = [f"new is {several(new)}" if any(new) else "", f"gone is {several(old)}" if any(old) else ""]
    parts += _altered(turn, before, after)
    differences = ", ".join(filter(None, parts)) or "a few elements look or lie otherwise"
    return f"The screen changes in place: {differences}. All other elements stay as they stand"


def _difference(before: list[ScreenNode], after: list[ScreenNode]) -> list[str]:
    """Return the names of elements that only the second screen has."""
    left = Counter((node.role, node.label) for node in after) - Counter((node.role, node.label) for node in before)
    return list(dict.fromkeys(node.label for node in after if node.label and left[node.role, node.label]))


def _altered(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> list[str]:
    """Describe what elements of the same name hold that they did not hold before, and which states were set or taken
    away.
    """
    old, new = _single(before), _single(after)
    clauses: list[str] = []
    for key, node in new.items():
        was, name = old.get(key), turn.cite(node.label)
        if was is None or not name or len(clauses) == 3:
            continue
        states, had = _states(node), _states(was)
        clauses += [f"{name} is {state}" for state in states if state not in had]
        clauses += [f"{name} is no longer {state}" for state in had if state not in states]
        if node.text != was.text and (text := turn.show(node.text)):
            clauses.append(f"{name} holds {text}")
    return clauses[:3]


def _single(nodes: list[ScreenNode]) -> dict[tuple[str, str], ScreenNode]:
    """Return the elements whose role and name no other element has."""
    counts = Counter((node.role, node.label) for node in nodes)
    return {key: node for node in nodes if counts[key := (node.role, node.label)] == 1}


_STATES = ("checked", "selected", "focused", "disabled", "expanded", "active")


def _states(node: ScreenNode) -> list[str]:
    """Return the states of an element; the desktop writes them in its description."""
    return [state for state in _STATES if state in node.flags or state in node.description.split(", ")]


def _address(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> str:
    """Describe the page that is open, if that is another one than before."""
    old, new = _found(_URL, turn.before), _found(_URL, turn.observation)
    if old == new or not new:
        return ""
    title = turn.show(_found(_TITLE, turn.observation), 80)
    return f"its address is {turn.show(new, 100)}" + (f" and its title {title}" if title else "")


def _front(*roles: str) -> Identity:
    """Return what describes the first element of some roles, if that is another one than before."""

    def describe(turn: Situation, before: list[ScreenNode], after: list[ScreenNode]) -> str:
        old_names, new_names = ([node.label for node in nodes if node.role in roles][:1] for nodes in (before, after))
        if old_names == new_names or not new_names:
            return ""
        name = turn.show(plain(new_names[0]), 80)
        return f"in front is {name}" if name else ""

    return describe


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else plain(value)
