"""The locators that Playwright's code uses for the elements of a snapshot."""

from __future__ import annotations

import re

from agentworld_gym.domains.web.engine.document.node import DomNode
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.strings import single_quoted, tidy

MAX_TEXT, MAX_SHORT = 80, 30
_LEADING = re.compile(r"^([\d.,]+)[^.,\w]")
_TRAILING = re.compile(r"[^.,\w]([\d.,]+)$")
_LAST_WORD = re.compile(r"(.*)\b(.+?)$", re.A)


def locator(page: Page, node: DomNode, ref: str) -> str:
    """Return the locator of an element that has a reference.

    It names the element by its label, else by role and name, else by text, else by role or tag. It uses the shortest
    name that means this element alone; several elements of one name are numbered.
    """
    role, name, _ = page.refs.get(node.index, ("generic", "", ref))
    others = sorted(
        (index, other[1]) for index, other in page.refs.items() if other[0] == role and _listed(page, index)
    )
    if node.tag == "select" and name:
        return f"getByLabel({single_quoted(name)})"
    if name and role not in ("generic", "text"):
        return _named(role, name, others, node.index)
    text = tidy(node.text())
    if role == "generic" and 0 < len(text) <= MAX_TEXT:
        return f"getByText({single_quoted(text)})"
    if role != "generic":
        return _nth(f"getByRole({single_quoted(role)})", [index for index, _ in others], node.index)
    if "id" in node.attrs:
        return f"locator({single_quoted('#' + node.attrs['id'])})"
    same = [other.index for other in page.nodes if other.tag == node.tag]
    return _nth(f"locator({single_quoted(node.tag)})", same, node.index)


def _named(role: str, name: str, others: list[tuple[int, str]], index: int) -> str:
    for short in _shortened(name):
        if sum(short.lower() in other.lower() for _, other in others) <= 1:
            return f"getByRole({single_quoted(role)}, {{ name: {single_quoted(short)} }})"
    same = [place for place, other in others if other == name]
    similar = [place for place, other in others if name.lower() in other.lower()]
    exact = ", exact: true" if len(same) < len(similar) else ""
    return _nth(f"getByRole({single_quoted(role)}, {{ name: {single_quoted(name)}{exact} }})", same, index)


def _shortened(name: str) -> list[str]:
    """Return parts of a name that may do, best first: the name without a number at an end, and its first words."""
    candidates: list[tuple[int, str]] = []
    for pattern, keep in ((_LEADING, "tail"), (_TRAILING, "head")):
        if match := pattern.search(name):
            part = name[match.end(1) :].lstrip() if keep == "tail" else name[: match.start(1)].rstrip()
            part = _words(part, MAX_TEXT)
            candidates.append((-2 if len(part) <= MAX_SHORT else -1, part))
    if len(name) > MAX_SHORT:
        candidates += [(0, _words(name, MAX_TEXT)), (-1, _words(name, MAX_SHORT))]
    else:
        candidates.append((0, name))
    return [part for _, part in sorted(candidates, key=lambda item: item[0]) if part]


def _words(text: str, longest: int) -> str:
    """Return the start of a text up to the end of a word."""
    if len(text) <= longest:
        return text
    match = _LAST_WORD.match(text[:longest])
    return match[1].rstrip() if match else ""


def _listed(page: Page, index: int) -> bool:
    return page.listed.get(page.refs[index][2]) == index


def _nth(call: str, matches: list[int], index: int) -> str:
    if len(matches) < 2 or index not in matches:
        return call
    place = matches.index(index)
    return call + (".first()" if place == 0 else f".nth({place})")
